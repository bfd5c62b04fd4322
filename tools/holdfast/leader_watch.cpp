#include "leader_watch.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <exception>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include "describe.hpp"
#include "descriptor.hpp"
#include "exit_code.hpp"
#include "holdfast/client.hpp"
#include "holdfast/election.hpp"
#include "holdfast/error.hpp"
#include "interrupt.hpp"
#include "message.hpp"
#include "signal_queue.hpp"
#include "wording.hpp"

namespace holdfast::tool {
namespace {

/// Watches in a thread of its own, which makes a descriptor readable when it has ended.
class watcher {
  public:
    watcher(const holdfast::options& settings, const std::string& name, bool json)
        : through_(settings),
          observer_(through_, name),
          json_(json),
          ended_(checked(::eventfd(0, EFD_CLOEXEC), "eventfd")),
          thread_([this](const std::stop_token& stop) {
              run(stop);
              ::eventfd_write(ended_.get(), 1);
          }) {}

    [[nodiscard]] int readable() const { return ended_.get(); }

    /// Why it ended. REQUIRES: readable.
    void rethrow() {
        thread_.join();
        std::rethrow_exception(failure_);
    }

  private:
    void run(const std::stop_token& stop) noexcept {
        try {
            while (!stop.stop_requested()) tell_next(stop);
        } catch (...) {
            failure_ = std::current_exception();
        }
    }

    void tell_next(const std::stop_token& stop) {
        std::error_code error;
        const leader now = next(stop, error);
        if (error == errc::cancelled || error) return;
        away_ = false;
        reached_ = true;
        print(json_ ? leader_as_json(observer_.name(), now).line() : leader_in_words(now) + "\n");
    }

    leader next(const std::stop_token& stop, std::error_code& error) {
        try {
            return observer_.next(stop);
        } catch (const std::system_error& thrown) {
            error = thrown.code();
            const bool passes = error == errc::unreachable || error == errc::server_error;
            if (error != errc::cancelled && (!reached_ || !passes)) throw;
            if (passes && !std::exchange(away_, true)) {
                say("who leads '" + printable(observer_.name()) +
                    "' is not known for the moment: " + in_our_words(thrown));
            }
            return {};
        }
    }

    client through_;
    election_observer observer_;
    bool json_;
    bool reached_ = false;
    bool away_ = false;
    descriptor ended_;
    std::exception_ptr failure_;
    std::jthread thread_;
};

int wait_for_end(watcher& running, signal_queue& signals) {
    for (;;) {
        std::array<pollfd, 2> watched{
            {{running.readable(), POLLIN, 0}, {signals.readable(), POLLIN, 0}}};
        ::poll(watched.data(), watched.size(), -1);
        if (watched[0].revents != 0) running.rethrow();
        while (const auto signal = signals.next()) {
            if (is_ending(*signal)) return *signal;
            if (*signal == SIGTSTP) signals.suspend();
        }
    }
}

}  // namespace

int watch_leader(const holdfast::options& settings, const std::string& name, bool json) {
    int signal = 0;
    {
        signal_queue signals;
        watcher running(settings, name, json);
        signal = wait_for_end(running, signals);
    }
    if (signal == SIGINT) die_of_interrupt();
    return exit_code::signal_base + signal;
}

}  // namespace holdfast::tool
