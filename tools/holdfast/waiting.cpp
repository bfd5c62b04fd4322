#include "waiting.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <stop_token>
#include <thread>

#include "describe.hpp"
#include "exit_code.hpp"
#include "failure.hpp"
#include "holdfast/election.hpp"
#include "holdfast/error.hpp"
#include "holdfast/multi_mutex.hpp"
#include "holdfast/operate.hpp"
#include "holdfast/semaphore.hpp"
#include "holdfast/shared_mutex.hpp"
#include "message.hpp"

namespace holdfast::tool {
namespace {

using namespace std::chrono_literals;

constexpr auto silent_for = 1s;
constexpr auto look_again_after = 250ms;

/// A lock of the kind that is asked for.
class any_lock {
  public:
    any_lock(client& through, const lock_request& what) {
        if (what.kind == lock_kind::shared) {
            shared_.emplace(through, what.keys.front(), what.how);
        } else if (what.kind == lock_kind::permit) {
            semaphore_.emplace(through, what.keys.front(), what.permits, what.how);
        } else if (what.kind == lock_kind::election) {
            election_.emplace(through, what.keys.front(), what.value, what.how);
        } else {
            exclusive_.emplace(through, what.keys, what.how);
        }
    }

    detail::lockable& get() {
        if (shared_) return *shared_;
        if (semaphore_) return *semaphore_;
        if (election_) return *election_;
        return *exclusive_;
    }

  private:
    std::optional<multi_mutex> exclusive_;
    std::optional<shared_mutex::reading> shared_;
    std::optional<semaphore> semaphore_;
    std::optional<election> election_;
};

acquisition acquire_as_asked(detail::lockable& lock, const wait_options& wait,
                             std::stop_token stop) {
    if (wait.no_wait) return lock.try_acquire();
    if (wait.at_most) return lock.try_acquire_for(*wait.at_most, std::move(stop));
    return acquisition(lock.acquire(std::move(stop)));
}

/// One acquire in a thread of its own, which makes a descriptor readable when it has ended.
class attempt {
  public:
    attempt(client& through, const lock_request& what, const wait_options& wait)
        : lock_(through, what),
          ended_(checked(::eventfd(0, EFD_CLOEXEC), "eventfd")),
          thread_([this, wait](std::stop_token stop) {
              run(wait, std::move(stop));
              ::eventfd_write(ended_.get(), 1);
          }) {}

    [[nodiscard]] int readable() const { return ended_.get(); }

    void cancel() { thread_.request_stop(); }

    /// REQUIRES: readable, or cancelled.
    acquisition take() {
        thread_.join();
        if (failure_) std::rethrow_exception(failure_);
        return std::move(result_);
    }

  private:
    void run(const wait_options& wait, std::stop_token stop) noexcept {
        try {
            result_ = acquire_as_asked(lock_.get(), wait, std::move(stop));
        } catch (...) {
            failure_ = std::current_exception();
        }
    }

    any_lock lock_;
    descriptor ended_;
    acquisition result_;
    std::exception_ptr failure_;
    std::jthread thread_;
};

/// What happens first: the attempt ends, a signal arrives, or the time is over.
struct event {
    bool ended = false;
    int signal = 0;
};

int milliseconds_until(clock::time_point when) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(when - clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

event next_event(int ended, signal_queue& signals, clock::time_point until) {
    std::array<pollfd, 2> watched{{{ended, POLLIN, 0}, {signals.readable(), POLLIN, 0}}};
    ::poll(watched.data(), watched.size(), milliseconds_until(until));
    if (watched[0].revents != 0) return {.ended = true};
    while (const auto signal = signals.next()) {
        if (is_ending(*signal)) return {.signal = *signal};
        if (*signal == SIGTSTP) signals.suspend();
    }
    return {};
}

/// `; 3rd in line`, where that can be seen.
std::string place_in_words(const lock_status& status) {
    const auto place = own_place(status);
    return place ? "; " + ordinal(*place) + " in line" : "";
}

/// `held by anna@web1, process 4711 for at least 1s; its lease runs another 12s; 3rd in line`
std::string wait_in_words(const lock_status& status, std::chrono::nanoseconds watched) {
    if (status.limit) {
        return permits_in_words(status) + " permits are taken" + place_in_words(status);
    }
    if (!status.held_by) return "nobody holds it at the moment" + place_in_words(status);
    return "held by " + holder_in_words(*status.held_by) + " for at least " + in_words(watched) +
           "; " + lease_in_words(status) + place_in_words(status);
}

/// Whether a key is kept for this process until it has the others, too.
bool is_kept_for_us(const lock_status& status) {
    const auto& by = status.held_by;
    return by && by->several && by->pid == static_cast<std::uint64_t>(::getpid());
}

/// The first of them that somebody else has, or stands in line for; the last, if nobody does.
lock_status look_at(client& through, const std::vector<std::string>& keys) {
    lock_status status;
    for (const auto& key : keys) {
        status = inspect(through, key);
        if (status.held_by && !is_kept_for_us(status)) break;
    }
    return status;
}

// An answer to "who?" is a courtesy: when the servers do not give it, the attempt itself will say
// what is wrong with them.
void say_who_holds(client& through, const std::vector<std::string>& keys,
                   std::chrono::nanoseconds watched, bool talks) {
    const char* const variable = std::getenv("HOLDFAST_OWNER");
    const std::string_view outer = variable == nullptr ? "" : variable;
    if (!talks && outer.empty()) return;
    try {
        const lock_status status = look_at(through, keys);
        if (!status.held_by && !own_place(status)) return;
        const std::string waiting = "waiting for '" + printable(status.key) + "'";
        if (!outer.empty() && status.held_by && status.held_by->owner == outer) {
            say(waiting +
                ", which the 'holdfast run' around this one holds until its command has ended: if "
                "that waits for this one, neither ends");
            return;
        }
        if (!talks) return;
        say(waiting + ": " + wait_in_words(status, watched));
    } catch (const std::system_error&) {
        return;
    }
}

/// Nobody holds the lock, so nobody would let go of it: true if that was said.
bool say_quarantine(client& through, const std::vector<std::string>& keys) {
    const auto left = quarantine(through);
    if (left) say("waiting for " + names_in_words(keys) + ": " + quarantine_in_words(*left));
    return left.has_value();
}

/// One wait, of several attempts where the key is a lock of a kind that nobody tells us of.
class patient_attempt {
  public:
    patient_attempt(client& through, const lock_request& what, const wait_options& wait,
                    signal_queue& signals, bool talk)
        : through_(through),
          what_(what),
          keys_(what.keys),
          wait_(wait),
          signals_(signals),
          start_(clock::now()),
          talk_at_(start_ + silent_for),
          talks_(talk) {}

    wait_result run() {
        for (;;) {
            wait_result result;
            try {
                result = attempt_once();
            } catch (const std::system_error& error) {
                if (error.code() != errc::wrong_type) throw;
                for (const auto& key : keys_) refuse_another_kind(inspect(through_, key));
                result.held_by = look_at(through_, keys_).held_by;
                // It is gone by now; or it was not the key, but its counter.
                if (!result.held_by && std::exchange(unexplained_, true)) throw;
                if (!result.held_by || !wait_for_another_kind(result)) continue;
            }
            result.waited = clock::now() - start_;
            return result;
        }
    }

  private:
    wait_result attempt_once() {
        attempt running(through_, what_, what_is_left());
        wait_result result;
        for (;;) {
            const event now = next_event(running.readable(), signals_, talk_at_);
            if (now.ended) break;
            if (now.signal != 0) {
                result.interrupted_by = now.signal;
                running.cancel();
                break;
            }
            talk();
        }
        try {
            acquisition taken = running.take();
            result.held_by = taken.held_by();
            if (taken && result.interrupted_by != 0) taken->release();
            if (taken && result.interrupted_by == 0) result.held = std::move(*taken);
        } catch (const std::system_error&) {
            if (result.interrupted_by == 0) throw;
        }
        return result;
    }

    void refuse_another_kind(const lock_status& found) const {
        const auto refuse = [&](const std::string& why) {
            throw failure(exit_code::protocol, "'" + printable(found.key) + "' is " + why);
        };
        const bool wants_permit = what_.kind == lock_kind::permit;
        if (found.latch) refuse("a latch, no lock");
        if (found.limit && !wants_permit) {
            const std::string limit = std::to_string(*found.limit);
            refuse("a semaphore of " + limit + ": 'run --permits " + limit +
                   "' takes one of its permits");
        }
        if (found.held_by && !found.limit && wants_permit) {
            refuse("no semaphore, but held by " + holder_in_words(*found.held_by));
        }
    }

    /// Redisson's lock is a hash, which no attempt can take for a lock: looks at it now and again.
    /// False: another attempt is due.
    bool wait_for_another_kind(wait_result& result) {
        const auto until = clock::now() + look_again_after;
        unexplained_ = false;
        if (wait_.no_wait || is_over()) return true;
        while (clock::now() < until && !is_over()) {
            const event now = next_event(-1, signals_, std::min({until, talk_at_, over_at()}));
            result.interrupted_by = now.signal;
            if (now.signal != 0) return true;
            talk();
        }
        return false;
    }

    void talk() {
        if (clock::now() < talk_at_) return;
        talk_at_ = clock::time_point::max();
        if (say_quarantine(through_, keys_)) return;
        say_who_holds(through_, keys_, clock::now() - start_, talks_);
    }

    [[nodiscard]] clock::time_point over_at() const {
        constexpr clock::duration forever = std::chrono::hours(24 * 365 * 100);
        return wait_.at_most ? start_ + std::min<clock::duration>(*wait_.at_most, forever)
                             : clock::time_point::max();
    }
    [[nodiscard]] bool is_over() const { return clock::now() >= over_at(); }

    [[nodiscard]] wait_options what_is_left() const {
        wait_options left = wait_;
        if (left.at_most) {
            const auto rest =
                std::chrono::ceil<std::chrono::milliseconds>(over_at() - clock::now());
            left.at_most = std::max(rest, 0ms);
        }
        return left;
    }

    client& through_;
    const lock_request& what_;
    const std::vector<std::string>& keys_;
    const wait_options& wait_;
    signal_queue& signals_;
    clock::time_point start_;
    clock::time_point talk_at_;  // when to say what it waits for
    bool talks_;                 // also who holds it
    bool unexplained_ = false;   // something is of another kind, and it is not the key
};

}  // namespace

void wait_options::declare(command_line& line) {
    line.flag("-n,--nonblock", no_wait, "Do not wait: give up if somebody else holds the lock");
    line.duration("-w,--wait", at_most, "Wait at most so long. Without -n and -w: for ever");
    line.excludes("--nonblock", "--wait");
}

// That of the attempt stands where the connection that told of it has broken since.
void refuse_quarantine(client& through, const std::vector<std::string>& keys,
                       const wait_result& waited) {
    auto left = quarantine(through);
    if (!left && waited.held_by && waited.held_by->quarantine) left = waited.held_by->remaining;
    if (!left) return;
    throw failure(exit_code::unavailable,
                  names_in_words(keys) + " cannot be had: " + quarantine_in_words(*left));
}

void say_who_has_it(const std::vector<std::string>& keys, const wait_result& waited) {
    std::string message = (keys.size() > 1 ? "one of " : "") + names_in_words(keys) + " is held";
    if (waited.held_by) {
        message +=
            " by " + holder_in_words(*waited.held_by) + "; " + lease_in_words(*waited.held_by);
    }
    say(message);
}

wait_result wait_for_lock(client& through, const lock_request& what, const wait_options& wait,
                          signal_queue& signals, bool talk) {
    return patient_attempt(through, what, wait, signals, talk).run();
}

}  // namespace holdfast::tool
