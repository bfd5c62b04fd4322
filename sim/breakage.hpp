#pragma once

#include <cstdint>

/// Deliberate breakages of the rules, at most one at a time. `sim/mutants.cpp` says what each one
/// is; a simulator whose checkers miss one proves less than it claims.
///
/// In the core they exist only in the copy that `holdfast-sim-mutants` is built from
/// (`sim/mutants/core.cmake`); in the scripts, as replaced text; in the simulator's driver, here.
namespace holdfast::sim {

enum class breakage : std::uint8_t {
    none,
    // core
    no_second_look,
    validity_from_reply,
    token_without_commit,
    token_of_the_first,
    disowned_counts_as_committed,
    quorum_of_half,
    unknown_counted_as_denied,
    cleanup_of_the_granted_only,
    renewal_after_the_deadline,
    renewal_by_one_node,
    renewal_valid_from_reply,
    never_renewed,
    no_notice,
    release_reported_without_majority,
    clock_jump_ignored,
    waits_for_word_alone,
    heir_keeps_the_token,
    inherited_at_any_age,
    quarantine_not_asked,
    handed_to_latecomers,
    spare_token_for_a_latecomer,
    shown_owner_handed_on,
    untracked_server_asked,
    another_floor_not_waited_for,
    // scripts
    acquire_overwrites,
    acquire_never_expires,
    counter_not_raised,
    counter_rolled_back,
    counter_starts_at_one,
    commit_without_owner_check,
    commit_lowers_the_counter,
    release_without_owner_check,
    extend_without_owner_check,
    extend_creates,
    enlist_believes_every_record,
    life_without_replication_id,
    quarantine_hidden_by_onlookers,
    life_from_the_restart,
    floor_compared_alone,
    max_ttl_not_compared,
    // driver
    no_allowance_for_clock_rate,
    owner_token_used_again,
    unknown_not_cleaned_up,
    owed_release_forgotten,
    not_enlisted_after_reconnect,
    quarantine_of_a_millisecond,
    enlisting_refused_and_ignored,
    emptied_unnoticed,
    missing_script_answered_too_late,
    concluded_before_all_is_written,
    tokens_of_heirs_not_drawn,
    released_and_passed_on,
    syncing_server_trusted,
    emptied_unnoticed_in_handshake,
    tracking_after_enlisting,
};

inline constexpr std::size_t breakage_count = 55;

inline breakage active_breakage = breakage::none;

inline bool broken(breakage which) { return active_breakage == which; }

}  // namespace holdfast::sim
