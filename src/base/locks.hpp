#pragma once

#include <mutex>

/// Locks whose discipline clang checks (-Wthread-safety, test/repository/thread_safety), and the
/// words in which declarations state it. To other compilers the words mean nothing.
///
///   HOLDFAST_LOCKED              a function: called with the client's lock held
///   HOLDFAST_UNLOCKED            a function: called without it, because it takes it, or takes long
///   HOLDFAST_GUARDED             a member: read and written with the client's lock held
///   HOLDFAST_REQUIRES(guard_)    as HOLDFAST_LOCKED and HOLDFAST_GUARDED, of a thread_mutex
///   HOLDFAST_GUARDED_BY(guard_)
///   HOLDFAST_UNCHECKED           a function: the compiler cannot follow it; a comment says why
///
/// One lock guards nearly everything of a client, and that is spread over nodes, connections,
/// timers and operations, which do not know the mutex. So the compiler does not follow the mutex
/// but a role, `client_locked`: this thread holds the lock of the client that the object belongs
/// to. A client_lock takes both. Whose lock it is of several clients the role does not tell;
/// nothing in src/ has to do with two.
///
/// A function without a word may be called either way. An override repeats the words of what it
/// overrides. Not checked: constructors and destructors, and calls through std::function, so that a
/// lambda which is called later with the lock held says so itself.
#if defined(__clang__)
#define HOLDFAST_ATTRIBUTE(which) __attribute__((which))
#else
#define HOLDFAST_ATTRIBUTE(which)
#endif

#define HOLDFAST_LOCKED HOLDFAST_REQUIRES(::holdfast::base::client_locked)
#define HOLDFAST_UNLOCKED HOLDFAST_ATTRIBUTE(locks_excluded(::holdfast::base::client_locked))
#define HOLDFAST_GUARDED HOLDFAST_GUARDED_BY(::holdfast::base::client_locked)
#define HOLDFAST_REQUIRES(guard) HOLDFAST_ATTRIBUTE(requires_capability(guard))
#define HOLDFAST_GUARDED_BY(guard) HOLDFAST_ATTRIBUTE(guarded_by(guard))
#define HOLDFAST_UNCHECKED HOLDFAST_ATTRIBUTE(no_thread_safety_analysis)

#define HOLDFAST_CAPABILITY HOLDFAST_ATTRIBUTE(capability("lock"))
#define HOLDFAST_SCOPED HOLDFAST_ATTRIBUTE(scoped_lockable)
#define HOLDFAST_ACQUIRES(...) HOLDFAST_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define HOLDFAST_RELEASES(...) HOLDFAST_ATTRIBUTE(release_capability(__VA_ARGS__))

namespace holdfast::base {

/// Nothing at run time: what the compiler counts as held.
class HOLDFAST_CAPABILITY client_role {};
inline constexpr client_role client_locked;

/// Guards everything of one client, but what says otherwise. Only a client_lock can take it.
class client_mutex {
  public:
    client_mutex() = default;
    client_mutex(const client_mutex&) = delete;
    client_mutex& operator=(const client_mutex&) = delete;

  private:
    friend class client_lock;
    std::mutex mutex_;
};

/// Holds a client's lock while it lives, but for the time between unlock() and lock().
class HOLDFAST_SCOPED client_lock {
  public:
    explicit client_lock(client_mutex& which) HOLDFAST_ACQUIRES(client_locked)
        : lock_(which.mutex_) {}
    /// By this clang 14 knows that who is given one by a function holds the lock.
    client_lock(client_lock&& other) noexcept HOLDFAST_ACQUIRES(client_locked) = default;
    ~client_lock() HOLDFAST_RELEASES() = default;

    // What std::unique_lock does the compiler does not know.
    void lock() HOLDFAST_ACQUIRES(client_locked) HOLDFAST_UNCHECKED { lock_.lock(); }
    void unlock() HOLDFAST_RELEASES(client_locked) HOLDFAST_UNCHECKED { lock_.unlock(); }

  private:
    std::unique_lock<std::mutex> lock_;
};

/// Lets go of a client's lock while it lives, and takes it again whatever happens.
class HOLDFAST_SCOPED client_unlock {
  public:
    explicit client_unlock(client_lock& lock) HOLDFAST_RELEASES(client_locked) : lock_(lock) {
        lock_.unlock();
    }
    ~client_unlock() HOLDFAST_RELEASES() { lock_.lock(); }  // that is: undoes what it did

    client_unlock(const client_unlock&) = delete;
    client_unlock& operator=(const client_unlock&) = delete;

  private:
    client_lock& lock_;
};

/// Between the threads of this process, for what belongs to no client. Only a thread_lock takes it.
class HOLDFAST_CAPABILITY thread_mutex {
  public:
    thread_mutex() = default;
    thread_mutex(const thread_mutex&) = delete;
    thread_mutex& operator=(const thread_mutex&) = delete;

  private:
    friend class thread_lock;
    std::mutex mutex_;
};

class HOLDFAST_SCOPED thread_lock {
  public:
    explicit thread_lock(thread_mutex& which) HOLDFAST_ACQUIRES(which) : lock_(which.mutex_) {}
    ~thread_lock() HOLDFAST_RELEASES() = default;

    thread_lock(const thread_lock&) = delete;
    thread_lock& operator=(const thread_lock&) = delete;

  private:
    std::lock_guard<std::mutex> lock_;
};

}  // namespace holdfast::base
