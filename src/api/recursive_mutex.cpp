#include "holdfast/recursive_mutex.hpp"

#include <thread>
#include <unordered_map>
#include <utility>

#include "api/access.hpp"
#include "base/locks.hpp"
#include "holdfast/error.hpp"

namespace holdfast {
namespace {

// What only counts would succeed in a forked child, too; there everything is left to `inner`,
// which refuses.
bool in_child(const mutex& inner) { return detail::access::shared(inner)->engine()->in_child(); }

}  // namespace

/// How often each thread has locked it. Threads that do not hold it have no entry.
class recursive_mutex::depths {
  public:
    [[nodiscard]] std::size_t mine() const {
        const base::thread_lock lock(guard_);
        const auto found = depth_.find(std::this_thread::get_id());
        return found == depth_.end() ? 0 : found->second;
    }
    void enter() {
        const base::thread_lock lock(guard_);
        ++depth_[std::this_thread::get_id()];
    }
    /// Returns the depth that is left.
    std::size_t leave() {
        const base::thread_lock lock(guard_);
        const auto found = depth_.find(std::this_thread::get_id());
        if (--found->second > 0) return found->second;
        depth_.erase(found);
        return 0;
    }

  private:
    mutable base::thread_mutex guard_;
    std::unordered_map<std::thread::id, std::size_t> depth_ HOLDFAST_GUARDED_BY(guard_);
};

recursive_mutex::recursive_mutex(client& through, std::string key, acquire_options how)
    : inner_(through, std::move(key), how), depths_(std::make_unique<depths>()) {}

recursive_mutex::~recursive_mutex() = default;

std::size_t recursive_mutex::depth() const noexcept {
    return in_child(inner_) ? 0 : depths_->mine();
}

bool recursive_mutex::reenter() {
    if (depth() == 0) return false;
    depths_->enter();
    return true;
}

// What cannot be counted is not kept: nobody would unlock it.
bool recursive_mutex::enter(bool locked) {
    if (!locked) return false;
    try {
        depths_->enter();
    } catch (...) {
        inner_.unlock();
        throw;
    }
    return true;
}

void recursive_mutex::lock() {
    if (reenter()) return;
    inner_.lock();
    enter(true);
}

void recursive_mutex::lock(std::error_code& error) {
    detail::catching(error, [this] { lock(); });
}

bool recursive_mutex::try_lock() { return reenter() || enter(inner_.try_lock()); }

bool recursive_mutex::try_lock(std::error_code& error) {
    return detail::catching(error, [this] { return try_lock(); });
}

bool recursive_mutex::lock_until(clock::time_point when) {
    return reenter() || enter(inner_.try_lock_until(when));
}

bool recursive_mutex::lock_until(clock::time_point when, std::error_code& error) {
    return detail::catching(error, [&] { return lock_until(when); });
}

void recursive_mutex::unlock() noexcept {
    if (depth() == 0 || depths_->leave() == 0) inner_.unlock();  // reports what is not held
}

void recursive_mutex::unlock(std::error_code& error) noexcept {
    error.clear();
    if (depth() == 0 || depths_->leave() == 0) inner_.unlock(error);
}

}  // namespace holdfast
