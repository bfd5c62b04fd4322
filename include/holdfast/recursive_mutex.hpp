#pragma once

#include "holdfast/detail/timed.hpp"
#include "holdfast/mutex.hpp"

namespace holdfast {

/// A mutex that the thread that holds it may lock again. Re-entry is counted here, per thread and
/// per object, and costs no round trip. The lock is given back by as many unlock() as lock().
///
/// Its members do what mutex's of the same name do. There are none that return leases: whoever
/// wants them has no use for counting. Locking again does not look at the deadline: ask current()
/// whether what this thread holds is still valid.
class recursive_mutex : public detail::timed<recursive_mutex> {
  public:
    recursive_mutex(client& through, std::string key, acquire_options how = {});
    recursive_mutex(const recursive_mutex&) = delete;
    recursive_mutex& operator=(const recursive_mutex&) = delete;
    ~recursive_mutex();

    void lock();
    void lock(std::error_code& error);
    bool try_lock();
    bool try_lock(std::error_code& error);

    void unlock() noexcept;
    void unlock(std::error_code& error) noexcept;

    [[nodiscard]] const lease* current() const noexcept { return inner_.current(); }

    /// How often the calling thread has locked it.
    [[nodiscard]] std::size_t depth() const noexcept;

  private:
    class depths;

    friend class detail::timed<recursive_mutex>;

    bool lock_until(clock::time_point when);
    bool lock_until(clock::time_point when, std::error_code& error);
    bool reenter();
    bool enter(bool locked);

    mutex inner_;
    std::unique_ptr<depths> depths_;
};

}  // namespace holdfast
