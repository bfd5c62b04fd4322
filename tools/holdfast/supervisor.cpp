#include "supervisor.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stop_token>

#include "message.hpp"

namespace holdfast::tool {
namespace {

using namespace std::chrono_literals;

// There is no event for "the last process of a group has ended" unless all are our children.
constexpr auto look_at_group_every = 10ms;
// A killed process that is still there sleeps in the kernel, and runs no more code of its own.
constexpr auto killed_processes_leave_within = 500ms;

itimerspec at(clock::time_point when) {
    const auto since = std::max<clock::duration>(when.time_since_epoch(), 1ns);
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
    return {.it_interval = {}, .it_value = {seconds.count(), (since - seconds).count()}};
}

}  // namespace

supervisor::supervisor(const lease& held, pid_t command, signal_queue& signals,
                       stop_schedule schedule)
    : lease_(held),
      group_(command),
      signals_(signals),
      schedule_(schedule),
      loss_(held.stop_token()),
      loss_event_(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
      timer_(checked(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd")) {}

int supervisor::watch() {
    const std::stop_callback on_loss(loss_, [this] { ::eventfd_write(loss_event_.get(), 1); });
    for (;;) {
        collect();
        if (!status_) pass_on_signals();
        if (status_ && schedule_.current() == stop_schedule::state::running) break;
        const auto decision = schedule_.due(
            {lease_.valid_until(), loss_.stop_requested(), lease_.lost()}, clock::now());
        act(decision.what);
        if (finished()) break;
        sleep_until(decision.wake_at);
    }
    terminal_.take_back();
    return *status_;
}

bool supervisor::finished() {
    if (!status_) return false;
    return group_is_empty() || clock::now() >= give_up_at_;
}

void supervisor::act(stop_schedule::action what) {
    if (what == stop_schedule::action::none) return;
    // Orphans of the group become our children from here on, so that we see them end.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (what == stop_schedule::action::terminate) {
        signal_group(SIGTERM);
        signal_group(SIGCONT);
    } else {
        signal_group(SIGKILL);
        give_up_at_ = clock::now() + killed_processes_leave_within;
    }
}

// Not after the command has ended: what comes then is for whoever comes after us. Raised again it
// waits for them, because it is blocked.
void supervisor::pass_on_signals() {
    while (!status_) {
        const auto signal = signals_.next();
        if (!signal) return;
        collect();
        if (status_ && is_ending(*signal)) ::raise(*signal);
        if (status_) return;
        if (is_ending(*signal)) signal_group(*signal);
        if (*signal == SIGTSTP) suspend_together();
    }
}

void supervisor::collect() {
    int status = 0;
    while (!status_) {
        const pid_t changed = ::waitpid(group_, &status, WNOHANG | WUNTRACED);
        if (changed != group_) break;
        if (WIFSTOPPED(status)) {
            react_to_stop(WSTOPSIG(status));
        } else {
            status_ = status;
        }
    }
    if (!status_) return;
    while (::waitpid(-group_, nullptr, WNOHANG) > 0) continue;
}

void supervisor::react_to_stop(int signal) {
    const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
    if (terminal_.lent()) {
        suspend_together();
    } else if (wants_terminal && terminal_.lend(group_)) {
        signal_group(SIGCONT);
    }
}

// A command that runs on while its supervisor is stopped would outlive the lease. It is stopped
// first, and goes on last, if the lease has survived.
void supervisor::suspend_together() {
    const bool had_terminal = terminal_.lent();
    terminal_.take_back();
    signal_group(SIGSTOP);
    ::raise(SIGSTOP);
    if (lease_.lost()) return;  // the next turn of the loop kills it, still stopped
    if (had_terminal) terminal_.lend(group_);
    signal_group(SIGCONT);
}

void supervisor::signal_group(int signal) const { ::kill(-group_, signal); }

bool supervisor::group_is_empty() const { return ::kill(-group_, 0) != 0 && errno == ESRCH; }

void supervisor::sleep_until(clock::time_point when) {
    if (status_) when = std::min(when, clock::now() + look_at_group_every);
    const itimerspec alarm = at(when);
    ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &alarm, nullptr);
    std::array<pollfd, 3> watched{{{signals_.readable(), POLLIN, 0},
                                   {loss_event_.get(), POLLIN, 0},
                                   {timer_.get(), POLLIN, 0}}};
    ::poll(watched.data(), watched.size(), -1);
    std::uint64_t ignored = 0;
    if (watched[1].revents != 0) ::eventfd_read(loss_event_.get(), &ignored);
}

}  // namespace holdfast::tool
