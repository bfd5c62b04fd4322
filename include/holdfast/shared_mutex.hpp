#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

#include "holdfast/client.hpp"
#include "holdfast/detail/lockable.hpp"
#include "holdfast/lease.hpp"

namespace holdfast {

/// A named lock that many may read, or one may write: as std::shared_timed_mutex, among all clients
/// with the same servers, database, prefix and key. std::unique_lock and std::shared_lock work.
///
///   to write   lock, acquire and the like: all that mutex has, with the same meaning. A mutex on
///              the same key, and other libraries on it, count as writers, and are kept out by
///              readers
///   to read    the same words with `_shared`. What they block on, throw and require is said at
///              mutex, too. shared() is a lock whose holders read, with every overload there is
///
/// Who excludes whom: no writer is valid while anybody else is (T1). A reader who crashes keeps
/// writers out for its ttl and no longer, however many read; a thousand readers cost a writer no
/// more than one.
///
/// Waiting: with one server readers and writers stand in one line, in the order of arrival. Who
/// comes while anybody stands in it is held back, also readers while others read: so a writer gets
/// its turn, however many come to read. When it is a reader's turn, all readers behind it have
/// theirs, up to the next writer. In a quorum there is no line: readers join those who read, and
/// writers get the lock when nobody does; of one client, readers stand behind writers who came
/// before.
///
/// Fencing: a writer's token is larger than those of all who held the lock before it asked, readers
/// too, and a reader's is larger than those of all writers before it (T2). With one server every
/// reader has a token of its own; in a quorum readers who read at the same time may have the same.
///
/// Leases of readers are renewed, lost, announced and released as all are. lease::owner() of a
/// reader begins with `hr1:`. To take the lock by force takes it from all who read.
/// REQUIRES: as of mutex. A thread that reads does not lock to write before it has unlocked: it
/// would wait for itself.
class shared_mutex : public detail::lockable {
  public:
    /// As that of mutex.
    shared_mutex(client& through, std::string key, acquire_options how = {});
    ~shared_mutex();

    /// The readers' side, as a lock by itself: its lock() is lock_shared(), and so on.
    class reading : public detail::lockable {
      public:
        reading(client& through, std::string key, acquire_options how = {});
        ~reading();
    };
    [[nodiscard]] reading& shared() noexcept { return reading_; }
    [[nodiscard]] const reading& shared() const noexcept { return reading_; }

    void lock_shared() { reading_.lock(); }
    void lock_shared(std::error_code& error) { reading_.lock(error); }
    bool try_lock_shared() { return reading_.try_lock(); }
    bool try_lock_shared(std::error_code& error) { return reading_.try_lock(error); }
    template <typename Rep, typename Period, typename... Error>
    bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& wait, Error&... error) {
        return reading_.try_lock_for(wait, error...);
    }
    template <typename Clock, typename Duration, typename... Error>
    bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& when,
                               Error&... error) {
        return reading_.try_lock_until(when, error...);
    }
    void unlock_shared() noexcept { reading_.unlock(); }
    void unlock_shared(std::error_code& error) noexcept { reading_.unlock(error); }
    /// As current(), of lock_shared().
    [[nodiscard]] const lease* current_shared() const noexcept { return reading_.current(); }

    /// As acquire(), try_acquire(), and so on, with the same arguments behind; options in braces:
    /// shared().acquire({.ttl = 5s}).
    template <typename... Arguments>
    [[nodiscard]] auto acquire_shared(Arguments&&... how) {
        return reading_.acquire(std::forward<Arguments>(how)...);
    }
    template <typename... Arguments>
    [[nodiscard]] acquisition try_acquire_shared(Arguments&&... how) {
        return reading_.try_acquire(std::forward<Arguments>(how)...);
    }
    template <typename Rep, typename Period, typename... Arguments>
    [[nodiscard]] acquisition try_acquire_shared_for(const std::chrono::duration<Rep, Period>& wait,
                                                     Arguments&&... how) {
        return reading_.try_acquire_for(wait, std::forward<Arguments>(how)...);
    }
    template <typename Clock, typename Duration, typename... Arguments>
    [[nodiscard]] acquisition try_acquire_shared_until(
        const std::chrono::time_point<Clock, Duration>& when, Arguments&&... how) {
        return reading_.try_acquire_until(when, std::forward<Arguments>(how)...);
    }

    /// As async_acquire() and so on: holdfast/asio.hpp.
    template <typename... Arguments>
    auto async_acquire_shared(Arguments&&... how) {
        return reading_.async_acquire(std::forward<Arguments>(how)...);
    }
    template <typename Rep, typename Period, typename... Arguments>
    auto async_try_acquire_shared_for(const std::chrono::duration<Rep, Period>& wait,
                                      Arguments&&... how) {
        return reading_.async_try_acquire_for(wait, std::forward<Arguments>(how)...);
    }
    template <typename Clock, typename Duration, typename... Arguments>
    auto async_try_acquire_shared_until(const std::chrono::time_point<Clock, Duration>& when,
                                        Arguments&&... how) {
        return reading_.async_try_acquire_until(when, std::forward<Arguments>(how)...);
    }

    /// Goes on reading where it wrote, with nobody in between; readers may join from then on. The
    /// token, the deadline and the options stay, and the writer's stop_token says nothing any more.
    /// Blocks for one round trip. Where that is not answered the lease reads all the same: the
    /// servers are told with its next renewal, and until then keep others out.
    /// Throws errc::lost where it is lost, also after its stop_token has stopped; errc::not_held
    /// after release() or detach(); errc::invalid_option where it is no writer's of this lock and
    /// client. What was given is released then.
    [[nodiscard]] lease downgrade(lease held);

    /// The same for the calling thread, which locked, and goes on as if it had lock_shared. Throws
    /// errc::not_held, too, where it did not.
    void downgrade();

  private:
    reading reading_;
};

}  // namespace holdfast
