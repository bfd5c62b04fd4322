#include <charconv>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "holdfast/holdfast.hpp"

/// Another process that holds locks, for the tests: one command per line in, one answer out.
///
///   acquire KEY TTL_MS   waits for the lock            held TOKEN
///   try KEY TTL_MS       does not wait                 held TOKEN, denied OWNER
///   read KEY TTL_MS      waits to read it              held TOKEN
///   permit KEY TTL_MS N  waits for one of N permits    held TOKEN SLOT
///   several A,B TTL_MS   waits for all of them         held TOKEN
///   cycle TIMES A,B C ...   takes and releases each    cycled
///                        list so often, in turn
///   lead NAME TTL_MS VALUE   waits to be elected       held TERM
///   next NAME            waits until who leads has     nobody, or TERM VALUE
///                        changed since the last time
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
        if (command == "permit") return permit(words);
        if (command == "several") return several(words);
        if (command == "cycle") return cycle(words);
        if (command == "lead") return lead(words);
        if (command == "next") return next(words);
        if (command == "release") return release();
        if (command == "state") return state();
        if (command == "watch") return watch(words);
        return "error unknown command " + command;
    }

  private:
    std::string take(bool waits, std::istream& words) {
        std::string key;
        const auto how = how_to_take(key, words);
        holdfast::mutex mutex(client_, key, how);
        if (waits) return keep(mutex.acquire());
        if (auto won = mutex.try_acquire()) {
            return keep(std::move(*won));
        } else {
            return "denied " + won.held_by().value_or(holdfast::holder{}).owner;
        }
    }

    std::string read(std::istream& words) {
        std::string key;
        const auto how = how_to_take(key, words);
        return keep(holdfast::shared_mutex(client_, key, how).acquire_shared());
    }

    std::string permit(std::istream& words) {
        std::string key;
        const auto how = how_to_take(key, words);
        std::uint32_t limit = 0;
        words >> limit;
        const auto held = keep(holdfast::semaphore(client_, key, limit, how).acquire());
        return held + " " + std::to_string(held_->slot());
    }

    static holdfast::acquire_options how_to_take(std::string& key, std::istream& words) {
        int ttl = 0;
        words >> key >> ttl;
        holdfast::acquire_options how{.ttl = milliseconds(ttl)};
        how.label = "lock-process";
        return how;
    }

    std::string keep(lease held) {
        held_.emplace(std::move(held));
        stop_ = held_->stop_token();
        return "held " + std::to_string(held_->token());
    }

    static std::vector<std::string> list_in(const std::string& text) {
        std::istringstream parts(text);
        std::vector<std::string> keys;
        for (std::string key; std::getline(parts, key, ',');) keys.push_back(key);
        return keys;
    }

    std::string several(std::istream& words) {
        std::string list;
        int ttl = 0;
        words >> list >> ttl;
        const holdfast::acquire_options how{.ttl = milliseconds(ttl)};
        held_.emplace(holdfast::multi_mutex(client_, list_in(list), how).acquire());
        stop_ = held_->stop_token();
        return "held " + std::to_string(held_->token());
    }

    std::string lead(std::istream& words) {
        std::string name;
        std::string value;
        int ttl = 0;
        words >> name >> ttl >> value;
        holdfast::acquire_options how{.ttl = milliseconds(ttl)};
        how.label = "lock-process";
        held_.emplace(holdfast::election(client_, name, value, how).campaign());
        stop_ = held_->stop_token();
        return "held " + std::to_string(held_->token());
    }

    std::string cycle(std::istream& words) {
        int times = 0;
        words >> times;
        std::vector<std::unique_ptr<holdfast::multi_mutex>> locks;
        for (std::string list; words >> list;) {
            locks.push_back(std::make_unique<holdfast::multi_mutex>(client_, list_in(list)));
        }
        for (int n = 0; n < times; ++n) {
            for (const auto& each : locks) {
                const auto held = each->acquire();
                if (!held.verify()) return "error lost " + held.key();
            }
        }
        return "cycled";
    }

    std::string next(std::istream& words) {
        std::string name;
        words >> name;
        if (!observer_) observer_.emplace(client_, name);
        const auto now = observer_->next();
        return now ? std::to_string(now.term) + " " + now.value : "nobody";
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
    std::optional<holdfast::election_observer> observer_;
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
