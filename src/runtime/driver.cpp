#include "runtime/driver.hpp"

#include <pthread.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <csignal>
#include <utility>

#include "holdfast/clock.hpp"

namespace holdfast::runtime {
namespace {

// Looking costs a system call. A busy client looks all the time; this is for one that was idle.
constexpr core::duration longest_blindness = std::chrono::milliseconds(20);

// As background_until_: it is not asleep, and will look before it sleeps.
constexpr auto awake = core::time_point::min();

// Waits are relative: condition variables know no CLOCK_BOOTTIME. After a suspend they are late,
// and what counts is compared with the right clock anyway.
void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& wake,
                core::time_point when) {
    if (when == core::never) return wake.wait(lock);
    wake.wait_for(lock, when - clock::now());
}

}  // namespace

driver::driver(std::mutex& guard, machinery& driven)
    : guard_(guard), driven_(driven), io_(std::make_unique<boost::asio::io_context>(1)) {
    io_->get_executor().on_work_started();  // an idle loop is not a finished one
}

driver::~driver() = default;

void driver::wait(std::unique_lock<std::mutex>& lock, waiter& who) {
    while (!who.done) {
        if (driving_) {
            sleep(lock, who);
        } else {
            drive(lock, &who);
        }
    }
    pass_on();
}

void driver::finished(waiter& who) {
    who.done = true;
    if (driver_ != &who) return who.wake.notify_one();
    if (driver_thread_ != std::this_thread::get_id()) interrupt();
}

void driver::attend_by(core::time_point when) {
    start_background();
    if (when >= background_until_) return;
    background_until_ = when;
    wake_background();
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
    driver_thread_ = std::this_thread::get_id();
    do {
        turn(lock);
    } while (who != nullptr && !who->done);
    driving_ = false;
    driver_ = nullptr;
}

void driver::turn(std::unique_lock<std::mutex>& lock) {
    driven_.flush();
    const auto until = driven_.wake_at();
    if (driver_ == nullptr) background_until_ = until;
    lock.unlock();
    if (until == core::never) {
        io_->run_one();
    } else if (const auto now = clock::now(); now < until) {
        io_->run_one_for(until - now);
    } else {
        io_->poll();
    }
    lock.lock();
    looked_at_ = clock::now();
    driven_.fire(looked_at_);
}

void driver::catch_up(std::unique_lock<std::mutex>& lock) {
    if (!driving_ && clock::now() - looked_at_ > longest_blindness) poll(lock);
}

void driver::poll(std::unique_lock<std::mutex>& lock) {
    driving_ = true;
    driver_thread_ = std::this_thread::get_id();
    lock.unlock();
    io_->poll();
    lock.lock();
    driving_ = false;
    looked_at_ = clock::now();
    pass_on();
}

void driver::sleep(std::unique_lock<std::mutex>& lock, waiter& who) {
    const auto place = sleepers_.insert(sleepers_.end(), &who);
    wait_until(lock, who.wake, driven_.wake_at());
    sleepers_.erase(place);
    if (!who.done && driving_) driven_.fire(clock::now());
}

void driver::pass_on() {
    if (driving_) return;
    const auto next = std::find_if(sleepers_.begin(), sleepers_.end(),
                                   [](const waiter* sleeper) { return !sleeper->done; });
    if (next != sleepers_.end()) return (*next)->wake.notify_one();
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
        lock.unlock();
        for (const auto& callback : batch) callback();
        lock.lock();
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

void driver::interrupt() {
    boost::asio::post(*io_, [] {});
}

}  // namespace holdfast::runtime
