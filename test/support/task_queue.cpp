#include "support/task_queue.hpp"

#include <sys/eventfd.h>

#include <chrono>
#include <exception>
#include <stdexcept>
#include <utility>

#include "support/errors.hpp"
#include "support/sockets.hpp"

namespace holdfast::test {

task_queue::task_queue() : event_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
    if (!event_) throw_errno("cannot create an eventfd");
}

void task_queue::run(std::function<void()> task) {
    pending_task pending{.work = std::move(task), .error = {}};
    std::future<std::optional<std::string>> error = pending.error.get_future();
    {
        const std::scoped_lock lock{mutex_};
        tasks_.push_back(std::move(pending));
    }
    if (::eventfd_write(event_.get(), 1) != 0) throw_errno("cannot wake a thread");
    if (const auto text = error.get()) throw std::runtime_error{*text};
}

void task_queue::run_pending() {
    eventfd_t ignored = 0;
    ::eventfd_read(event_.get(), &ignored);
    std::deque<pending_task> tasks;
    {
        const std::scoped_lock lock{mutex_};
        tasks.swap(tasks_);
    }
    for (pending_task& task : tasks) task.error.set_value(error_of(task.work));
}

std::optional<std::string> task_queue::error_of(const std::function<void()>& work) {
    try {
        work();
        return std::nullopt;
    } catch (const std::exception& error) {
        return error.what();
    }
}

void task_queue::wait_and_run() {
    while (!wait_readable(descriptor(), std::chrono::hours{1})) {
    }
    run_pending();
}

}  // namespace holdfast::test
