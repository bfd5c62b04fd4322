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

constexpr std::size_t worth_gathering = 4;

// As background_until_: it is not asleep, and will look before it sleeps.
constexpr auto awake = core::time_point::min();

// Waits are relative: condition variables know no CLOCK_BOOTTIME. After a suspend they are late,
// and what counts is compared with the right clock anyway.
std::cv_status wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& wake,
                          core::time_point when) {
    if (when != core::never) return wake.wait_for(lock, when - clock::now());
    wake.wait(lock);
    return std::cv_status::no_timeout;
}

}  // namespace

driver::driver(std::mutex& guard, machinery& driven)
    : guard_(guard), driven_(driven), io_(std::make_unique<boost::asio::io_context>(1)) {
    io_->get_executor().on_work_started();  // an idle loop is not a finished one
}

driver::~driver() = default;

void driver::wait(std::unique_lock<std::mutex>& lock, waiter& who) {
    while (!who.done) {
        if (driving_ || (successor_ != nullptr && successor_ != &who)) {
            sleep(lock, who);
        } else {
            drive(lock, &who);
        }
    }
    pass_on();
}

void driver::finished(waiter& who) {
    who.done = true;
    if (driver_ != &who) {
        ++just_finished_;
        return who.wake.notify_one();
    }
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
    successor_ = nullptr;
    driver_thread_ = std::this_thread::get_id();
    if (who != nullptr) gather(lock);
    do {
        turn(lock);
    } while (who != nullptr && !who->done);
    driving_ = false;
    driver_ = nullptr;
}

// Callers whose operations were finished together tend to come back together. Letting them go first
// makes one write of their requests, where each write costs more than the answer to it.
void driver::gather(std::unique_lock<std::mutex>& lock) {
    if (std::exchange(just_finished_, 0) < worth_gathering) return;
    gathering_ = true;
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
    gathering_ = false;
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
    driven_.fire(clock::now());
}

void driver::sleep(std::unique_lock<std::mutex>& lock, waiter& who) {
    const auto place = sleepers_.insert(sleepers_.end(), &who);
    const auto status = wait_until(lock, who.wake, driven_.wake_at());
    sleepers_.erase(place);
    if (status == std::cv_status::timeout) driven_.fire(clock::now());
    if (who.done && successor_ == &who) {
        successor_ = nullptr;
        pass_on();
    }
}

void driver::pass_on() {
    if (driving_ || successor_ != nullptr) return;
    const auto next = std::find_if(sleepers_.begin(), sleepers_.end(),
                                   [](const waiter* sleeper) { return !sleeper->done; });
    if (next != sleepers_.end()) {
        successor_ = *next;
        return successor_->wake.notify_one();
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
