#include "sim/mutants.hpp"

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
    {heir_keeps_the_token, place::core, "heir_keeps_the_token",
     "who takes a lease over within the process has its token, too"},
    {inherited_at_any_age, place::core, "inherited_at_any_age",
     "a lease is taken over within the process whatever is left of it"},

    {acquire_overwrites, place::script, "acquire_overwrites", "SET without NX", "acquire",
     "'NX', 'PX', ARGV[2]", "'PX', ARGV[2]"},
    {acquire_never_expires, place::script, "acquire_never_expires", "SET without PX", "acquire",
     "'NX', 'PX', ARGV[2]", "'NX'"},
    {quarantine_not_asked, place::script, "quarantine_not_asked",
     "a quarantined server grants all the same", "acquire", "if guard[2] then", "if false then"},
    {marker_not_asked, place::script, "marker_not_asked",
     "a server that was emptied grants all the same", "acquire", "if not guard[1] then",
     "if false then"},
    {counter_not_raised, place::script, "counter_not_raised",
     "the fencing counter is read, not incremented", "acquire", "counter and counter + 1",
     "counter and counter + 0"},
    {counter_rolled_back, place::script, "counter_rolled_back",
     "a counter that a crash has rolled back is counted on from", "acquire",
     "not first or first < floor", "not first"},
    {counter_starts_at_one, place::script, "counter_starts_at_one",
     "a lost counter starts at one, not at the clock", "acquire",
     "math.max(time[1] * 1000000 + time[2], first or 0)", "1"},
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
    {enlist_believes_every_marker, place::script, "enlist_believes_every_marker",
     "a marker of another life is as good as this one's", "enlist",
     "redis.call('GET', KEYS[2]) == ARGV[1]", "redis.call('EXISTS', KEYS[2]) == 1"},
    {life_from_the_restart, place::script, "life_from_the_restart",
     "a rolled-back counter is believed if it lies above the time of the restart", "enlist",
     "(time[1] * 1000 + ARGV[2]) * 1000 + time[2]", "time[1] * 1000000 + time[2]"},

    {no_allowance_for_clock_rate, place::driver, "no_allowance_for_clock_rate",
     "clocks are taken to run at one rate"},
    {owner_token_used_again, place::driver, "owner_token_used_again",
     "all attempts of a caller have one owner token"},
    {unknown_not_cleaned_up, place::driver, "unknown_not_cleaned_up",
     "a node that did not answer gets no release"},
    {owed_release_forgotten, place::driver, "owed_release_forgotten",
     "after a reconnect the releases that broke off are not sent again"},
    {not_enlisted_after_reconnect, place::driver, "not_enlisted_after_reconnect",
     "a reconnect does not ask whether the server restarted"},
    {quarantine_of_a_millisecond, place::driver, "quarantine_of_a_millisecond",
     "a server that forgot is let in again at once"},
    {missing_script_answered_too_late, place::driver, "missing_script_answered_too_late",
     "an acquire that found no script is sent again after it was given up"},
    {concluded_before_all_is_written, place::driver, "concluded_before_all_is_written",
     "a node out of reach decides the attempt while others are still to be asked"},
    {tokens_of_heirs_not_drawn, place::driver, "tokens_of_heirs_not_drawn",
     "heirs count on from a token that was drawn for one"},
    {released_and_passed_on, place::driver, "released_and_passed_on",
     "a lease is taken over within the process, and given back to the servers all the same"},
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

const mutant* mutant_named(std::string_view name) {
    const auto found = std::ranges::find(table, name, &mutant::name);
    return found == table.end() ? nullptr : &*found;
}

std::string as_broken(const scripts::script& script) {
    for (const auto& each : table) {
        const bool applies = each.where == place::script && each.script == script.name;
        if (applies && broken(each.which)) return replaced_once(script.text, each);
    }
    return std::string(script.text);
}

}  // namespace holdfast::sim
