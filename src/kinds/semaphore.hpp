#pragma once

#include <chrono>
#include <cstdint>
#include <ratio>
#include <string>
#include <string_view>

#include "kinds/kind.hpp"

namespace holdfast::kinds {

/// As many holders as there are permits, each with the number of its slot. What is at the key is no
/// string: a lock of another kind there, or one that comes later, is refused by the server.
///
/// One voter only: the votes of several could add up to more holders than there are permits.
const kind& semaphore() noexcept;

/// How a semaphore is kept: src/scripts/semaphore/permits.lua. Its first member, by which it is
/// known, and whose score says how many permits there are; then holders by their scores.
inline constexpr std::string_view limit_member = "holdfast:limit";
std::uint32_t read_limit(double score);

using hundredths = std::chrono::duration<std::int64_t, std::centi>;
struct permit {
    std::uint32_t slot = 0;
    hundredths over_at{};  // of the server's clock
};
permit read_permit(double score);
/// Whose permit is not over has no lower score.
std::string lowest_score_alive_at(std::chrono::microseconds now);

/// Asks for another limit: answered by the one so far, or 0.
void append_set_limit(std::string& out, const keys& of, std::uint32_t limit,
                      core::duration retention);

}  // namespace holdfast::kinds
