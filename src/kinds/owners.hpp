#pragma once

#include <string_view>

/// How owner tokens begin, by which whoever finds one knows what it is: src/kinds/kind.hpp.
namespace holdfast::kinds {

inline constexpr std::string_view exclusive_owner = "hf1:";
inline constexpr std::string_view shared_owner = "hr1:";
inline constexpr std::string_view semaphore_owner = "hs1:";
inline constexpr std::string_view several_owner = "hm1:";
inline constexpr std::string_view election_owner = "he1:";
/// All of them are as long.
inline constexpr std::size_t owner_start_bytes = 4;

constexpr bool is_owner(std::string_view text) {
    return text.starts_with(exclusive_owner) || text.starts_with(shared_owner) ||
           text.starts_with(semaphore_owner) || text.starts_with(several_owner) ||
           text.starts_with(election_owner);
}

/// A lock with this value is read. It is the owner token of the first who read it, and stands for
/// all of them.
constexpr bool is_read_by(std::string_view owner) { return owner.starts_with(shared_owner); }

/// It has, or wants, other keys along with this one.
constexpr bool has_several(std::string_view owner) { return owner.starts_with(several_owner); }

/// A lock with this value is the leader's of an election.
constexpr bool is_led_by(std::string_view owner) { return owner.starts_with(election_owner); }

/// Whether two voters have a lock for the same: readers came to each in another order.
constexpr bool same_holders(std::string_view a, std::string_view b) {
    return a == b || (is_read_by(a) && is_read_by(b));
}

}  // namespace holdfast::kinds
