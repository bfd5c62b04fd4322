#pragma once

#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <string>

#include "support/file_descriptor.hpp"

namespace holdfast::test {

/// Hands small tasks to the one thread that serves the queue. That thread can wait for them among
/// other descriptors: descriptor() is readable while tasks are pending.
class task_queue {
  public:
    task_queue();

    /// Any thread but the serving one: runs the task there and returns when it is done, so that
    /// whatever the task changed is in force. What the task threw is thrown again here, as a
    /// std::runtime_error of the same text: the thread sanitizer cannot see that libstdc++ counts
    /// the owners of an exception that crosses threads correctly.
    void run(std::function<void()> task);

    /// The serving thread: runs what is pending; or first waits until there is something.
    void run_pending();
    void wait_and_run();

    int descriptor() const noexcept { return event_.get(); }

  private:
    struct pending_task {
        std::function<void()> work;
        std::promise<std::optional<std::string>> error;
    };

    static std::optional<std::string> error_of(const std::function<void()>& work);

    file_descriptor event_;
    std::mutex mutex_;
    std::deque<pending_task> tasks_;
};

}  // namespace holdfast::test
