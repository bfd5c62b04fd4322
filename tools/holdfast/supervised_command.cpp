#include "supervised_command.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <stop_token>
#include <utility>

#include "message.hpp"

namespace holdfast::tool {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

// How soon a command that waits for the terminal gets it after `fg`, which tells nobody.
constexpr auto look_at_terminal_every = 100ms;
constexpr auto look_at_orphans_every = 10ms;
// Whoever takes less after the command has ended is not worth a line.
constexpr auto descendants_are_told_of_after = 1s;
// A killed process is gone within a millisecond or two, unless it sleeps in the kernel.
constexpr int most_looks_at_supervisor = 100;

struct line_ends {
    descriptor ours;
    descriptor theirs;
};

line_ends make_line() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw_errno("socketpair");
    return {descriptor(ends[0]), descriptor(ends[1])};
}

[[noreturn]] void supervise(supervision what, descriptor line, const signal_queue& signals) {
    try {
        supervisor(std::move(what), std::move(line), signals).serve();
    } catch (...) {
        ::_exit(1);  // its end is noticed
    }
    ::_exit(0);
}

std::string joined(const std::vector<std::string>& variables) {
    std::string text;
    for (const std::string& variable : variables) text.append(variable).push_back('\0');
    return text;
}

stop_schedule::lease_view view_of(const lease& held) {
    return {held.valid_until(), held.stop_token().stop_requested(), held.lost()};
}

int timeout_until(clock::time_point when) {
    const auto left = std::chrono::ceil<milliseconds>(when - clock::now());
    return static_cast<int>(std::clamp(left, milliseconds(0), milliseconds(1h)).count());
}

}  // namespace

supervised_command::supervised_command(supervision what, signal_queue& signals, bool talks)
    : kill_after_(what.kill_after),
      talks_(talks && what.wait_all),
      signals_(signals),
      line_(descriptor()),
      loss_event_(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {
    line_ends line = make_line();
    // Whoever the supervisor would leave behind is ours.
    descendants::adopt_orphans();
    supervisor_ = ::fork();
    if (supervisor_ < 0) throw_errno("fork");
    if (supervisor_ == 0) {
        line.ours.reset();
        supervise(std::move(what), std::move(line.theirs), signals);
    }
    line_ = supervisor_link(std::move(line.ours));
}

command_end supervised_command::run(const lease& held, const std::vector<std::string>& environment,
                                    clock::time_point at_most) {
    lease_ = &held;
    told_ = view_of(held);
    line_.send(order{.what = order::kind::start, .lease = told_, .at_most = at_most},
               joined(environment));
    return watch();
}

command_end supervised_command::watch() {
    const std::stop_callback on_loss(lease_->stop_token(),
                                     [this] { ::eventfd_write(loss_event_.get(), 1); });
    for (;;) {
        keep_supervisor_going();
        take_reports();
        if (end_) break;
        if (supervisor_failed()) {
            take_over();
            break;
        }
        tell_lease();
        pass_on_signals();
        lend_terminal_if_wanted();
        tell_of_descendants();
        sleep();
    }
    terminal_.take_back();
    end_->asked_to_end = delivered_ > 0;
    end_->suspended = suspended_;
    return_undelivered();
    return *end_;
}

void supervised_command::take_reports() {
    while (const auto news = line_.receive<report>(supervisor_link::patience::do_not_wait)) {
        hear(*news);
    }
}

void supervised_command::hear(const report& news) {
    if (news.what == report::kind::forked) {
        command_ = news.command;
        return;
    }
    if (news.what == report::kind::started) {
        if (news.value != 0) end_ = {.not_started = news.value};
        return;
    }
    if (news.what == report::kind::stopped) return react_to_stop(news.value);
    status_ = news.value;
    wants_terminal_ = false;
    terminal_.take_back();
    if (news.what != report::kind::over) {
        if (talks_) tell_of_descendants_at_ = clock::now() + descendants_are_told_of_after;
        return;
    }
    delivered_ = news.signals_delivered;
    end_ = {
        .status = news.value, .stopped_for = news.why, .ended_before_stop = news.ended_before_stop};
}

void supervised_command::tell_lease() {
    const auto now = view_of(*lease_);
    if (now == told_) return;
    told_ = now;
    line_.send(order{.what = order::kind::lease, .lease = now});
}

void supervised_command::pass_on_signals() {
    while (const auto signal = signals_.next()) {
        if (is_ending(*signal)) pass_on(*signal);
        if (*signal == SIGTSTP) suspend_together();
    }
}

void supervised_command::pass_on(int signal) {
    forwarded_.push_back(signal);
    const bool interrupt = signal == SIGINT || signal == SIGQUIT;
    if (!status_ || !interrupt || ++interrupts_since_end_ < 2) return order_signal(signal);
    if (talks_ && interrupts_since_end_ == 2) say("all that is left of the command is ended");
    line_.send(order{.what = order::kind::end, .signal = signal});
}

void supervised_command::tell_of_descendants() {
    if (clock::now() < tell_of_descendants_at_) return;
    tell_of_descendants_at_ = clock::time_point::max();
    const std::string how = WIFSIGNALED(*status_)
                                ? "by signal " + std::to_string(WTERMSIG(*status_))
                                : "with " + std::to_string(WEXITSTATUS(*status_));
    say("the command has ended " + how +
        "; waiting for all that it has started, as --wait-all says; Ctrl-C, and once more for "
        "those "
        "who ignore it, ends them");
}

// What came when the command had ended is for whoever comes after us. Raised again it waits for
// them, because it is blocked.
void supervised_command::return_undelivered() {
    for (std::size_t n = delivered_; n < forwarded_.size(); ++n) ::raise(forwarded_[n]);
}

// Some, like top, put the terminal in order first and then stop themselves. Who has a handler for
// being kept from the terminal, and has not got it yet, is taken to be one of them.
bool supervised_command::wants_terminal(int stopped_by) const {
    if (stopped_by == SIGTTIN || stopped_by == SIGTTOU) return true;
    return stopped_by == SIGSTOP && !terminal_.lent() && catches_terminal_stops(command_);
}

void supervised_command::react_to_stop(int signal) {
    if (wants_terminal(signal)) {
        wants_terminal_ = true;
    } else if (terminal_.lent()) {
        // The terminal has stopped the command. Without us it would have stopped the whole job.
        ::kill(0, SIGTSTP);
        suspend_together();
    }
}

void supervised_command::lend_terminal_if_wanted() {
    if (!wants_terminal_) return;
    if (terminal_.lend(command_)) {
        wants_terminal_ = said_so_ = false;
        order_signal(SIGCONT);
    } else if (!std::exchange(said_so_, true) && ::isatty(STDERR_FILENO) != 0) {
        say("the command wants the terminal; bring it to the foreground with 'fg'");
    }
}

// Nobody renews the lease while we are stopped, so the command is stopped, too; and its supervisor
// ends it should we stay so for too long.
void supervised_command::suspend_together() {
    const bool had_terminal = terminal_.lent();
    terminal_.take_back();
    order_signal(SIGSTOP);
    const auto begin = clock::now();
    signals_.suspend();
    const auto end = clock::now();
    if (end >= lease_->valid_until() - stop_schedule::notice(kill_after_)) suspended_ = end - begin;
    if (lease_->lost()) return;
    if (had_terminal) terminal_.lend(command_);
    order_signal(SIGCONT);
}

void supervised_command::order_signal(int signal) const {
    line_.send(order{.what = order::kind::signal, .signal = signal});
}

// It would notice nothing, and let the lease run out. Nobody has a reason to stop it; a debugger
// that does has the last word.
void supervised_command::keep_supervisor_going() const {
    siginfo_t seen{};
    const bool told =
        ::waitid(P_PID, static_cast<id_t>(supervisor_), &seen, WSTOPPED | WNOHANG) == 0;
    if (told && seen.si_pid == supervisor_) ::kill(supervisor_, SIGCONT);
}

// A supervisor that is starved, or held by a debugger, would let the lease run out.
bool supervised_command::supervisor_failed() const {
    if (line_.closed()) return true;
    return clock::now() >= lease_->valid_until() - stop_schedule::margin(kill_after_) / 2;
}

// With its end the kernel kills the command, which is not to hear of a TERM before.
void supervised_command::end_supervisor() const {
    ::kill(supervisor_, SIGKILL);
    for (int look = 0; look < most_looks_at_supervisor; ++look) {
        if (::waitpid(supervisor_, nullptr, WNOHANG) != 0) return;
        ::poll(nullptr, 0, 1);
    }
}

// It may have started the command, and not come to say so: whoever is there is ended in any case.
void supervised_command::take_over() {
    const auto group = control_group::of(supervisor_);
    const auto command = command_ == -1 ? std::nullopt : std::optional(command_);
    if (command) {
        say("the supervisor of the command does not do its work; all that it started is ended");
    }
    end_supervisor();
    descendants family(command, status_, group, other_children_);
    stopper stop(family, stop_schedule(kill_after_, clock::now()));
    for (;;) {
        family.collect();
        if (stop.finished(clock::now())) break;
        const auto wake_at = stop.act(view_of(*lease_), clock::now());
        pollfd watched{signals_.readable(), POLLIN, 0};
        ::poll(&watched, 1, timeout_until(std::min(wake_at, clock::now() + look_at_orphans_every)));
        while (signals_.next()) continue;
    }
    if (group) group->disband();
    if (!command) {
        throw std::system_error(ECHILD, std::system_category(),
                                "the supervisor of the command was killed");
    }
    end_ = {.status = family.status().value_or(SIGKILL), .stopped_for = stop.why()};
    delivered_ = static_cast<unsigned>(forwarded_.size());
}

// The supervisor must have heard of a renewal before it would have to ask the command to end: a
// third of that time is early enough to be late once.
void supervised_command::sleep() {
    const auto now = clock::now();
    auto wake_at = lease_->valid_until() - stop_schedule::margin(kill_after_) / 2;
    const auto ask_at = lease_->valid_until() - stop_schedule::notice(kill_after_);
    if (now < ask_at) wake_at = now + std::max<clock::duration>((ask_at - now) / 3, 10ms);
    if (wants_terminal_) wake_at = std::min(wake_at, now + look_at_terminal_every);
    wake_at = std::min(wake_at, tell_of_descendants_at_);
    std::array<pollfd, 3> watched{{{signals_.readable(), POLLIN, 0},
                                   {line_.readable(), POLLIN, 0},
                                   {loss_event_.get(), POLLIN, 0}}};
    ::poll(watched.data(), watched.size(), timeout_until(wake_at));
    std::uint64_t ignored = 0;
    if (watched[2].revents != 0) ::eventfd_read(loss_event_.get(), &ignored);
}

}  // namespace holdfast::tool
