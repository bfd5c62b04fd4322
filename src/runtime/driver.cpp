#include "runtime/driver.hpp"

#include <poll.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <csignal>
#include <utility>

#include "holdfast/clock.hpp"

namespace holdfast::runtime {
namespace {

// As background_until_: it is not asleep, and will look before it sleeps.
constexpr auto awake = core::time_point::min();

// Whoever polls keeps the time for what is due that soon: waking another thread, and being woken by
// it, costs more than a timeout that is likely to come.
constexpr auto soon = std::chrono::milliseconds(10);

bool is_soon(core::time_point when) { return when != core::never && when - clock::now() < soon; }

// Waits are relative: condition variables know no CLOCK_BOOTTIME. After a suspend they are late,
// and what counts is compared with the right clock anyway.
void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& wake,
                core::time_point when) {
    if (when == core::never) return wake.wait(lock);
    wake.wait_for(lock, when - clock::now());
}

timespec to_timespec(core::time_point until) {
    if (until == core::never) return {};
    const auto left = std::max(until - clock::now(), core::duration{0});
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    return {seconds.count(), (left - seconds).count()};
}

}  // namespace

driver::driver(std::mutex& guard, machinery& driven)
    : guard_(guard), driven_(driven), io_(std::make_unique<boost::asio::io_context>(1)) {
    io_->get_executor().on_work_started();  // an idle loop is not a finished one
}

driver::~driver() = default;

void driver::wait(std::unique_lock<std::mutex>& lock, waiter& who) {
    expected_ = {};
    while (!who.done) {
        if (driving_ || (successor_ != nullptr && successor_ != &who)) {
            sleep(lock, who);
        } else {
            drive(lock, &who);
        }
    }
    pass_on();
}

// The driver rings when it has taken in everything that arrived, and let go of the lock.
void driver::finished(waiter& who) {
    who.done = true;
    const bool here = driving_ && driver_thread_ == std::this_thread::get_id();
    if (driver_ == &who) {
        if (!here) interrupt();
    } else if (here) {
        to_ring_.push_back(who.wake);
    } else {
        who.wake->ring();
    }
}

void driver::attend_by(core::time_point when) {
    start_background();
    if (looks_itself() && is_soon(when)) {
        left_to_caller_ = true;
    } else {
        leave_to_background(when);
    }
}

void driver::leave_to_background(core::time_point when) {
    if (when >= background_until_) return;
    background_until_ = when;
    wake_background();
}

// A thread that drives looks at the timers before it polls again; one that is about to wait, too.
bool driver::looks_itself() const {
    const auto self = std::this_thread::get_id();
    return (driving_ && driver_ != nullptr && driver_thread_ == self) || expected_ == self;
}

void driver::call_back(std::function<void()> callback) {
    callbacks_.push_back(std::move(callback));
    start_background();
    wake_background();
}

void driver::wake_background() {
    background_wake_.notify_one();
    const bool background_drives = driving_ && driver_ == nullptr;
    if (background_drives && driver_thread_ != std::this_thread::get_id()) interrupt();
}

void driver::drive(std::unique_lock<std::mutex>& lock, waiter* who) {
    driving_ = true;
    driver_ = who;
    successor_ = nullptr;
    driver_thread_ = std::this_thread::get_id();
    interrupted_ = false;
    do {
        turn(lock);
    } while (who != nullptr && !who->done);
    ring(lock);
    driving_ = false;
    driver_ = nullptr;
}

// Callers whose operations were finished together tend to come back together. Their requests wait
// for all of them, because one write of many costs hardly more than one of one.
void driver::ring(std::unique_lock<std::mutex>& lock) {
    if (to_ring_.empty()) return;
    const auto bells = std::exchange(to_ring_, {});
    ringing_ = true;
    lock.unlock();
    bell::ring_all(bells);
    lock.lock();
    ringing_ = false;
}

void driver::turn(std::unique_lock<std::mutex>& lock) {
    ring(lock);
    if (std::exchange(interrupted_, false)) return;
    driven_.flush();
    const auto until = driven_.wake_at();
    if (driver_ == nullptr) background_until_ = until;
    if (driven_.list_sources(sources_)) {
        poll_sources(lock, until);
    } else {
        run_context(lock, until);
    }
    driven_.fire(clock::now());
}

void driver::poll_sources(std::unique_lock<std::mutex>& lock, core::time_point until) {
    polled_.assign(1, {alarm_.descriptor(), POLLIN, 0});
    for (const auto& each : sources_) polled_.push_back({each.descriptor, POLLIN, 0});
    polling_ = true;
    const bool soon_due = is_soon(until);
    left_to_caller_ = left_to_caller_ || soon_due;
    const bool timed = until != core::never && (soon_due || !left_to_background(until));
    lock.unlock();
    const auto timeout = to_timespec(until);
    ::ppoll(polled_.data(), polled_.size(), timed ? &timeout : nullptr, nullptr);
    lock.lock();
    polling_ = false;
    if (polled_[0].revents != 0) alarm_.silence();
    for (std::size_t n = 0; n < sources_.size(); ++n) {
        if (polled_[n + 1].revents != 0) driven_.take_in(sources_[n]);
    }
}

// A timeout makes a poll twice as expensive, and hardly ever comes. The background thread sleeps
// till some time anyway: when that has come it fires what is due, and that wakes whom it concerns.
bool driver::left_to_background(core::time_point until) {
    const bool background_drives = driving_ && driver_ == nullptr;
    if (background_drives || calling_back_ || !background_.joinable()) return false;
    leave_to_background(until);
    return true;
}

void driver::run_context(std::unique_lock<std::mutex>& lock, core::time_point until) {
    driven_.watch_sources();
    lock.unlock();
    if (until == core::never) {
        io_->run_one();
    } else if (const auto now = clock::now(); now < until) {
        io_->run_one_for(until - now);
    } else {
        io_->poll();
    }
    lock.lock();
}

void driver::sleep(std::unique_lock<std::mutex>& lock, waiter& who) {
    sleepers_.push_back(who);
    if (!let_others_run(lock, who)) {
        auto until = driven_.wake_at();
        if (until != core::never && left_to_background(until)) until = core::never;
        lock.unlock();
        const bool rung = who.wake->sleep_until(until);
        lock.lock();
        if (!rung) driven_.fire(clock::now());
    }
    sleepers_.erase(sleepers_.iterator_to(who));
    if (who.done && successor_ == &who) {
        successor_ = nullptr;
        pass_on();
    }
}

// Returns whether the caller was rung meanwhile. Without the lock: it is wanted by those who run.
bool driver::let_others_run(std::unique_lock<std::mutex>& lock, waiter& who) {
    const auto waiting = sleepers_.size();
    const auto due = driven_.wake_at();
    const auto begin = clock::now();
    const auto kind = who.in_line ? crowd::kind::in_line : crowd::kind::for_answers;
    auto turns = crowd_.allot(kind, waiting, begin);
    if (turns == 0) return false;
    lock.unlock();
    bool rung = false;
    auto before = begin;
    auto now = begin;
    while (turns-- > 0 && !rung && now < due && !crowd::too_long(waiting, now - begin)) {
        ::sched_yield();
        rung = who.wake->heard();
        before = std::exchange(now, clock::now());
    }
    lock.lock();
    if (crowd::too_long(waiting, now - before)) {
        crowd_.avoid_strangers(now - before, now);
    } else {
        crowd_.let_run(kind, rung || who.done);
    }
    return rung || who.done;
}

void driver::pass_on() {
    if (std::exchange(left_to_caller_, false)) attend_by(driven_.wake_at());
    if (driving_ || successor_ != nullptr) return;
    const auto next = std::find_if(sleepers_.begin(), sleepers_.end(),
                                   [](const waiter& sleeper) { return !sleeper.done; });
    if (next != sleepers_.end()) {
        successor_ = &*next;
        return successor_->wake->ring();
    }
    if (!driven_.unattended()) return;
    start_background();
    wake_background();
}

// The thread takes no signals: a program's handlers should run where the program expects them.
void driver::start_background() {
    if (background_.joinable() || stopping_) return;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    background_ = std::thread([this, alive = driven_.keep_alive()] { run_background(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void driver::run_background() {
    std::unique_lock lock(guard_);
    while (!stopping_) {
        background_until_ = awake;
        run_callbacks(lock);
        if (stopping_) break;
        const bool due = clock::now() >= driven_.wake_at();
        if (!driving_ && (due || driven_.unattended())) {
            drive(lock, nullptr);  // when due, answers may lie unread since the last caller left
            pass_on();
        } else if (due) {
            driven_.fire(clock::now());
        } else {
            background_until_ = driven_.wake_at();
            wait_until(lock, background_wake_, background_until_);
        }
    }
    run_callbacks(lock);
}

void driver::run_callbacks(std::unique_lock<std::mutex>& lock) {
    while (!callbacks_.empty()) {
        const auto batch = std::exchange(callbacks_, {});
        calling_back_ = true;
        look_again();  // whoever drives keeps the time now
        lock.unlock();
        for (const auto& callback : batch) callback();
        lock.lock();
        calling_back_ = false;
    }
}

void driver::stop() {
    std::unique_lock lock(guard_);
    stopping_ = true;
    background_wake_.notify_one();
    interrupt();
    auto last = std::exchange(background_, {});
    lock.unlock();
    if (!last.joinable()) return;
    if (last.get_id() == std::this_thread::get_id()) return last.detach();
    last.join();
}

void driver::abandon() noexcept {
    if (background_.joinable()) background_.detach();
}

void driver::look_again() {
    if (polling_ && driver_thread_ != std::this_thread::get_id()) interrupt();
}

void driver::interrupt() {
    if (ringing_) {
        interrupted_ = true;  // it looks before it waits
    } else if (polling_) {
        alarm_.ring();
    } else {
        boost::asio::post(*io_, [] {});
    }
}

}  // namespace holdfast::runtime
