#include "commands.hpp"
#include "connection.hpp"
#include "describe.hpp"
#include "exit_code.hpp"
#include "holdfast/operate.hpp"
#include "message.hpp"
#include "table.hpp"

namespace holdfast::tool {
namespace {

style look_of(lock_state state) {
    switch (state) {
        case lock_state::held: return style::warning;
        case lock_state::free: return style::good;
        case lock_state::foreign: return style::bad;
    }
    return style::heading;
}

std::string view_in_words(const lock_status::node_view& view) {
    if (!view.error.empty()) return view.error;
    if (view.owner.empty()) return "nothing";
    return holder_in_words(parse_owner(view.owner));
}

std::string status_for_people(const lock_status& status, bool coloured) {
    const lock_state state = state_of(status);
    std::vector<std::vector<std::string>> rows;
    rows.push_back({"key", printable(status.key)});
    rows.push_back({"state", styled(name_of(state), look_of(state), coloured)});
    if (status.held_by) {
        rows.push_back({"holder", holder_in_words(*status.held_by)});
        rows.push_back({"lease", status.held_by->remaining
                                     ? "runs another " + in_words(*status.held_by->remaining)
                                     : "never ends by itself"});
    }
    if (status.token != 0) rows.push_back({"token", std::to_string(status.token)});
    if (status.nodes > 1) {
        rows.push_back(
            {"votes", std::to_string(status.votes) + " of " + std::to_string(status.nodes)});
        for (const auto& view : status.views) rows.push_back({view.node, view_in_words(view)});
    }
    return aligned(rows);
}

}  // namespace

int status(arguments given) {
    connection server;
    bool json = false;
    std::string key;
    command_line line("status", "[OPTION...] KEY", "Say who holds the lock KEY, and for how long.");
    line.flag("--json", json, "Print one JSON object");
    server.declare(line);
    line.positional("KEY", key, true);
    line.note(
        "'free': nobody holds it. 'foreign': the key was written by something else. Exit code "
        "0 in all three cases; others as in 'run --help'.");
    line.example("holdfast status deploy", "Who is it?");
    line.example("holdfast status --json deploy | jq -r .state", "held, free or foreign");
    line.parse(given);

    client through(server.settings());
    const lock_status found = inspect(through, key);
    print(json ? status_as_json(found) : status_for_people(found, colours_on(STDOUT_FILENO)));
    return exit_code::done;
}

}  // namespace holdfast::tool
