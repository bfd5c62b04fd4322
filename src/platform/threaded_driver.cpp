#include "platform/threaded_driver.hpp"

#include <poll.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <csignal>
#include <utility>

#include "core/tuning.hpp"
#include "holdfast/clock.hpp"

namespace holdfast::platform {
namespace {

// As background_until_: it is not asleep, and will look before it sleeps.
constexpr auto awake = core::time_point::min();

using core::tuning::driving::pause_after_failure;
using core::tuning::driving::soon;

futex_parker& parker_of(const waiter& who) { return static_cast<futex_parker&>(*who.sleeps_on); }

/// This thread takes no signals, and a thread that it starts never does.
class signals_blocked {
  public:
    signals_blocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

    signals_blocked(const signals_blocked&) = delete;
    signals_blocked& operator=(const signals_blocked&) = delete;

  private:
    sigset_t before_{};
};

bool is_soon(core::time_point when) { return when != core::never && when - clock::now() < soon; }

// For a caller's poll. After a suspend it is late, and what counts is compared with the right clock
// anyway; what must not be late is the background thread's, who has a timer for it.
timespec to_timespec(core::time_point until) {
    if (until == core::never) return {};
    const auto left = std::max(until - clock::now(), core::duration{0});
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    return {seconds.count(), (left - seconds).count()};
}

}  // namespace

/// Lets the io_context end its wait when the timer says so.
class threaded_driver::timer_watch {
  public:
    timer_watch(boost::asio::io_context& io, const wake_timer& timer)
        : descriptor_(io, timer.descriptor()) {}
    ~timer_watch() { descriptor_.release(); }  // it is the timer's

    timer_watch(const timer_watch&) = delete;
    timer_watch& operator=(const timer_watch&) = delete;

    void start() {
        if (under_way_) return;
        descriptor_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                               [this](const boost::system::error_code&) { under_way_ = false; });
        under_way_ = true;
    }

  private:
    boost::asio::posix::stream_descriptor descriptor_;
    bool under_way_ = false;  // only whoever drives looks at it
};

/// This thread drives, as long as this lives.
class threaded_driver::role {
  public:
    role(threaded_driver& which, waiter* who) : driver_(which) {
        driver_.driving_ = true;
        driver_.driver_ = who;
        driver_.successor_ = nullptr;
        driver_.driver_thread_ = std::this_thread::get_id();
        driver_.interrupted_ = false;
    }
    ~role() {
        driver_.driving_ = false;
        driver_.driver_ = nullptr;
    }

    role(const role&) = delete;
    role& operator=(const role&) = delete;

  private:
    threaded_driver& driver_;
};

threaded_driver::threaded_driver(boost::asio::io_context& io, base::client_mutex& guard,
                                 machinery& driven)
    : guard_(guard),
      driven_(driven),
      io_(io),
      timer_watch_(std::make_unique<timer_watch>(io_, timer_)) {}

threaded_driver::~threaded_driver() = default;

void threaded_driver::wait(base::client_lock& lock, waiter& who) noexcept {
    expected_ = {};
    while (!who.done) {
        if (driving_ || (successor_ != nullptr && successor_ != &who)) {
            sleep(lock, who);
        } else {
            drive(lock, &who);
        }
    }
    pass_role();
}

// The driver wakes callers when it has taken in everything that arrived, and let go of the lock.
void threaded_driver::finished(waiter& who) noexcept {
    who.done = true;
    const bool here = driving_ && driver_thread_ == std::this_thread::get_id();
    if (driver_ == &who) {
        if (!here) interrupt();
        return;
    }
    if (here) {
        try {
            return to_unpark_.push_back(std::static_pointer_cast<futex_parker>(who.sleeps_on));
        } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): woken at once
        }
    }
    parker_of(who).unpark();
}

void threaded_driver::attend_by(core::time_point when) noexcept {
    try_background();
    if (looks_itself() && is_soon(when)) {
        left_to_caller_ = true;
    } else {
        leave_to_background(when);
    }
}

void threaded_driver::leave_to_background(core::time_point when) noexcept {
    if (when >= background_until_) return;
    background_until_ = when;
    wake_background();
}

// A thread that drives looks at the timers before it polls again; one that is about to wait, too.
bool threaded_driver::looks_itself() const {
    const auto self = std::this_thread::get_id();
    return (driving_ && driver_ != nullptr && driver_thread_ == self) || expected_ == self;
}

void threaded_driver::call_back(callback& what) noexcept {
    callbacks_.push_back(what);
    wake_background();
}

void threaded_driver::wake_background() noexcept {
    if (std::exchange(resting_, false)) call_.set();
    if (background_drives() && driver_thread_ != std::this_thread::get_id()) interrupt();
}

void threaded_driver::drive(base::client_lock& lock, waiter* who) noexcept {
    const role mine(*this, who);
    do {
        run_once(lock);
    } while (who != nullptr && !who->done);
    unpark_finished(lock);
}

// Callers whose operations were finished together tend to come back together. Their requests wait
// for all of them, because one write of many costs hardly more than one of one.
void threaded_driver::unpark_finished(base::client_lock& lock) noexcept {
    if (to_unpark_.empty()) return;
    const auto parkers = std::exchange(to_unpark_, {});
    unparking_ = true;
    {
        const base::client_unlock others(lock);
        futex_parker::unpark_all(parkers);
    }
    unparking_ = false;
}

void threaded_driver::run_once(base::client_lock& lock) noexcept {
    unpark_finished(lock);
    if (std::exchange(interrupted_, false)) return;
    driven_.flush();
    const auto until = driven_.wake_at();
    if (background_drives()) background_until_ = until;
    try {
        look_around(lock, until);
    } catch (...) {
        const base::client_unlock others(lock);
        std::this_thread::sleep_for(pause_after_failure);
    }
    driven_.fire(clock::now());
}

void threaded_driver::look_around(base::client_lock& lock, core::time_point until) {
    if (driven_.list_sources(sources_)) {
        poll_sources(lock, until);
    } else {
        run_context(lock, until);
    }
}

void threaded_driver::poll_sources(base::client_lock& lock, core::time_point until) {
    polled_.assign(1, {interrupt_.descriptor(), POLLIN, 0});
    for (const auto& each : sources_) polled_.push_back({each.descriptor, POLLIN, 0});
    const bool soon_due = is_soon(until);
    left_to_caller_ = left_to_caller_ || soon_due;
    const bool by_timer = left_to_timer(until);
    if (by_timer) polled_.push_back({timer_.descriptor(), POLLIN, 0});
    const bool timed =
        until != core::never && !by_timer && (soon_due || !left_to_background(until));
    polling_ = true;
    {
        const base::client_unlock others(lock);
        const auto timeout = to_timespec(until);
        ::ppoll(polled_.data(), polled_.size(), timed ? &timeout : nullptr, nullptr);
    }
    polling_ = false;
    if (polled_[0].revents != 0) interrupt_.clear();
    for (std::size_t n = 0; n < sources_.size(); ++n) {
        if (polled_[n + 1].revents != 0) driven_.take_in(sources_[n]);
    }
}

// A timeout makes a poll twice as expensive, and hardly ever comes. The background thread sleeps
// till some time anyway: when that has come it fires what is due, and that wakes whom it concerns.
bool threaded_driver::left_to_background(core::time_point until) noexcept {
    if (background_drives() || calling_back_ || !background_.joinable()) return false;
    leave_to_background(until);
    return true;
}

// Timeouts stand still while the machine is suspended. For what is due soon that does not matter.
bool threaded_driver::left_to_timer(core::time_point until) noexcept {
    if (!background_drives() || until == core::never || is_soon(until)) return false;
    timer_.set(until);
    return true;
}

void threaded_driver::run_context(base::client_lock& lock, core::time_point until) {
    driven_.watch_sources();
    const bool by_timer = left_to_timer(until);
    if (by_timer) timer_watch_->start();
    {
        const base::client_unlock others(lock);
        if (until == core::never || by_timer) {
            io_.run_one();
        } else if (const auto now = clock::now(); now < until) {
            io_.run_one_for(until - now);
        } else {
            io_.poll();
        }
    }
    if (io_.stopped()) io_.restart();  // it was interrupted
}

void threaded_driver::sleep(base::client_lock& lock, waiter& who) noexcept {
    sleepers_.push_back(who);
    if (!spin(lock, who)) {
        auto until = driven_.wake_at();
        if (until != core::never && left_to_background(until)) until = core::never;
        lock.unlock();
        const bool woken = parker_of(who).park_until(until);
        lock.lock();
        if (!woken) driven_.fire(clock::now());
    }
    sleepers_.erase(sleepers_.iterator_to(who));
    if (who.done && successor_ == &who) {
        successor_ = nullptr;
        pass_role();
    }
}

// Returns whether the caller was woken meanwhile. Without the lock: it is wanted by those who run.
bool threaded_driver::spin(base::client_lock& lock, waiter& who) noexcept {
    if (!driven_.may_spin()) return false;
    const auto waiting = sleepers_.size();
    const auto due = driven_.wake_at();
    const auto begin = clock::now();
    const auto what =
        who.in_line ? spin_policy::waits_for::its_turn : spin_policy::waits_for::answers;
    auto yields = spinning_.yields_for(what, waiting, begin);
    if (yields == 0) return false;
    lock.unlock();
    bool woken = false;
    auto before = begin;
    auto now = begin;
    while (yields-- > 0 && !woken && now < due && !spin_policy::too_long(waiting, now - begin)) {
        ::sched_yield();
        woken = parker_of(who).take_permit();
        before = std::exchange(now, clock::now());
    }
    lock.lock();
    if (spin_policy::too_long(waiting, now - before)) {
        spinning_.avoid_strangers(now - before, now);
    } else {
        spinning_.learn(what, woken || who.done);
    }
    return woken || who.done;
}

void threaded_driver::pass_role() noexcept {
    if (std::exchange(left_to_caller_, false)) attend_by(driven_.wake_at());
    if (driving_ || successor_ != nullptr) return;
    const auto next =
        std::find_if(sleepers_.begin(), sleepers_.end(),
                     [](const waiter& sleeper) HOLDFAST_LOCKED { return !sleeper.done; });
    if (next != sleepers_.end()) {
        successor_ = &*next;
        return parker_of(*successor_).unpark();
    }
    // Who had something to send while the last were woken left it to whoever drives.
    driven_.flush();
    if (!driven_.unattended()) return;
    try_background();
    wake_background();
}

// The thread takes no signals: a program's handlers should run where the program expects them.
void threaded_driver::require_background() {
    if (background_.joinable() || stopping_) return;
    const signals_blocked for_its_start;
    background_ = std::thread([this, alive = driven_.keep_alive()] { run_background(); });
}

void threaded_driver::try_background() noexcept {
    try {
        require_background();
    } catch (
        ...) {  // NOLINT(bugprone-empty-catch): whoever waits keeps the time; the next one tries
    }
}

void threaded_driver::run_background() noexcept {
    base::client_lock lock(guard_);
    while (!stopping_) {
        background_until_ = awake;
        run_callbacks(lock);
        if (stopping_) break;
        const bool due = clock::now() >= driven_.wake_at();
        if (!driving_ && (due || driven_.unattended())) {
            drive(lock, nullptr);  // when due, answers may lie unread since the last caller left
            pass_role();
        } else if (due) {
            driven_.fire(clock::now());
        } else {
            rest(lock);
        }
    }
    run_callbacks(lock);
}

void threaded_driver::rest(base::client_lock& lock) noexcept {
    background_until_ = driven_.wake_at();
    timer_.set(background_until_);
    resting_ = true;
    {
        const base::client_unlock others(lock);
        std::array<pollfd, 2> awaited{pollfd{call_.descriptor(), POLLIN, 0},
                                      pollfd{timer_.descriptor(), POLLIN, 0}};
        ::ppoll(awaited.data(), awaited.size(), nullptr, nullptr);
        if (awaited[0].revents != 0) call_.clear();
    }
    resting_ = false;
}

void threaded_driver::run_callbacks(base::client_lock& lock) {
    while (!callbacks_.empty()) {
        decltype(callbacks_) batch;
        batch.swap(callbacks_);
        calling_back_ = true;
        look_again();  // whoever drives keeps the time now
        {
            const base::client_unlock others(lock);
            while (!batch.empty()) {
                auto& next = batch.front();
                batch.pop_front();
                next.run();
            }
        }
        calling_back_ = false;
    }
}

void threaded_driver::stop() {
    base::client_lock lock(guard_);
    stopping_ = true;
    wake_background();
    interrupt();
    auto last = std::exchange(background_, {});
    lock.unlock();
    if (!last.joinable()) return;
    if (last.get_id() == std::this_thread::get_id()) return last.detach();
    last.join();
}

void threaded_driver::abandon() noexcept {
    if (background_.joinable()) background_.detach();
}

void threaded_driver::look_again() noexcept {
    if (polling_ && driver_thread_ != std::this_thread::get_id()) interrupt();
}

// Stopping the io_context takes no memory, unlike posting to it.
void threaded_driver::interrupt() noexcept {
    if (unparking_) {
        interrupted_ = true;  // it looks before it waits
    } else if (polling_) {
        interrupt_.set();
    } else {
        io_.stop();
    }
}

}  // namespace holdfast::platform
