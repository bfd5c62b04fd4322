#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "core/timing.hpp"
#include "holdfast/options.hpp"
#include "kinds/calls.hpp"
#include "kinds/exclusive.hpp"

namespace holdfast::runtime {

/// Everything about one lock that stays the same from attempt to attempt: checked once, shared by
/// whatever works on it.
struct plan {
    /// The key as it was given.
    [[nodiscard]] const std::string& name() const { return given ? *given : keys.lock; }

    /// What a request says of it, in the name of an owner.
    [[nodiscard]] kinds::claim claim_by(std::string_view owner, std::string_view entry = {}) const {
        return {
            .of = keys, .owner = owner, .ttl = timing.ttl, .retention = retention, .entry = entry};
    }

    /// When nothing is left at a server of what was asked for so far. A vote that nobody has heard
    /// of may have been given this moment, and an entry may be granted the lock as long as it is
    /// kept.
    [[nodiscard]] core::time_point gone_at(core::time_point now, bool in_line) const {
        return now + (in_line ? std::max(timing.ttl, kinds::leaving_owed_for) : timing.ttl);
    }

    const kinds::kind* kind = &kinds::exclusive();
    kinds::keys keys;
    std::unique_ptr<const std::string> given;  // null: there is no prefix
    core::timing timing;
    core::duration retention{};
    core::duration notice{};
    core::duration max_hold{};  // zero: no cap
    bool renewing = true;
    bool await_release = true;
    bool fair = false;
    std::string label;  // the readable end of the owner token
};

using plan_pointer = std::shared_ptr<const plan>;

/// Throws std::system_error with errc::invalid_key or errc::invalid_option.
/// `permits`: of a semaphore.
plan_pointer make_plan(const options& client, std::string_view key, const acquire_options& how,
                       const kinds::kind& which = kinds::exclusive(), std::uint32_t permits = 0);

/// The same lock, taken as another kind.
plan_pointer as_kind(const plan& what, const kinds::kind& which);

/// For what takes no lock, and so has no ttl: only the key is checked.
plan_pointer make_plan(const options& client, std::string_view key);

/// Throws std::system_error with errc::invalid_option.
void check(const options& client);

}  // namespace holdfast::runtime
