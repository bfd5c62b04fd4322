#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>
#include <vector>

#include "commands.hpp"
#include "confirmation.hpp"
#include "connection.hpp"
#include "describe.hpp"
#include "exit_code.hpp"
#include "failure.hpp"
#include "holdfast/operate.hpp"
#include "message.hpp"
#include "wording.hpp"

namespace holdfast::tool {
namespace {

using quarantines = std::vector<std::chrono::milliseconds>;

std::chrono::milliseconds longest_of(const quarantines& all) {
    return *std::max_element(all.begin(), all.end());
}

/// All of them vote already, so there is nothing to vouch for.
bool all_vote(client& through) {
    try {
        return longest_of(holdfast::enlist(through, false)).count() == 0;
    } catch (const std::system_error&) {
        return false;  // whatever it is, vouching may mend it, or says so again
    }
}

failure not_seen(const std::system_error& error) {
    return {exit_code_of(error.code()),
            "nothing was done, as it could not be seen whether locks are held: " +
                in_our_words(error) + "; --yes vouches without looking"};
}

/// Before locks are looked for: who restarts after that has forgotten what was there to be seen.
std::vector<std::string> lives_of(client& through) {
    try {
        return lives(through);
    } catch (const std::system_error& error) {
        throw not_seen(error);
    }
}

std::vector<lock_status> locks_held(client& through) {
    std::vector<lock_status> found;
    try {
        list_everywhere(through, [&](const lock_status& status) { found.push_back(status); });
    } catch (const std::system_error& error) {
        throw not_seen(error);
    }
    return found;
}

/// A server that forgot a lock, and is vouched for, gives it to a second holder. The others may
/// still have it. Throws unless somebody means it.
void refuse_while_held(client& through) {
    const auto held = locks_held(through);
    if (held.empty()) return;
    say(held_in_words(held) + " at these servers: " + a_few_in_words(held));
    if (can_ask() && confirmed("Vouch all the same? A second holder may get them.")) return;
    throw failure(exit_code::not_acquired,
                  "nothing was done: whoever asks next could hold them as well; stop every program "
                  "that locks here first, or wait for the end of the quarantine (--yes vouches all "
                  "the same)");
}

int report(client& through, const quarantines& found) {
    const auto names = server_names(through);
    for (std::size_t n = 0; n < found.size(); ++n) {
        const auto left = found[n];
        print(printable(names[n]) + (left.count() == 0
                                         ? ": votes\n"
                                         : ": in quarantine for another " + in_words(left) + "\n"));
    }
    if (longest_of(found).count() == 0) return exit_code::done;
    const bool guards = through.settings().restart_guard.value_or(true);
    say((guards ? "" : "for clients that guard against restarts, which this one does not: ") +
        quarantine_in_words(longest_of(found)));
    return exit_code::unavailable;
}

/// Each slot has a record of its own.
void say_if_it_takes_long(const options& settings) {
    const bool cluster =
        std::any_of(settings.urls.begin(), settings.urls.end(),
                    [](const auto& url) { return url.find("+cluster://") != url.npos; });
    if (cluster) say("enlisting 16384 slots, which takes a few seconds");
}

}  // namespace

int enlist(arguments given) {
    connection server;
    bool fresh = false;
    bool yes = false;
    command_line line("enlist", "[OPTION...]",
                      "Compare each server's record with its present life. One that has "
                      "restarted may have forgotten locks, and grants none until every lock that "
                      "it could have forgotten is over.");
    line.flag(
        "--fresh", fresh,
        "Vouch that these servers have no lock to forget, because they are new, or every program "
        "that locks here has been stopped: they vote at once, and the max_ttl of this command's "
        "URL is the one to agree on. Replaces whatever else is at the record, holdfast:record");
    line.flag("--yes", yes,
              "With --fresh: do not look for locks that are held. Without it they are named, and "
              "it asks, or refuses where there is no terminal to ask at");
    server.declare(line);
    line.note(
        "Exit codes: 0 all of them vote, 69 one is unreachable or in quarantine, 75 locks are "
        "held, and nothing was done; others as in 'run --help'.");
    line.example("holdfast enlist --fresh --url redis://a --url redis://b --url redis://c",
                 "Before the first use of three new servers");
    line.parse(given);
    if (yes && !fresh) {
        throw failure(exit_code::usage,
                      "enlist: --yes belongs to --fresh\nTry 'holdfast enlist --help'.");
    }

    client through(server.settings());
    say_if_it_takes_long(through.settings());
    if (!fresh || yes) return report(through, holdfast::enlist(through, fresh));
    if (all_vote(through)) return report(through, quarantines(server_names(through).size()));
    const auto seen = lives_of(through);
    refuse_while_held(through);
    return report(through, vouch_for(through, seen));
}

}  // namespace holdfast::tool
