#include "sim/mutants/mutants.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace holdfast::sim {
namespace {

using enum breakage;
using place = mutant::place;

constexpr std::array<mutant, breakage_count> table{{
    {no_second_look, place::core, "no_second_look",
     "the clock is not looked at again after the deciding reply"},
    {validity_from_reply, place::core, "validity_from_reply",
     "the lease is believed from the reply on, not from the request"},
    {token_without_commit, place::core, "token_without_commit",
     "the largest counter is the token, and the others are not brought up to it"},
    {token_of_the_first, place::core, "token_of_the_first",
     "one node's counter is the token, not the largest"},
    {disowned_counts_as_committed, place::core, "disowned_counts_as_committed",
     "a node that belongs to somebody else by now counts as committed"},
    {quorum_of_half, place::core, "quorum_of_half", "half of the nodes are enough"},
    {unknown_counted_as_denied, place::core, "unknown_counted_as_denied",
     "no answer counts as a denial, so nothing needs to be cleaned up"},
    {cleanup_of_the_granted_only, place::core, "cleanup_of_the_granted_only",
     "a failed attempt releases only where it was granted"},
    {renewal_after_the_deadline, place::core, "renewal_after_the_deadline",
     "a renewal that is confirmed too late revives the lease"},
    {renewal_by_one_node, place::core, "renewal_by_one_node", "one extension renews the lease"},
    {renewal_valid_from_reply, place::core, "renewal_valid_from_reply",
     "a renewed lease is believed from the reply on"},
    {never_renewed, place::core, "never_renewed", "the renewal is never due"},
    {no_notice, place::core, "no_notice", "the loss is announced at the deadline, not before"},
    {release_reported_without_majority, place::core, "release_reported_without_majority",
     "one node's release is reported as the lease's"},
    {clock_jump_ignored, place::core, "clock_jump_ignored",
     "a server whose clock jumped keeps its vote"},
    {waits_for_word_alone, place::core, "waits_for_word_alone",
     "a waiter that was promised a push sets no timer"},
    {next_holder_keeps_the_token, place::core, "next_holder_keeps_the_token",
     "who takes a lease over within the process has its token, too"},
    {handed_off_at_any_age, place::core, "handed_off_at_any_age",
     "a lease is taken over within the process whatever is left of it"},
    {quarantine_not_asked, place::core, "quarantine_not_asked",
     "a server in quarantine is asked for its vote all the same"},
    {handed_to_latecomers, place::core, "handed_to_latecomers",
     "tokens are drawn for callers who have not asked yet, and they are handed the lock"},
    {spare_token_for_a_latecomer, place::core, "spare_token_for_a_latecomer",
     "who asks too late is handed the lock with the token of one who has gone meanwhile"},
    {shown_owner_handed_off, place::core, "shown_owner_handed_off",
     "a lease is taken over within the process although its holder has shown its owner"},
    {untracked_server_asked, place::core, "untracked_server_asked",
     "a guarded client asks for votes of servers that will not tell it when they are emptied"},
    {another_floor_not_waited_for, place::core, "another_floor_not_waited_for",
     "tokens are drawn above the floor of a quarantine that another client began, and that runs"},
    {turn_lost_with_the_holder, place::core, "turn_lost_with_the_holder",
     "nobody of the process has a turn when the holder lets go"},
    {only_the_last_debt_is_kept, place::core, "only_the_last_debt_is_kept",
     "of the releases that a server is owed only the last is kept"},
    {debts_of_another_node_settled, place::core, "debts_of_another_node_settled",
     "one server's answer settles what all of them are owed"},
    {no_look_in_line, place::core, "no_look_in_line",
     "who is called when it is its turn does not look by itself"},

    {acquire_overwrites, place::script, "acquire_overwrites", "SET without NX", "acquire",
     "'NX', 'PX', ARGV[2]", "'PX', ARGV[2]"},
    {acquire_never_expires, place::script, "acquire_never_expires", "SET without PX", "acquire",
     "'NX', 'PX', ARGV[2]", "'NX'"},
    {counter_not_raised, place::script, "counter_not_raised",
     "the fencing counter is read, not incremented", "acquire", "(counter or 0) + 1",
     "(counter or 0)"},
    {counter_rolled_back, place::script, "counter_rolled_back",
     "a counter that a crash has rolled back is counted on from", "acquire",
     "not counter or first < floor", "not counter"},
    {counter_starts_at_one, place::script, "counter_starts_at_one",
     "a lost counter starts at one, not at the clock", "acquire",
     "math.max(time[1] * 1000000 + time[2], first, floor)", "1"},
    {commit_without_owner_check, place::script, "commit_without_owner_check",
     "a counter is raised on a node that belongs to somebody else", "commit",
     "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end", ""},
    {commit_lowers_the_counter, place::script, "commit_lowers_the_counter",
     "a commit sets the counter to one below the token", "commit",
     "if counter < tonumber(ARGV[2]) then redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3]) end",
     "redis.call('DEL', KEYS[2]) redis.call('SET', KEYS[2], string.format('%.0f', "
     "tonumber(ARGV[2]) "
     "- 1), 'PX', ARGV[3])"},
    {release_without_owner_check, place::script, "release_without_owner_check",
     "a release deletes whoever's key it is", "release",
     "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end", ""},
    {extend_without_owner_check, place::script, "extend_without_owner_check",
     "a renewal extends whoever's key it is", "extend",
     "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end", ""},
    {extend_creates, place::script, "extend_creates", "a renewal creates a key that is gone",
     "extend", "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end",
     "redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) "
     "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end"},
    {enlist_believes_every_record, place::script, "enlist_believes_every_record",
     "a record of another life is as good as this one's", "enlist",
     "noted('run') == ARGV[1] and (noted('replication') == ARGV[2] or ARGV[3] == '1')",
     "noted('run')"},
    {life_without_replication_id, place::script, "life_without_replication_id",
     "a server that was demoted and promoted again is taken for the same life", "enlist",
     "(noted('replication') == ARGV[2] or ARGV[3] == '1')", "true"},
    {quarantine_hidden_by_onlookers, place::script, "quarantine_hidden_by_onlookers",
     "where a client without the guard came first, no quarantine begins", "enlist",
     "tonumber(noted('until')) or nil", "(tonumber(noted('until')) or now) or nil"},
    {life_from_the_restart, place::script, "life_from_the_restart",
     "a rolled-back counter is believed if it lies above the time of the restart", "enlist",
     "guarded and quarantined_until or 0", "0"},
    {floor_compared_alone, place::script, "floor_compared_alone",
     "a counter below the floor starts at the clock, even where that is below the floor", "acquire",
     "first, floor)", "first)"},
    {max_ttl_not_compared, place::script, "max_ttl_not_compared",
     "guarded clients of a server need not agree on max_ttl", "enlist",
     "and max_ttl and max_ttl ~= ARGV[5]", "and false"},
    {newcomer_at_the_head, place::script, "newcomer_at_the_head",
     "who comes is put at the head of the line", "queue_acquire",
     "redis.pcall('RPUSH', queue, entry)", "redis.pcall('LPUSH', queue, entry)"},
    {free_lock_taken_past_the_line, place::script, "free_lock_taken_past_the_line",
     "who finds the lock free takes it, whoever stands in line", "queue_acquire",
     "if type(waiting) == 'number' and waiting > 0 then holder = grant_next(lock, queue) end", ""},
    {dead_are_granted, place::script, "dead_are_granted",
     "a release does not look whether its call was heard", "queue_release", "if heard ~= 0 then",
     "if heard then"},
    {grant_for_ever, place::script, "grant_for_ever", "a grant that nobody claims does not expire",
     "queue_release", "redis.pcall('SET', lock, owner, 'PX', 2000)",
     "redis.pcall('SET', lock, owner)"},
    {grant_for_long, place::script, "grant_for_long",
     "a grant that nobody claims lasts for twenty seconds", "queue_release", "'PX', 2000",
     "'PX', 20000"},
    {claim_not_extended, place::script, "claim_not_extended",
     "who claims a grant has what is left of its two seconds", "queue_acquire",
     "redis.call('PEXPIRE', lock, ARGV[2])", ""},
    {any_holder_taken_for_ours, place::script, "any_holder_taken_for_ours",
     "whoever asks claims what another was granted", "queue_acquire", "elseif holder == owner then",
     "elseif holder then"},
    {release_calls_nobody, place::script, "release_calls_nobody",
     "a release deletes the lock, and leaves the line to its looks", "queue_release",
     "if grant_next(KEYS[1], KEYS[2], ARGV[1]) then return 2 end", ""},
    {anothers_lock_passed_on, place::script, "anothers_lock_passed_on",
     "a release passes the lock on, whoever has it", "queue_release",
     "if redis.call('GET', KEYS[1]) ~= ARGV[1] then", "if not redis.call('GET', KEYS[1]) then"},
    {queue_for_ever, place::script, "queue_for_ever", "a queue does not expire", "queue_acquire",
     "if place > 0 then extend('PEXPIRE', queue, 10000) end", ""},
    {look_stands_in_line_again, place::script, "look_stands_in_line_again",
     "each look adds another entry", "queue_acquire",
     "in_line and redis.pcall('LPOS', queue, entry)", "false"},
    {entry_stays_in_line, place::script, "entry_stays_in_line",
     "a release by who gives up does not take its entry out", "queue_release",
     "redis.pcall('LREM', KEYS[2], -1, ARGV[2] .. ARGV[1])", "0"},

    {absent_key_taken_for_a_grant, place::kinds, "absent_key_taken_for_a_grant",
     "SET NX that was denied is taken for a grant"},
    {refusal_taken_for_not_ours, place::kinds, "refusal_taken_for_not_ours",
     "a release that was refused is taken for done"},
    {ttl_in_whole_seconds, place::kinds, "ttl_in_whole_seconds",
     "servers are asked for whole seconds of the ttl"},

    {not_enlisted_after_reconnect, place::net, "not_enlisted_after_reconnect",
     "a reconnect does not ask whether the server restarted"},
    {quarantine_of_a_millisecond, place::net, "quarantine_of_a_millisecond",
     "a server that forgot is let in again at once"},
    {enlisting_refused_and_ignored, place::net, "enlisting_refused_and_ignored",
     "a server that answers the enlisting with an error is asked for votes all the same"},
    {emptied_unnoticed, place::net, "emptied_unnoticed",
     "the push that says that a server was emptied is not heeded"},
    {missing_script_answered_too_late, place::net, "missing_script_answered_too_late",
     "an acquire that found no script is sent again after it was given up"},
    {syncing_server_trusted, place::net, "syncing_server_trusted",
     "a server that syncs every write now is taken to have forgotten nothing"},
    {emptied_unnoticed_in_handshake, place::net, "emptied_unnoticed_in_handshake",
     "the push that says that a server was emptied is not heeded during the handshake"},
    {tracking_after_enlisting, place::net, "tracking_after_enlisting",
     "a server is enlisted first, and then asked to tell when it is emptied"},
    {missing_script_is_no_answer, place::net, "missing_script_is_no_answer",
     "nobody hears of a script that the server has forgotten"},
    {partial_write_taken_for_whole, place::net, "partial_write_taken_for_whole",
     "what the other end did not take at once is never written"},
    {unread_requests_never_reported, place::net, "unread_requests_never_reported",
     "nobody hears of the requests of a connection that has broken"},
    {caching_answer_taken_for_the_vote, place::net, "caching_answer_taken_for_the_vote",
     "the answer to CLIENT CACHING is taken for the answer to the vote"},
    {late_request_leaves_the_line, place::net, "late_request_leaves_the_line",
     "a request past its deadline leaves its place to the next one"},
    {record_of_the_first_connection, place::net, "record_of_the_first_connection",
     "the record is compared with the life that the server had at first"},
    {unfit_for_good, place::net, "unfit_for_good",
     "a server that was found unfit is not looked at again"},

    {no_allowance_for_clock_rate, place::runtime, "no_allowance_for_clock_rate",
     "clocks are taken to run at one rate"},
    {owner_token_used_again, place::runtime, "owner_token_used_again",
     "all attempts of a caller have one owner token"},
    {unknown_not_cleaned_up, place::runtime, "unknown_not_cleaned_up",
     "a node that did not answer gets no release"},
    {owed_release_forgotten, place::runtime, "owed_release_forgotten",
     "after a reconnect the releases that broke off are not sent again"},
    {concluded_before_all_is_written, place::runtime, "concluded_before_all_is_written",
     "a node out of reach decides the attempt while others are still to be asked"},
    {tokens_of_next_holders_not_drawn, place::runtime, "tokens_of_next_holders_not_drawn",
     "heirs count on from a token that was drawn for one"},
    {released_and_handed_off, place::runtime, "released_and_handed_off",
     "a lease is taken over within the process, and given back to the servers all the same"},
    {guard_time_forgotten, place::runtime, "guard_time_forgotten",
     "the guard time is not subtracted from the ttl"},
    {undo_forgotten_where_unanswered, place::runtime, "undo_forgotten_where_unanswered",
     "the release of a failed attempt is not owed where it is not answered"},
    {undo_of_another_owner, place::runtime, "undo_of_another_owner",
     "the release of a failed attempt names another owner"},
    {refused_release_forgotten, place::runtime, "refused_release_forgotten",
     "a release that a server has refused is not repeated"},
    {debt_is_paid_once, place::runtime, "debt_is_paid_once",
     "an owed release is sent again once, answered or not"},
    {unanswered_release_forgotten, place::runtime, "unanswered_release_forgotten",
     "a release that was not answered is not repeated"},
    {unanswered_release_counts, place::runtime, "unanswered_release_counts",
     "no answer to a release counts as one"},
    {loss_not_announced, place::runtime, "loss_not_announced", "the stop token never fires"},
    {watchdog_looks_late, place::runtime, "watchdog_looks_late",
     "a lease is looked at a ttl later than it has to be"},
    {renewal_is_believed_when_disowned, place::runtime, "renewal_is_believed_when_disowned",
     "a renewal counts although the key is another's, or nobody's"},
    {renewal_asks_for_half, place::runtime, "renewal_asks_for_half",
     "a renewal asks the servers for half of what it believes in"},
    {turn_kept_by_who_leaves, place::runtime, "turn_kept_by_who_leaves",
     "who gives up takes its turn along"},
    {place_not_left, place::runtime, "place_not_left",
     "who gives up leaves its entry, or what it was granted, behind"},
    {place_kept_after_no_answer, place::runtime, "place_kept_after_no_answer",
     "an owner is used again after a request that was not answered, whose release is under way"},
    {call_believed, place::runtime, "call_believed",
     "who is called takes the lock to be its own, and claims nothing"},
    {line_passed_by_set, place::runtime, "line_passed_by_set",
     "plain SET is used whether somebody stands in line or not"},
    {quiet_after_a_denial, place::runtime, "quiet_after_a_denial",
     "who was denied still believes that nobody stands in line"},
    {owed_leave_without_entry, place::runtime, "owed_leave_without_entry",
     "a release that is sent again leaves the entry in line"},
    {fair_handed_off, place::runtime, "fair_handed_off",
     "fair callers stand in the line of their process"},
    {listening_forgotten, place::runtime, "listening_forgotten",
     "the first in line does not ask to be told when the lock is deleted"},
    {useless_place_kept, place::runtime, "useless_place_kept",
     "who can be called no more, or only now, keeps the entry that says otherwise"},
    {leaving_owed_for_a_ttl, place::runtime, "leaving_owed_for_a_ttl",
     "that a waiter has left the line is owed no longer than a ttl"},
}};

std::string replaced_once(std::string_view text, const mutant& how) {
    const auto at = text.find(how.old_text);
    const bool once =
        at != std::string_view::npos && text.find(how.old_text, at + 1) == std::string_view::npos;
    if (!once) {
        throw std::logic_error("mutant " + std::string(how.name) +
                               ": its text does not occur once in " + std::string(how.script) +
                               ".lua");
    }
    return std::string(text.substr(0, at)) + std::string(how.new_text) +
           std::string(text.substr(at + how.old_text.size()));
}

}  // namespace

std::span<const mutant> all_mutants() { return table; }

const char* name_of(mutant::place where) {
    switch (where) {
        case place::core: return "core";
        case place::script: return "script";
        case place::kinds: return "kinds";
        case place::net: return "net";
        case place::runtime: return "runtime";
    }
    return "?";
}

const mutant* mutant_named(std::string_view name) {
    const auto found = std::ranges::find(table, name, &mutant::name);
    return found == table.end() ? nullptr : &*found;
}

std::string as_broken(const scripts::script& script) {
    for (const auto& each : table) {
        const bool named =
            each.script == script.name && (script.kind.empty() || script.kind == each.kind);
        const bool applies = each.where == place::script && named;
        if (applies && broken(each.which)) return replaced_once(script.text, each);
    }
    return std::string(script.text);
}

}  // namespace holdfast::sim
