#pragma once

#include "holdfast/detail/timed.hpp"
#include "holdfast/mutex.hpp"

namespace holdfast {

/// A mutex that the thread that holds it may lock again. Re-entry is counted per object and thread,
/// asks no server, blocks on nothing, and does not look at the deadline: after a loss it still
/// succeeds, and current() tells. Each successful lock needs one unlock(); the last one releases.
///
/// Its members do what those of mutex do, and require the same. There are none that return leases.
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

    /// How often the calling thread has locked it; 0: it does not hold it, or this
    /// is a child.
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
