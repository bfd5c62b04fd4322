#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/locks.hpp"
#include "core/timing.hpp"
#include "holdfast/options.hpp"
#include "kinds/calls.hpp"
#include "kinds/exclusive.hpp"

namespace holdfast::runtime {

class hold;

/// Who stands for election: what it would lead with, and the last lease by which it did.
struct candidacy {
    explicit candidacy(std::string with) : value(std::move(with)) {}

    const std::string value;
    std::weak_ptr<hold> lease HOLDFAST_GUARDED;
};

/// Everything about one lock that stays the same from attempt to attempt: checked once, shared by
/// whatever works on it.
struct plan {
    /// The key as it was given; of several all of them, with commas in between.
    [[nodiscard]] const std::string& name() const { return given ? *given : keys.lock; }

    /// What a request says of it, in the name of an owner.
    [[nodiscard]] kinds::claim claim_by(std::string_view owner, std::string_view entry = {}) const {
        kinds::claim what{
            .of = keys, .owner = owner, .ttl = timing.ttl, .retention = retention, .entry = entry};
        if (candidate) what.note = candidate->value;
        return what;
    }

    /// When nothing is left at a server of what was asked for so far. A vote that nobody has heard
    /// of may have been given this moment, and an entry may be granted the lock as long as it is
    /// kept.
    [[nodiscard]] core::time_point gone_at(core::time_point now, bool in_line) const {
        return now + (in_line ? std::max(timing.ttl, kinds::leaving_owed_for) : timing.ttl);
    }

    const kinds::kind* kind = &kinds::exclusive();
    kinds::keys keys;
    std::unique_ptr<const std::string> given;  // null: it is the lock's own, without a prefix
    core::timing timing;
    core::duration retention{};
    core::duration notice{};
    core::duration max_hold{};  // zero: no cap
    bool renewing = true;
    bool await_release = true;
    bool fair = false;
    std::string label;                     // the readable end of the owner token
    std::shared_ptr<candidacy> candidate;  // null: it is no election
};

using plan_pointer = std::shared_ptr<const plan>;

/// Throws std::system_error with errc::invalid_key or errc::invalid_option.
/// `permits`: of a semaphore.
plan_pointer make_plan(const options& client, std::string_view key, const acquire_options& how,
                       const kinds::kind& which = kinds::exclusive(),
                       std::shared_ptr<candidacy> candidate = nullptr, std::uint32_t permits = 0);

/// The same for several keys at once: as list_of() has them. With one it is a plan for that.
plan_pointer make_plan(const options& client, std::span<const std::string> keys,
                       const acquire_options& how);

/// What is meant by a list of keys: sorted, each of them once. The order in which they were given
/// means nothing, and neither does one that is given twice. Throws errc::invalid_key where there is
/// none, or more than max_keys.
std::vector<std::string> list_of(std::vector<std::string> keys);

/// For messages: with commas in between.
std::string name_of(std::span<const std::string> keys);

/// The same lock, taken as another kind.
plan_pointer as_kind(const plan& what, const kinds::kind& which);

/// For what takes no lock, and so has no ttl: only the key is checked.
plan_pointer make_plan(const options& client, std::string_view key);

/// Throws std::system_error with errc::invalid_option.
void check(const options& client);

}  // namespace holdfast::runtime
