#include "storm/worker.hpp"

#include <unistd.h>

#include <fstream>
#include <iostream>
#include <thread>

#include "holdfast/holdfast.hpp"
#include "storm/account.hpp"
#include "storm/metronome.hpp"
#include "storm/visitor.hpp"

namespace holdfast::storm {

options settings_for(const std::vector<std::string>& urls) {
    options settings;
    settings.urls = urls;
    settings.max_ttl = max_ttl;
    settings.restart_guard = true;
    settings.node_timeout = std::chrono::milliseconds(urls.size() == 1 ? 400 : 200);
    return settings;
}

namespace {

/// What the library says, for whoever looks for the cause of a violation.
class diary {
  public:
    explicit diary(const std::filesystem::path& file) : file_(file, std::ios::app) {}

    void operator()(const log_record& record) {
        if (record.level < log_level::info) return;
        file_ << now().count() << ' ' << record.event << ' ' << record.node << ' ' << record.key
              << ' ' << record.message << std::endl;
    }

  private:
    std::ofstream file_;
};

void await_end_of_input() {
    char nothing = 0;
    while (::read(STDIN_FILENO, &nothing, 1) > 0) {
    }
}

}  // namespace

int run_worker(const worker_orders& orders) {
    recorder notes(orders.directory / (orders.name + ".history"));
    const auto log = std::make_shared<diary>(orders.directory / (orders.name + ".log"));
    options settings = settings_for(orders.urls);
    settings.label = orders.name;
    settings.client_name = orders.name;
    settings.log = [log, &notes](const log_record& record) {
        if (record.event == "connected") notes.note({.what = happening::connected});
        if (record.event == "disconnected") notes.note({.what = happening::disconnected});
        (*log)(record);
    };
    notes.note({.what = happening::started, .hold = static_cast<std::uint64_t>(::getpid())});
    client through(settings);

    const metronome beat(notes);
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < threads_per_worker; ++thread) {
        threads.emplace_back([&, thread](const std::stop_token& stop) {
            visitor(through, notes, orders, thread).roam(stop);
        });
    }
    await_end_of_input();
    return 0;
}

}  // namespace holdfast::storm
