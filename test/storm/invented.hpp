#pragma once

#include <map>
#include <string>
#include <vector>

#include "storm/checker.hpp"

namespace holdfast::storm {

using namespace std::chrono_literals;
using rules = std::vector<rule>;

/// Invents histories. Each lease is held for a second, is valid for two, and begins when the one
/// before has been released; a test then plants what must not be.
class invented {
  public:
    event& note(const std::string& who, event noted) {
        auto& events = events_[who];
        events.push_back(std::move(noted));
        return events.back();
    }

    /// Acquires at `at`, asked for a millisecond before, with a deadline two seconds later.
    std::uint64_t acquire(const std::string& who, std::uint64_t token, instant at,
                          const std::string& key = "pears") {
        const std::uint64_t number = threads_per_worker * ++number_;
        note(who, {.at = at - 2ms, .what = happening::began, .hold = number, .subject = key});
        note(who, {.at = at,
                   .what = happening::acquired,
                   .hold = number,
                   .token = token,
                   .until = at + 2s,
                   .since = at - 1ms});
        return number;
    }

    /// The same, of a lease that another of its process had: asked for at `began`, granted when
    /// that one's attempt won, which was sent at `sent`.
    std::uint64_t inherit(const std::string& who, std::uint64_t token, instant began, instant sent,
                          instant at, const std::string& how = {}) {
        const std::uint64_t number = threads_per_worker * ++number_;
        wish(who, number, began, how);
        note(who, {.at = at,
                   .what = happening::acquired,
                   .hold = number,
                   .token = token,
                   .until = sent + 2001ms,
                   .since = sent});
        return number;
    }

    void show(const std::string& who, std::uint64_t number, instant at, const std::string& owner) {
        note(who, {.at = at, .what = happening::shown, .hold = number, .text = owner});
    }

    void release(const std::string& who, std::uint64_t number, instant at,
                 const std::string& outcome = "released") {
        note(who, {.at = at, .what = happening::releasing, .hold = number});
        note(who, {.at = at + 1ms, .what = happening::released, .hold = number, .text = outcome});
    }

    void write(const std::string& who, std::uint64_t number, instant at, const std::string& where,
               const std::string& base, const std::string& version) {
        note(who, {.at = at - 1ms,
                   .what = happening::intends,
                   .hold = number,
                   .subject = where,
                   .text = base + ' ' + version});
        note(who, {.at = at,
                   .what = happening::wrote,
                   .hold = number,
                   .subject = where,
                   .text = version});
    }

    void strike(fault_kind kind, instant begin, instant end) {
        const std::uint64_t number = ++number_;
        note("nemesis", {.at = begin,
                         .what = happening::struck,
                         .hold = number,
                         .subject = "servers:1",
                         .text = std::string(name_of(kind))});
        note("nemesis", {.at = end, .what = happening::mended, .hold = number});
    }

    void strike_worker(fault_kind kind, int number, instant begin, instant end) {
        const std::uint64_t strike = ++number_;
        note("nemesis", {.at = begin,
                         .what = happening::struck,
                         .hold = strike,
                         .subject = "workers:" + std::to_string(number),
                         .text = std::string(name_of(kind))});
        note("nemesis", {.at = end, .what = happening::mended, .hold = strike});
    }

    /// Workers 1 to 4 live from the beginning, each as the process of its number.
    void employ() {
        for (std::uint64_t n = 1; n <= 4; ++n) {
            note('w' + std::to_string(n), {.at = 1ms, .what = happening::started, .hold = n});
        }
    }
    void kill(int number, instant at) {
        strike_worker(fault_kind::kill_worker, number, at, at + 1ms);
        note("nemesis", {.at = at + 1ms,
                         .what = happening::ended,
                         .hold = static_cast<std::uint64_t>(number),
                         .subject = 'w' + std::to_string(number)});
    }

    void wish(const std::string& who, std::uint64_t number, instant at,
              const std::string& how = "patient", const std::string& key = "pears") {
        note(who,
             {.at = at, .what = happening::began, .hold = number, .subject = key, .text = how});
    }

    /// What each look found from `begin` to `end`: the owner, and who stands in line.
    void see(instant begin, instant end, const std::string& what) {
        note(
            "observer",
            {.at = end, .what = happening::seen, .subject = "pears", .since = begin, .text = what});
    }

    void phase(const std::string& kind, instant at) {
        note("nemesis", {.at = at, .what = happening::phase, .text = kind});
    }

    [[nodiscard]] account reconstructed() const {
        std::vector<history> all;
        for (const auto& [who, events] : events_) all.push_back({who, events});
        return reconstruct(all);
    }

    [[nodiscard]] verdict judged() const { return check(reconstructed()); }

    /// The rules that were broken, in the order of time.
    [[nodiscard]] rules broken() const {
        rules found;
        for (const violation& each : judged().violations) found.push_back(each.broken);
        return found;
    }

  private:
    std::map<std::string, std::vector<event>> events_;
    std::uint64_t number_ = 0;
};

}  // namespace holdfast::storm
