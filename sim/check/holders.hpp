#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/server/keyspace.hpp"
#include "sim/server/server.hpp"

/// Who holds the lock at one server, where some of those who want it only read: its value names
/// one of several.
namespace holdfast::sim {

inline constexpr std::string_view lock_key = "lock";
inline constexpr std::string_view readers_key = "holdfast:{lock}:readers";

/// An owner token of one who reads.
bool reads(std::string_view owner);
/// Under which a reader wrote before, if it did.
std::string writer_of(std::string_view reader);

inline constexpr auto for_ever_ms = std::numeric_limits<std::int64_t>::max();

struct holding {
    std::string owner;
    std::int64_t until_ms = 0;  // by the server's clock
};

struct holders {
    std::vector<holding> all{};
    std::vector<std::string> ended{};  // within the rounding of clocks: it may be theirs still
    std::int64_t lock_until_ms = 0;    // when the lock itself is gone

    [[nodiscard]] const holding* find(std::string_view owner) const;
    /// Of one of them: whichever ends first.
    [[nodiscard]] std::int64_t until_ms(const holding& which) const;
    /// The lock lives on when all of them have ended.
    [[nodiscard]] bool are_outlived() const;
};

holders holders_in(const keyspace& data, keyspace::wall_time now);
/// Until when it does; 0: it does not.
std::int64_t held_until_ms(const keyspace& data, std::string_view owner, keyspace::wall_time now);

/// What one command has made of it.
struct lock_change {
    using owners = boost::container::small_vector<std::string_view, 4>;

    bool was_askers = false;  // it held the lock, or had when it wrote
    bool is_askers = false;
    bool took_from_others = false;  // who hold it no more, or for less time
    bool asker_wrote = false;       // and reads now
    owners now{};                   // who holds it now
    owners newcomers{};             // and did not before

    [[nodiscard]] bool holds(std::string_view owner) const;
};

/// Where one alone can hold it.
lock_change change_by(const execution& what);
lock_change change_by(const execution& what, const holders& before, const holders& after);

}  // namespace holdfast::sim
