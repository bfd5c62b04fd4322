#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "holdfast/detail/language.hpp"

namespace holdfast {

/// Durations counted by powers of two of a microsecond: bucket n holds those below 2^n us, and at
/// least half of that; the last one also all above. A plain value: no allocation, no locking.
class histogram {
  public:
    static constexpr std::size_t bucket_count = 48;

    void add(std::chrono::nanoseconds value) noexcept {
        const auto us = value.count() <= 0 ? 0U : static_cast<std::uint64_t>(value.count()) / 1000U;
        const auto bucket = static_cast<std::size_t>(std::bit_width(us));
        ++buckets_[bucket < bucket_count ? bucket : bucket_count - 1];
        ++count_;
        sum_ += value;
        if (value > largest_) largest_ = value;
    }

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] std::chrono::nanoseconds sum() const noexcept { return sum_; }
    [[nodiscard]] std::chrono::nanoseconds largest() const noexcept { return largest_; }
    [[nodiscard]] const std::array<std::uint64_t, bucket_count>& buckets() const noexcept {
        return buckets_;
    }

    /// An upper bound of the given fraction of the values, good to a factor of two. REQUIRES: the
    /// fraction is from 0 to 1.
    [[nodiscard]] std::chrono::microseconds quantile(double fraction) const noexcept {
        auto wanted = static_cast<std::uint64_t>(fraction * static_cast<double>(count_));
        for (std::size_t n = 0; n < bucket_count; ++n) {
            if (buckets_[n] > wanted) return std::chrono::microseconds(std::int64_t{1} << n);
            wanted -= buckets_[n];
        }
        return std::chrono::duration_cast<std::chrono::microseconds>(largest_);
    }

  private:
    std::array<std::uint64_t, bucket_count> buckets_{};
    std::uint64_t count_ = 0;
    std::chrono::nanoseconds sum_{};
    std::chrono::nanoseconds largest_{};
};

/// A snapshot of what a client has done since it was made: client::statistics().
struct statistics {
    std::uint64_t acquired = 0;   // leases, those handed off included
    std::uint64_t denied = 0;     // attempts that met another holder, or a quarantine
    std::uint64_t waited = 0;     // of those acquired: not at once
    std::uint64_t inherited = 0;  // of those acquired: handed off by another holder of this client
    std::uint64_t renewed = 0;    // renewals and extensions that a majority confirmed
    std::uint64_t lost = 0;       // leases that were lost before their release
    std::uint64_t released = 0;   // releases that a majority confirmed, and hand-offs
    std::uint64_t failed = 0;     // acquires that ended in an error, cancelled ones included
    std::uint64_t connected = 0;  // handshakes completed
    std::uint64_t held_now = 0;
    histogram wait_time;  // of acquires that succeeded: from the call to the lease
    histogram hold_time;  // from the lease to its release, loss or detach()
};

}  // namespace holdfast
