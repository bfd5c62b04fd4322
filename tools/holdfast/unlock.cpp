#include <syslog.h>

#include <algorithm>
#include <optional>

#include "commands.hpp"
#include "confirmation.hpp"
#include "connection.hpp"
#include "describe.hpp"
#include "exit_code.hpp"
#include "failure.hpp"
#include "holdfast/error.hpp"
#include "holdfast/operate.hpp"
#include "holdfast/semaphore.hpp"
#include "message.hpp"
#include "not_ours.hpp"

namespace holdfast::tool {
namespace {

struct unlock_options {
    connection server;
    std::string owner;
    bool force = false;
    std::string reason;
    bool yes = false;
    std::optional<int> slot;
    std::string key;
};

void check(const unlock_options& options) {
    const auto refuse = [](const char* why) {
        throw failure(exit_code::usage,
                      std::string("unlock: ") + why + "\nTry 'holdfast unlock --help'.");
    };
    if (options.owner.empty() && !options.force) refuse("needs --owner, or --force --reason");
    if (options.force && options.reason.empty()) refuse("--force needs a --reason");
    if (!options.force && !options.reason.empty()) refuse("--reason belongs to --force");
    if (!options.force && options.yes) refuse("--yes belongs to --force");
    if (!options.force && options.slot) refuse("--slot belongs to --force");
    if (options.force && !options.yes && !can_ask()) {
        refuse("--force needs --yes where there is no terminal to ask");
    }
}

unlock_options parse(arguments given) {
    unlock_options options;
    command_line line("unlock", "--owner OWNER | --force --reason TEXT [OPTION...] KEY",
                      "Release the lock KEY, taken with 'lock', if it is still ours; or take it "
                      "away from whoever holds it.");
    line.text("--owner", "OWNER", options.owner, "The owner token that 'lock' printed");
    line.flag("--force", options.force,
              "Release it whoever holds it. Its holder finds out when it renews, and goes on "
              "working until then");
    line.text("--reason", "TEXT", options.reason, "Why, for 'status' and the system's log");
    line.flag("--yes", options.yes,
              "With --force: do not ask. Needed where there is no terminal to ask at");
    line.integer("--slot", "N", options.slot, 0, static_cast<int>(max_permits) - 1,
                 "With --force, of a semaphore: whose permit, as 'status' shows it");
    line.excludes("--owner", "--force");
    options.server.declare(line);
    line.positional("KEY", options.key, true);
    line.note(
        "Exit codes: 0 done, 75 the lock is no longer ours, or, with --force, nobody's, or "
        "somebody else's than was shown; others as in 'run --help'.");
    line.example("holdfast unlock --owner \"$owner\" deploy", "Give it back");
    line.example("holdfast unlock --force --reason 'web3 is gone for good' deploy",
                 "Take it from a machine that will not give it back");
    line.example("holdfast unlock --force --slot 2 --reason 'web3 is gone for good' encoder",
                 "Take a permit of a semaphore");
    line.parse(given);
    check(options);
    return options;
}

int report_result(client& through, const std::string& key, release_result found) {
    switch (found) {
        case release_result::released: return exit_code::done;
        case release_result::already_lost: return no_longer_ours(through, key);
        case release_result::unknown: break;
    }
    say("too few servers answered; what is left of '" + printable(key) + "' ends with its ttl");
    return exit_code::unavailable;
}

/// Of what was cut the rest is not known, so it cannot be compared.
void require_whole(const holder& who) {
    if (who.owner.size() < max_owner_bytes) return;
    throw failure(exit_code::protocol,
                  "what is there is longer than the owner of any lock; it was left alone");
}

/// Of a semaphore one permit is taken away, and it must be clear which.
const holder& chosen(const lock_status& status, const unlock_options& options) {
    if (!status.limit && options.slot) {
        throw failure(exit_code::usage, "'" + printable(options.key) +
                                            "' is no semaphore: --slot means nothing there");
    }
    if (!status.permits) return *status.held_by;
    if (!options.slot && status.permits->size() == 1) return status.permits->front().who;
    const auto& all = *status.permits;
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) {
        return options.slot && each.slot == static_cast<std::uint32_t>(*options.slot);
    });
    if (found != all.end()) return found->who;
    const std::string which = options.slot
                                  ? "nobody has slot " + std::to_string(*options.slot)
                                  : std::to_string(all.size()) + " permits are taken: give --slot";
    throw failure(
        options.slot ? exit_code::not_acquired : exit_code::usage,
        "'" + printable(options.key) + "': " + which + "; 'holdfast status' shows who has which");
}

release_result take_away(client& through, const unlock_options& options, const holder& who) {
    try {
        return force_unlock(through, options.key, who.owner, options.reason);
    } catch (const std::system_error& error) {
        if (error.code() != errc::wrong_type) throw;
        throw failure(exit_code::protocol, "another library keeps '" + printable(options.key) +
                                               "' in a layout of its own; release it there");
    }
}

int force(client& through, const unlock_options& options) {
    const lock_status status = inspect(through, options.key);
    const std::string name = "'" + printable(options.key) + "'";
    if (state_of(status) == lock_state::free) {
        say(name + " is held by nobody");
        return exit_code::not_acquired;
    }
    const holder& who = chosen(status, options);
    require_whole(who);
    say(name + " is held by " + holder_in_words(who) + "; " +
        (status.limit ? lease_in_words(who) : lease_in_words(status)));
    if (!options.yes && !confirmed("Release it? Its holder may be at work.")) {
        say("nothing was done");
        return exit_code::not_acquired;
    }
    const auto found = take_away(through, options, who);
    if (found != release_result::released) {
        say(name + " changed hands meanwhile; nothing was done");
        return exit_code::not_acquired;
    }
    const std::string record = "released by force: " + name + ", held by " + holder_in_words(who) +
                               ": " + printable(options.reason);
    say(record);
    ::openlog("holdfast", LOG_PID, LOG_USER);
    ::syslog(LOG_NOTICE, "%s", record.c_str());
    return exit_code::done;
}

}  // namespace

int unlock(arguments given) {
    const unlock_options options = parse(given);
    client through(options.server.settings());
    if (options.force) return force(through, options);
    return report_result(through, options.key,
                         holdfast::unlock(through, options.key, options.owner));
}

}  // namespace holdfast::tool
