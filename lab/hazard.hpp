#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lab/matrix.hpp"
#include "lab/stage.hpp"

namespace holdfast::lab {

inline verdict safe(std::string evidence) { return {judgement::safe, std::move(evidence)}; }
inline verdict broken(std::string evidence) { return {judgement::broken, std::move(evidence)}; }

/// Something that happens to real systems, as a script of steps on a stage. It knows the scheme
/// by its few properties only, so that all are treated alike.
struct hazard_entry {
    std::string_view name;
    std::string_view summary;
    props wanted;
    /// Why it cannot happen to a scheme; nothing if it can.
    std::optional<std::string> (*excused)(const scheme_entry&);
    verdict (*play)(stage&);
    verdict (*play_watched)(stage&) = nullptr;  // behind Sentinels; null: as with one server
};

std::span<const hazard_entry> hazards();
const hazard_entry* find_hazard(std::string_view name);

verdict crash_between_commands(stage&);
verdict check_then_set(stage&);
verdict skewed_client(stage&);
verdict loser_changes_lock(stage&);
verdict released_by_stranger(stage&);
verdict work_outlives_ttl(stage&);
verdict paused_holder_deletes(stage&);
verdict release_races_expiry(stage&);
verdict master_dies(stage&);
verdict restarts_empty(stage&);
verdict answer_lost(stage&);
verdict paused_holder_writes(stage&);
verdict clock_just_jumped(stage&);
verdict clock_jumped_before(stage&);
verdict minority_hangs(stage&);
verdict master_cut_off(stage&);

// Behind Sentinels.
verdict watched_master_dies(stage&);
verdict watched_master_cut_off(stage&);

}  // namespace holdfast::lab
