#pragma once

#include <cstdint>

/// Deliberate breakages of the rules, at most one at a time. `sim/mutants/mutants.cpp` says what
/// each one is; a simulator whose checkers miss one proves less than it claims.
///
/// They exist only in the copies of what ships that the program for mutants is built from
/// (`sim/mutants/mutate.cmake`), and in the scripts, as replaced text.
namespace holdfast::sim {

enum class breakage : std::uint8_t {
    none,
    // src/core
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
    next_holder_keeps_the_token,
    handed_off_at_any_age,
    quarantine_not_asked,
    handed_to_latecomers,
    spare_token_for_a_latecomer,
    shown_owner_handed_off,
    untracked_server_asked,
    another_floor_not_waited_for,
    turn_lost_with_the_holder,
    only_the_last_debt_is_kept,
    debts_of_another_node_settled,
    no_look_in_line,
    // src/scripts
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
    newcomer_at_the_head,
    free_lock_taken_past_the_line,
    dead_are_granted,
    grant_for_ever,
    grant_for_long,
    claim_not_extended,
    any_holder_taken_for_ours,
    release_calls_nobody,
    anothers_lock_passed_on,
    queue_for_ever,
    look_stands_in_line_again,
    entry_stays_in_line,
    // src/kinds
    absent_key_taken_for_a_grant,
    refusal_taken_for_not_ours,
    ttl_in_whole_seconds,
    // src/net
    not_enlisted_after_reconnect,
    quarantine_of_a_millisecond,
    enlisting_refused_and_ignored,
    emptied_unnoticed,
    missing_script_answered_too_late,
    syncing_server_trusted,
    emptied_unnoticed_in_handshake,
    tracking_after_enlisting,
    missing_script_is_no_answer,
    partial_write_taken_for_whole,
    unread_requests_never_reported,
    caching_answer_taken_for_the_vote,
    late_request_leaves_the_line,
    record_of_the_first_connection,
    unfit_for_good,
    // src/runtime
    no_allowance_for_clock_rate,
    owner_token_used_again,
    unknown_not_cleaned_up,
    owed_release_forgotten,
    concluded_before_all_is_written,
    tokens_of_next_holders_not_drawn,
    released_and_handed_off,
    guard_time_forgotten,
    undo_forgotten_where_unanswered,
    undo_of_another_owner,
    refused_release_forgotten,
    debt_is_paid_once,
    unanswered_release_forgotten,
    unanswered_release_counts,
    loss_not_announced,
    watchdog_looks_late,
    renewal_is_believed_when_disowned,
    renewal_asks_for_half,
    turn_kept_by_who_leaves,
    place_not_left,
    place_kept_after_no_answer,
    call_believed,
    line_passed_by_set,
    quiet_after_a_denial,
    owed_leave_without_entry,
    fair_handed_off,
    listening_forgotten,
    useless_place_kept,
    leaving_owed_for_a_ttl,
};

inline constexpr std::size_t breakage_count = 103;

inline breakage active_breakage = breakage::none;

inline bool broken(breakage which) { return active_breakage == which; }

}  // namespace holdfast::sim
