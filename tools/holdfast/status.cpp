#include <algorithm>
#include <chrono>
#include <optional>

#include "commands.hpp"
#include "connection.hpp"
#include "describe.hpp"
#include "exit_code.hpp"
#include "failure.hpp"
#include "holdfast/operate.hpp"
#include "message.hpp"
#include "table.hpp"

namespace holdfast::tool {
namespace {

/// Servers in quarantine may have forgotten who holds it.
bool is_known(const lock_status& status) {
    return state_of(status) != lock_state::free || !status.quarantine;
}

style look_of(lock_state state) {
    switch (state) {
        case lock_state::held: return style::warning;
        case lock_state::free: return style::good;
        case lock_state::foreign: return style::bad;
    }
    return style::heading;
}

std::string state_in_words(const lock_status& status, bool coloured) {
    if (!is_known(status)) {
        return styled("not known during the quarantine", style::warning, coloured);
    }
    const lock_state state = state_of(status);
    return styled(name_of(state), look_of(state), coloured);
}

std::string view_in_words(const lock_status::node_view& view) {
    if (!view.error.empty()) return printable(view.error);
    std::string held = !view.taken ? "nothing" : holder_in_words(parse_owner(view.owner));
    if (!view.quarantine) return held;
    return held + "; in quarantine for another " + in_words(*view.quarantine);
}

std::string forced_in_words(const forced_release& last) {
    // The note has whole seconds.
    const auto ago = std::max(
        std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now() - last.at),
        std::chrono::seconds(0));
    return printable(in_words(ago) + " ago by " + last.by + ", from " + last.held_by + ": " +
                     last.reason);
}

std::string status_for_people(const lock_status& status, const std::optional<forced_release>& last,
                              bool coloured) {
    std::vector<std::vector<std::string>> rows;
    rows.push_back({"key", printable(status.key)});
    rows.push_back({"state", state_in_words(status, coloured)});
    if (status.held_by) {
        rows.push_back({"holder", holder_in_words(*status.held_by)});
        const auto& left = status.held_by->remaining;
        const std::string endless = status.ttl_known ? "never ends by itself" : "not known";
        rows.push_back({"lease", left ? "runs another " + in_words(*left) : endless});
    }
    if (status.quarantine) {
        rows.push_back({"nobody can take it", quarantine_in_words(*status.quarantine)});
    }
    if (status.token != 0) {
        const bool held = state_of(status) == lock_state::held;
        rows.push_back({held ? "token" : "last token", std::to_string(status.token)});
    }
    if (!status.no_token.empty()) {
        rows.push_back(
            {"no lock with a token", printable(status.no_token + "; rename or delete it")});
    }
    if (status.nodes > 1) {
        rows.push_back(
            {"votes", std::to_string(status.votes) + " of " + std::to_string(status.nodes)});
        for (const auto& view : status.views) rows.push_back({view.node, view_in_words(view)});
    }
    if (last) rows.push_back({"forced", forced_in_words(*last)});
    return aligned(rows);
}

int quiet_answer(const lock_status& status) {
    if (!is_known(status)) {
        throw failure(exit_code::unavailable,
                      "whether '" + printable(status.key) +
                          "' is held is not known: " + quarantine_in_words(*status.quarantine));
    }
    return state_of(status) == lock_state::free ? exit_code::free : exit_code::done;
}

}  // namespace

int status(arguments given) {
    connection server;
    bool json = false;
    bool quiet = false;
    std::string key;
    command_line line("status", "[OPTION...] KEY", "Say who holds the lock KEY, and for how long.");
    line.flag("--json", json, "Print one JSON object");
    line.flag("-q,--quiet", quiet,
              "Print nothing: exit code 0 if it is held or foreign, 1 if free, 69 if that is not "
              "known during a quarantine");
    line.excludes("--quiet", "--json");
    server.declare(line);
    line.positional("KEY", key, true);
    line.note(
        "'free': nobody holds it. 'foreign': the key was written by something else. Exit code "
        "0 in all three cases, unless -q is given; others as in 'run --help'.");
    line.example("holdfast status deploy", "Who is it?");
    line.example("holdfast status --json deploy | jq -r .state", "held, free or foreign");
    line.example("holdfast status -q deploy && echo busy", "In a script");
    line.parse(given);

    client through(server.settings());
    const lock_status found = inspect(through, key);
    if (quiet) return quiet_answer(found);
    const auto last = last_forced(through, key);
    print(json ? status_as_json(found, last)
               : status_for_people(found, last, colours_on(STDOUT_FILENO)));
    return exit_code::done;
}

}  // namespace holdfast::tool
