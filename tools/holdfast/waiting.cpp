#include "waiting.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <exception>
#include <stop_token>
#include <thread>

#include "describe.hpp"
#include "holdfast/mutex.hpp"
#include "holdfast/operate.hpp"
#include "message.hpp"

namespace holdfast::tool {
namespace {

using namespace std::chrono_literals;

constexpr auto silent_for = 1s;

acquisition acquire_as_asked(mutex& lock, const wait_options& wait, std::stop_token stop) {
    if (wait.no_wait) return lock.try_acquire();
    if (wait.at_most) return lock.try_acquire_for(*wait.at_most, std::move(stop));
    return acquisition(lock.acquire(std::move(stop)));
}

/// One acquire in a thread of its own, which makes a descriptor readable when it has ended.
class attempt {
  public:
    attempt(client& through, const std::string& key, const acquire_options& how,
            const wait_options& wait)
        : lock_(through, key, how),
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
            result_ = acquire_as_asked(lock_, wait, std::move(stop));
        } catch (...) {
            failure_ = std::current_exception();
        }
    }

    mutex lock_;
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

event next_event(const attempt& running, signal_queue& signals, int timeout_ms) {
    std::array<pollfd, 2> watched{
        {{running.readable(), POLLIN, 0}, {signals.readable(), POLLIN, 0}}};
    ::poll(watched.data(), watched.size(), timeout_ms);
    if (watched[0].revents != 0) return {.ended = true};
    while (const auto signal = signals.next()) {
        if (is_ending(*signal)) return {.signal = *signal};
        if (*signal == SIGTSTP) ::raise(SIGSTOP);
    }
    return {};
}

// An answer to "who?" is a courtesy: when the servers do not give it, the attempt itself will say
// what is wrong with them.
void say_who_holds(client& through, const std::string& key, std::chrono::nanoseconds watched) {
    try {
        const lock_status status = inspect(through, key);
        if (!status.held_by) return;
        say("waiting for '" + printable(key) + "': held by " + holder_in_words(*status.held_by) +
            " for at least " + in_words(watched) + "; " + lease_in_words(*status.held_by));
    } catch (const std::system_error&) {
        return;
    }
}

}  // namespace

void wait_options::declare(command_line& line) {
    line.flag("-n,--nonblock", no_wait, "Do not wait: give up if somebody else holds the lock");
    line.duration("-w,--wait", at_most, "Wait at most so long. Without -n and -w: for ever");
    line.excludes("--nonblock", "--wait");
}

wait_result wait_for_lock(client& through, const std::string& key, const acquire_options& how,
                          const wait_options& wait, signal_queue& signals, bool talk) {
    const auto start = clock::now();
    attempt running(through, key, how, wait);
    wait_result result;
    int timeout = talk ? static_cast<int>(std::chrono::milliseconds(silent_for).count()) : -1;
    for (;;) {
        const event now = next_event(running, signals, timeout);
        if (now.ended) break;
        if (now.signal != 0) {
            result.interrupted_by = now.signal;
            running.cancel();
            break;
        }
        const auto watched = clock::now() - start;
        if (talk && watched >= silent_for) {
            say_who_holds(through, key, watched);
            talk = false;
            timeout = -1;
        }
    }
    try {
        acquisition taken = running.take();
        result.held_by = taken.held_by();
        if (taken && result.interrupted_by != 0) taken->release();
        if (taken && result.interrupted_by == 0) result.held = std::move(*taken);
    } catch (const std::system_error&) {
        if (result.interrupted_by == 0) throw;
    }
    result.waited = clock::now() - start;
    return result;
}

}  // namespace holdfast::tool
