#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <exception>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "command_line.hpp"
#include "commands.hpp"
#include "exit_code.hpp"
#include "failure.hpp"
#include "lab/matrix.hpp"
#include "lab/worker.hpp"
#include "lab_report.hpp"
#include "message.hpp"
#include "program.hpp"
#include "signal_queue.hpp"

namespace holdfast::tool {
namespace {

/// Cells mostly wait, so more than there are processors.
constexpr std::size_t at_a_time = 6;
constexpr int look_around_ms = 50;

/// What has been played: shown in the order of the table, as soon as everything before is there.
class showing {
  public:
    showing(std::vector<lab::cell> cells, bool story, bool json)
        : cells_(std::move(cells)), results_(cells_.size()), story_(story), json_(json) {}

    void take(lab::result played) {
        for (std::size_t n = 0; n < cells_.size(); ++n) {
            if (cells_[n].row == played.where.row && cells_[n].column == played.where.column) {
                results_[n] = std::move(played);
                break;
            }
        }
        ++done_;
        clear_progress();
        while (shown_ < results_.size() && results_[shown_]) show(*results_[shown_++]);
        if (shown_ < results_.size()) show_progress();
    }

    /// The table, if there is to be one.
    void finish() const {
        clear_progress();
        if (story_ || json_) return;
        std::vector<lab::result> all;
        for (const auto& each : results_) all.push_back(*each);
        print(table_of(all, coloured_));
    }

    void clear_progress() const {
        if (terminal_) write_progress("\r\x1b[K");
    }

  private:
    void show(const lab::result& played) const {
        if (json_) print(json_of(played, story_));
        if (!json_ && story_) print(story_of(played, coloured_));
    }
    void show_progress() const {
        if (!terminal_) return;
        write_progress("holdfast: " + std::to_string(done_) + " of " +
                       std::to_string(cells_.size()) + " played");
    }
    static void write_progress(const std::string& text) {
        [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, text.data(), text.size());
    }

    std::vector<lab::cell> cells_;
    std::vector<std::optional<lab::result>> results_;
    bool story_;
    bool json_;
    bool terminal_ = ::isatty(STDERR_FILENO) == 1;
    bool coloured_ = colours_on(STDOUT_FILENO);
    std::size_t done_ = 0;
    std::size_t shown_ = 0;
};

/// Plays in threads of its own, while this one watches for signals. Returns the one that ended it.
int play_until_signal(const std::vector<lab::cell>& cells, showing& shown) {
    signal_queue signals;
    std::stop_source stop;
    std::atomic<bool> done = false;
    std::exception_ptr error;
    std::thread playing([&] {
        try {
            lab::play(cells, at_a_time, stop.get_token(),
                      [&](lab::result played) { shown.take(std::move(played)); });
        } catch (...) {
            error = std::current_exception();
        }
        done = true;
    });
    int ended_by = 0;
    while (!done) {
        pollfd readable{signals.readable(), POLLIN, 0};
        ::poll(&readable, 1, look_around_ms);
        while (const auto signal = signals.next()) {
            if (*signal == SIGTSTP) ::raise(SIGSTOP);
            if (!is_ending(*signal)) continue;
            ended_by = *signal;
            stop.request_stop();
        }
    }
    playing.join();
    if (error && ended_by == 0) std::rethrow_exception(error);
    return ended_by;
}

int play_and_show(const std::vector<lab::cell>& cells, showing shown) {
    int ended_by = 0;
    try {
        ended_by = play_until_signal(cells, shown);
    } catch (const std::runtime_error& error) {
        shown.clear_progress();
        throw failure(exit_code::unavailable, std::string("lab: ") + error.what());
    }
    if (ended_by != 0) {
        shown.clear_progress();
        return exit_code::signal_base + ended_by;
    }
    shown.finish();
    return exit_code::done;
}

int play(arguments given) {
    // How the lab starts its clients, which are processes: for nobody else.
    if (!given.empty() && given.front() == "--client") {
        return lab::serve_as_client(given.subspan(1));
    }
    std::string subject;
    bool json = false;
    command_line line("lab", "[--json] [SCHEME|HAZARD|SCHEME-HAZARD]",
                      "Watch the classic ways to get distributed locking wrong: every scheme from "
                      "EXISTS and SET to a quorum, in every hazard, on real servers that are "
                      "started for it. Without a name: all of them, as a table. With one: step by "
                      "step, with the commands that went over the wire.");
    line.positional("SCHEME|HAZARD|SCHEME-HAZARD", subject, false);
    line.flag("--json", json, "Print one JSON object per cell; of named ones, with every step");
    line.note("Schemes: " + names_in_words(lab::rows()) + ".");
    line.note("Hazards: " + names_in_words(lab::columns()) + ".");
    line.note("Needs redis-server; exit code 69 without. A scheme that breaks is no failure: 0.");
    line.example("holdfast lab", "The whole table, within a minute");
    line.example("holdfast lab redlock-restart", "How a restart gives one lock to two holders");
    line.parse(given);
    const std::vector<lab::cell> cells = lab::cells_named(subject);
    if (cells.empty()) {
        throw failure(exit_code::usage, "lab: there is no '" + printable(subject) +
                                            "'; 'holdfast lab --help' lists the names");
    }
    return play_and_show(cells, showing(cells, !subject.empty(), json));
}

}  // namespace
}  // namespace holdfast::tool

int main(int count, char** values) {
    return holdfast::tool::run_program(count, values, holdfast::tool::play);
}
