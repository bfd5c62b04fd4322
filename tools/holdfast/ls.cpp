#include <algorithm>
#include <vector>

#include "commands.hpp"
#include "connection.hpp"
#include "describe.hpp"
#include "exit_code.hpp"
#include "holdfast/operate.hpp"
#include "message.hpp"
#include "table.hpp"

namespace holdfast::tool {
namespace {

std::vector<std::string> row_of(const lock_status& status) {
    const holder who = status.held_by.value_or(holder{});
    const std::string for_ever = status.ttl_known ? "for ever" : "not known";
    const std::string left = who.remaining ? in_words(*who.remaining) : for_ever;
    if (who.foreign()) return {printable(status.key), "?", "?", left, "(another library)"};
    return {printable(status.key), printable(who.user + "@" + who.host), std::to_string(who.pid),
            left, printable(who.label)};
}

/// Sorted and aligned needs them all; a person reads as many.
void print_for_people(client& through, const std::string& pattern) {
    std::vector<std::vector<std::string>> rows;
    list(through, pattern, [&](const lock_status& status) { rows.push_back(row_of(status)); });
    std::sort(rows.begin(), rows.end());
    rows.insert(rows.begin(), {"KEY", "HOLDER", "PROCESS", "LEASE", "LABEL"});
    print(aligned(rows));
}

}  // namespace

int ls(arguments given) {
    connection server;
    bool json = false;
    std::string pattern = "*";
    command_line line("ls", "[OPTION...] [PATTERN]",
                      "List the locks that Holdfast took and whose key matches PATTERN (as in "
                      "Redis: * ? [a-z]), with who holds them and for how long. 'status' shows "
                      "those of other libraries.");
    line.flag("--json", json, "Print one JSON object per line, as 'status --json' does");
    server.declare(line);
    line.positional("PATTERN", pattern, false);
    line.note(
        "It reads with SCAN: safe on a busy server. Locks that come and go meanwhile may be "
        "missed. Exit codes as in 'run --help'.");
    line.example("holdfast ls", "All of them");
    line.example("holdfast ls --json 'deploy:*' | jq -r .holder.host", "The machines that deploy");
    line.parse(given);

    client through(server.settings());
    if (json) {
        list(through, pattern, [](const lock_status& status) { print(status_as_json(status)); });
    } else {
        print_for_people(through, pattern);
    }
    if (const auto left = quarantine(through)) say(quarantine_in_words(*left));
    return exit_code::done;
}

}  // namespace holdfast::tool
