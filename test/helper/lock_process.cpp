#include <charconv>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>

#include "holdfast/holdfast.hpp"

/// Another process that holds locks, for the tests: one command per line in, one answer out.
///
///   acquire KEY TTL_MS   waits for the lock            held TOKEN
///   try KEY TTL_MS       does not wait                 held TOKEN, denied OWNER
///   read KEY TTL_MS      waits to read it              held TOKEN
///   release                                            released, already_lost, unknown
///   state                                              held|lost going|stopped
///   watch PAUSE_MS       looks at the lease until the  watching; then held|lost
///                        process was stopped so long
///
/// Failures answer `error TEXT`. The end of the input ends the process.
namespace {

using holdfast::lease;
using std::chrono::milliseconds;

class session {
  public:
    explicit session(std::string_view url) : client_(url) {}

    std::string answer(const std::string& line) {
        std::istringstream words(line);
        std::string command;
        words >> command;
        if (command == "acquire" || command == "try") return take(command == "acquire", words);
        if (command == "read") return read(words);
        if (command == "release") return release();
        if (command == "state") return state();
        if (command == "watch") return watch(words);
        return "error unknown command " + command;
    }

  private:
    std::string take(bool waits, std::istream& words) {
        std::string key;
        int ttl = 0;
        words >> key >> ttl;
        holdfast::acquire_options how{.ttl = milliseconds(ttl)};
        how.label = "lock-process";
        holdfast::mutex mutex(client_, key, how);
        if (waits) {
            held_.emplace(mutex.acquire());
        } else if (auto won = mutex.try_acquire()) {
            held_.emplace(std::move(*won));
        } else {
            return "denied " + won.held_by().value_or(holdfast::holder{}).owner;
        }
        stop_ = held_->stop_token();
        return "held " + std::to_string(held_->token());
    }

    std::string read(std::istream& words) {
        std::string key;
        int ttl = 0;
        words >> key >> ttl;
        holdfast::acquire_options how{.ttl = milliseconds(ttl)};
        how.label = "lock-process";
        held_.emplace(holdfast::shared_mutex(client_, key, how).acquire_shared());
        stop_ = held_->stop_token();
        return "held " + std::to_string(held_->token());
    }

    std::string release() {
        const auto result = held_->release();
        held_.reset();
        if (result == holdfast::release_result::released) return "released";
        return result == holdfast::release_result::unknown ? "unknown" : "already_lost";
    }

    [[nodiscard]] std::string state() const {
        return std::string(held_->lost() ? "lost" : "held") +
               (stop_.stop_requested() ? " stopped" : " going");
    }

    // The clock is read before the lease is asked: whatever the lease says after a long pause is
    // the first thing that this thread learns of it.
    [[nodiscard]] std::string watch(std::istream& words) const {
        int pause = 0;
        words >> pause;
        auto before = holdfast::clock::now();
        std::cout << "watching" << std::endl;  // from here on it may be stopped at any moment
        for (;;) {
            const auto now = holdfast::clock::now();
            if (now - before > milliseconds(pause)) return held_->lost() ? "lost" : "held";
            before = now;
        }
    }

    holdfast::client client_;
    std::optional<lease> held_;
    std::stop_token stop_;
};

std::string answer_or_error(session& here, const std::string& line) {
    try {
        return here.answer(line);
    } catch (const std::exception& thrown) {
        return std::string("error ") + thrown.what();
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) return 2;
    session here(arguments[1]);
    for (std::string line; std::getline(std::cin, line);) {
        std::cout << answer_or_error(here, line) << std::endl;
    }
    return 0;
}
