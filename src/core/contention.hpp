#pragma once

#include <cstdint>

#include "core/fencing_token.hpp"
#include "core/hand_off.hpp"
#include "core/time.hpp"
#include "core/tuning.hpp"

/// What a process remembers of others who are after the same key, from one of its callers to the
/// next. Whoever has just had the lock gives way to them, if it knows of any: first for as long as
/// they need to be notified and to ask, then for a while in which asking would be in vain.
///
/// How long that is, is learned. Who is notified of a release, asks, and comes too late has met
/// more than one who waits: all stay away longer, by a fixed step. Who finds the lock free has
/// stayed away too long: less by a fraction, so that those who stay away longest come back most.
///
/// Fencing tokens tell whether giving way was of use: where the next follows the last one of this
/// process, nobody was there. After a few times in vain nobody is expected any more.
namespace holdfast::core {

struct contention {
    static constexpr duration step = tuning::contention::step;
    static constexpr duration longest = tuning::contention::longest;
    static constexpr std::uint8_t most_in_vain = tuning::contention::most_in_vain;

    bool known = false;
    duration spread{0};        // over which it was good to part from them
    fencing_token last{};      // that this process has drawn; zero: not known
    std::uint8_t in_vain = 0;  // how often in a row nobody was met

    /// How the lock was won from one server.
    struct history {
        bool denied = false;  // at first
        bool raced = false;   // by asking as soon as it was notified of a release
        duration spread{0};   // as it has become
        grant gained{};
    };

    /// What to remember then.
    [[nodiscard]] contention after(const history& won) const;

    friend bool operator==(const contention&, const contention&) = default;
};

/// Over how long to part from others after another race was lost.
duration wider(duration spread);

/// A while around that.
duration while_away(duration spread, std::uint64_t chance);

}  // namespace holdfast::core
