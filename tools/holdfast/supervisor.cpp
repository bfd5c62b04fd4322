#include "supervisor.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

namespace holdfast::tool {
namespace {

using namespace std::chrono_literals;

// Who stops itself some time after its group was told to go on does so soon, if at all.
constexpr clock::duration first_look_for_sleepers = 10ms;
constexpr clock::duration last_look_for_sleepers = 2s;

itimerspec at(clock::time_point when) {
    const auto since = std::max<clock::duration>(when.time_since_epoch(), 1ns);
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
    return {.it_interval = {}, .it_value = {seconds.count(), (since - seconds).count()}};
}

descriptor child_event() {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    return checked(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");
}

std::vector<std::string> variables_in(const std::string& text) {
    std::vector<std::string> variables;
    for (std::size_t begin = 0; begin < text.size();) {
        variables.emplace_back(text.c_str() + begin);
        begin += variables.back().size() + 1;
    }
    return variables;
}

}  // namespace

supervisor::supervisor(supervision what, descriptor line, const signal_queue& signals)
    : what_(std::move(what)),
      line_(std::move(line)),
      signals_(signals),
      child_event_(child_event()),
      timer_(checked(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd")),
      group_(control_group::make()) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_NAME, "hf-supervisor");
    descendants::adopt_orphans();
}

void supervisor::serve() {
    if (start_command()) watch();
    if (group_) group_->disband();
}

bool supervisor::start_command() {
    std::string environment;
    const auto first = line_.receive<order>(supervisor_link::patience::wait, &environment);
    if (!first) return false;
    lease_ = first->lease;
    const descriptor group = group_ ? group_->directory() : descriptor();
    start_ = start_child({.arguments = what_.arguments,
                          .environment = variables_in(environment),
                          .control_group = group.get(),
                          .start_by = lease_.valid_until - stop_schedule::margin(what_.kill_after)},
                         signals_);
    line_.send(report{.what = report::kind::forked, .command = start_.process});
    family_.emplace(start_.process, std::nullopt, group_);
    stop_.emplace(*family_, stop_schedule(what_.kill_after, first->at_most));
    // What the command has inherited is not kept open by us.
    close_all_but_our_own();
    return true;
}

void supervisor::watch() {
    for (;;) {
        family_->collect();
        if (!tell_of_start()) return;
        tell_of_stop();
        if (over()) break;
        tell_of_end();
        if (take_order()) continue;
        const auto now = clock::now();
        wake_late_sleepers(now);
        const auto wake_at = stop_when_due(now);
        sleep_until(std::min(wake_at, look_for_sleepers_at_));
    }
    line_.send(report{.what = report::kind::over,
                      .value = family_->status().value_or(SIGKILL),
                      .why = stop_->why(),
                      .ended_before_stop = ended_before_stop_,
                      .signals_delivered = signals_delivered_});
}

bool supervisor::over() const {
    if (!stop_->running()) return stop_->finished(clock::now());
    return what_.wait_all ? family_->all_ended() : family_->status().has_value();
}

// One at a time: the command may end between two. What it no longer can be told is for whoever
// comes after us, so the undelivered are counted.
bool supervisor::take_order() {
    if (line_.closed()) return false;
    const auto next = line_.receive<order>(supervisor_link::patience::do_not_wait);
    if (next && next->what == order::kind::lease) lease_ = next->lease;
    if (next && next->what == order::kind::signal) pass_on(next->signal);
    if (next && next->what == order::kind::end) {
        ++signals_delivered_;
        stop_->request();
    }
    // Nobody renews the lease any more.
    if (line_.closed()) lease_.announced = true;
    return next.has_value();
}

// A stopped process acts upon nothing but KILL, so every signal is followed by CONT.
void supervisor::pass_on(int signal) {
    family_->signal_group(signal);
    if (is_ending(signal)) {
        ++signals_delivered_;
        family_->signal_group(SIGCONT);
    }
    if (signal == SIGSTOP) held_still_ = true;
    if (signal != SIGCONT) return;
    held_still_ = false;
    sleeper_pause_ = first_look_for_sleepers;
    look_for_sleepers_at_ = clock::now() + sleeper_pause_;
}

// After the look at who has ended: who could not become the command has said so before.
bool supervisor::tell_of_start() {
    if (!start_.outcome) return true;
    const auto error = start_.look();
    if (!error) return true;
    start_.outcome.reset();
    line_.send(report{.what = report::kind::started, .value = *error});
    return *error == 0;
}

void supervisor::tell_of_stop() {
    const auto signal = family_->take_stop();
    if (!signal || held_still_) return;
    look_for_sleepers_at_ = clock::time_point::max();
    line_.send(report{.what = report::kind::stopped, .value = *signal});
}

void supervisor::tell_of_end() {
    if (end_told_ || !family_->status()) return;
    line_.send(report{.what = report::kind::ended, .value = *family_->status()});
    end_told_ = true;
}

clock::time_point supervisor::stop_when_due(clock::time_point now) {
    const bool running = stop_->running();
    const auto wake_at = stop_->act(lease_, now);
    if (running && !stop_->running()) ended_before_stop_ = family_->status().has_value();
    return wake_at;
}

// A command that wanted the terminal was stopped with its whole group, and told to go on when it
// had it. Some catch the signal, tidy up first, and stop themselves afterwards: too late to be
// woken, and where they are not the command itself nobody would notice.
void supervisor::wake_late_sleepers(clock::time_point now) {
    if (now < look_for_sleepers_at_) return;
    if (family_->any_stopped()) family_->signal_group(SIGCONT);
    sleeper_pause_ *= 3;
    look_for_sleepers_at_ =
        sleeper_pause_ > last_look_for_sleepers ? clock::time_point::max() : now + sleeper_pause_;
}

void supervisor::sleep_until(clock::time_point when) {
    const itimerspec alarm = at(when);
    ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &alarm, nullptr);
    std::array<pollfd, 4> watched{{{child_event_.get(), POLLIN, 0},
                                   {line_.readable(), POLLIN, 0},
                                   {timer_.get(), POLLIN, 0},
                                   {start_.outcome.get(), POLLIN, 0}}};
    ::poll(watched.data(), watched.size(), -1);
    signalfd_siginfo ignored{};
    while (::read(child_event_.get(), &ignored, sizeof ignored) > 0) continue;
}

void supervisor::close_all_but_our_own() const {
    std::array<int, 4> kept{line_.readable(), child_event_.get(), timer_.get(),
                            start_.outcome.get()};
    std::sort(kept.begin(), kept.end());
    unsigned next = 0;
    for (const int each : kept) {
        const auto own = static_cast<unsigned>(each);
        if (next < own) ::close_range(next, own - 1, 0);
        next = own + 1;
    }
    ::close_range(next, ~0U, 0);
}

}  // namespace holdfast::tool
