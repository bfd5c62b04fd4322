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

std::vector<std::string> row_of_latch(const lock_status& status) {
    const auto& left = status.latch->remaining;
    return {unambiguous(status.key),
            "-",
            "-",
            left ? in_words(*left) : "for ever",
            "(latch: " + latch_in_words(*status.latch) + ")",
            "-",
            "-",
            "-",
            "0"};
}

std::vector<std::string> row_of(const lock_status& status) {
    if (status.latch) return row_of_latch(status);
    const holder who = status.held_by.value_or(holder{});
    const std::string for_ever = status.ttl_known ? "for ever" : "not known";
    const std::string left = who.remaining ? in_words(*who.remaining) : for_ever;
    const std::string waiting = status.waiting ? std::to_string(*status.waiting) : "?";
    const std::string votes = votes_in_words(status);
    const std::string key = unambiguous(status.key);
    const std::string some = status.reading ? std::to_string(*status.reading) : "?";
    const std::string readers = who.reads ? some : "-";
    const std::string permits = status.limit ? permits_in_words(status) : "-";
    if (who.foreign()) {
        return {key, "?", "?", left, "(another library)", readers, permits, votes, waiting};
    }
    return {key,
            printable(who.user + "@" + who.host),
            std::to_string(who.pid),
            left,
            printable(who.label),
            readers,
            permits,
            votes,
            waiting};
}

bool is_read(const std::vector<std::string>& row) { return row[row.size() - 4] != "-"; }
bool is_semaphore(const std::vector<std::string>& row) { return row[row.size() - 3] != "-"; }
bool is_waited_for(const std::vector<std::string>& row) { return row.back() != "0"; }

void remove_column(std::vector<std::vector<std::string>>& rows, std::ptrdiff_t from_the_end) {
    for (auto& row : rows) row.erase(row.end() - from_the_end);
}

/// Sorted and aligned needs them all; a person reads as many. How many wait stands behind all else,
/// and only where somebody does, or where that is not known; how many servers have it, in a quorum;
/// how many read, where any lock is read; how many permits are taken, where any is a semaphore.
void print_for_people(client& through, const std::string& pattern) {
    std::vector<std::vector<std::string>> rows;
    list(through, pattern, [&](const lock_status& status) { rows.push_back(row_of(status)); });
    std::sort(rows.begin(), rows.end());
    const bool waited_for = std::any_of(rows.begin(), rows.end(), is_waited_for);
    const bool read = std::any_of(rows.begin(), rows.end(), is_read);
    const bool permits = std::any_of(rows.begin(), rows.end(), is_semaphore);
    rows.insert(rows.begin(), {"KEY", "HOLDER", "PROCESS", "LEASE", "LABEL", "READERS", "PERMITS",
                               "VOTES", "WAITING"});
    if (!read) remove_column(rows, 4);
    if (!permits) remove_column(rows, 3);
    if (through.settings().urls.size() == 1) remove_column(rows, 2);
    if (!waited_for) remove_column(rows, 1);
    print(aligned(rows));
}

}  // namespace

int ls(arguments given) {
    connection server;
    bool json = false;
    std::string pattern = "*";
    command_line line("ls", "[OPTION...] [PATTERN]",
                      "List the locks that Holdfast took and whose key matches PATTERN (as in "
                      "Redis: * ? [a-z]), with who holds them and for how long, and how many wait. "
                      "'status' shows who waits, and locks of other libraries.");
    line.flag("--json", json,
              "Print one JSON object per line, as 'status --json' does, without those who wait");
    server.declare(line);
    line.positional("PATTERN", pattern, false);
    line.hint_for_extras("quote the PATTERN, or the shell puts the names of files in its place");
    line.note(
        "It reads with SCAN: safe on a busy server. Locks that come and go meanwhile may be "
        "missed. In a quorum a column VOTES says how many servers have the lock: it is held if "
        "that "
        "is a majority. Exit codes as in 'run --help'.");
    line.example("holdfast ls", "All of them");
    line.example("holdfast ls --json 'deploy:*' | jq -r .holder.host", "The machines that deploy");
    line.parse(given);

    client through(server.settings());
    if (json) {
        list(through, pattern, [](const lock_status& status) { print(listed_as_json(status)); });
    } else {
        print_for_people(through, pattern);
    }
    if (const auto left = quarantine(through)) say(quarantine_in_words(*left));
    return exit_code::done;
}

}  // namespace holdfast::tool
