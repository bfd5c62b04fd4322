#pragma once

#include <chrono>
#include <system_error>

#include "holdfast/detail/deadline.hpp"

namespace holdfast::detail {

/// try_lock_for and try_lock_until, by the `lock_until(clock::time_point)` of Derived. False: the
/// time was over. Without time to wait, one attempt.
template <typename Derived>
class timed {
  public:
    template <typename Rep, typename Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
        return self().lock_until(from_now(wait));
    }
    template <typename Rep, typename Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period>& wait, std::error_code& error) {
        return self().lock_until(from_now(wait), error);
    }
    template <typename Clock, typename Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration>& when) {
        return self().lock_until(on_our_clock(when));
    }
    template <typename Clock, typename Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration>& when,
                        std::error_code& error) {
        return self().lock_until(on_our_clock(when), error);
    }

  protected:
    timed() = default;
    ~timed() = default;

  private:
    Derived& self() { return static_cast<Derived&>(*this); }
};

}  // namespace holdfast::detail
