#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

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

using rows_of_text = std::vector<std::vector<std::string>>;

/// Many are for programs to read, which have --json.
void add_readers(rows_of_text& rows, const lock_status& status) {
    constexpr std::size_t enough = 20;
    const char* heading = "readers";
    const auto add = [&](std::string text) {
        rows.push_back({std::exchange(heading, ""), std::move(text)});
    };
    const auto shown = status.readers ? std::min(status.readers->size(), enough) : 0;
    for (std::size_t n = 0; n < shown; ++n) add(reader_in_words((*status.readers)[n]));
    if (status.reading.value_or(0) > shown) {
        add("and " + std::to_string(*status.reading - shown) + " more");
    }
    if (!status.no_readers.empty()) add("who is not known: " + printable(status.no_readers));
}

void add_permits(rows_of_text& rows, const lock_status& status) {
    if (!status.limit) return;
    rows.push_back({"permits", permits_in_words(status) + " taken"});
    if (!status.permits) {
        rows.push_back({"", "who has them is not known, as this user may not ask"});
        return;
    }
    constexpr std::size_t enough = 20;
    const auto shown = std::min(status.permits->size(), enough);
    for (std::size_t n = 0; n < shown; ++n) {
        const auto& each = (*status.permits)[n];
        rows.push_back(
            {"", "slot " + std::to_string(each.slot) + ": " + reader_in_words({each.who})});
    }
    if (status.taken.value_or(0) > shown) {
        rows.push_back({"", "and " + std::to_string(*status.taken - shown) + " more"});
    }
}

/// Whom no majority has it for is no holder: a grant that came too late, or one that is on its way.
void add_holder(rows_of_text& rows, const lock_status& status) {
    if (!status.held_by) return;
    const std::string who = holder_in_words(*status.held_by);
    if (state_of(status) == lock_state::free) {
        const char* have = status.votes == 1 ? " servers has it for " : " servers have it for ";
        rows.push_back(
            {"no majority", votes_in_words(status) + have + who + ", " + lease_in_words(status)});
        return;
    }
    if (status.limit) return;
    const char* const heading = status.held_by->leads ? "leader" : "holder";
    rows.push_back({status.held_by->reads ? "held by" : heading, who});
    if (status.leader && !status.leader->value.empty()) {
        rows.push_back({"value", printable(status.leader->value)});
    }
    if (status.held_by->reads) add_readers(rows, status);
    const auto& left = status.held_by->remaining;
    const std::string endless = status.ttl_known ? "never ends by itself" : "not known";
    rows.push_back({"lease", left ? "runs another " + in_words(*left) : endless});
}

bool is_election(const lock_status& status) { return status.held_by && status.held_by->leads; }

/// In order of their turn. Many are for programs to read, which have --json.
void add_waiters(rows_of_text& rows, const lock_status& status) {
    constexpr std::size_t enough = 20;
    const char* heading = is_election(status) ? "candidates" : "waiting";
    const auto add = [&](std::string text) {
        rows.push_back({std::exchange(heading, ""), std::move(text)});
    };
    const auto shown = status.waiters ? std::min(status.waiters->size(), enough) : 0;
    for (std::size_t n = 0; n < shown; ++n) {
        add(std::to_string(n + 1) + ". " + waiter_in_words((*status.waiters)[n]));
    }
    if (status.waiting.value_or(0) > shown) {
        const std::string more = std::to_string(*status.waiting - shown);
        add(shown == 0 ? more : "and " + more + " more");
    }
    if (!status.no_waiters.empty()) {
        add((status.waiters ? "how many is not known: " : "who is not known: ") +
            printable(status.no_waiters));
    }
}

std::string forced_in_words(const forced_release& last) {
    // The note has whole seconds.
    const auto ago = std::max(
        std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now() - last.at),
        std::chrono::seconds(0));
    return printable(in_words(ago) + " ago by " + last.by + ", from " + last.held_by + ": " +
                     last.reason);
}

std::string latch_for_people(const lock_status& status) {
    const auto& left = status.latch->remaining;
    return aligned({{"key", unambiguous(status.key)},
                    {"kind", "latch"},
                    {"state", latch_in_words(*status.latch)},
                    {"lives", left ? "another " + in_words(*left) : "for ever"}});
}

std::string status_for_people(const lock_status& status, const std::optional<forced_release>& last,
                              bool coloured) {
    if (status.latch) return latch_for_people(status);
    rows_of_text rows;
    rows.push_back({"key", unambiguous(status.key)});
    rows.push_back({"state", state_in_words(status, coloured)});
    if (is_election(status)) rows.push_back({"kind", "election"});
    add_holder(rows, status);
    add_permits(rows, status);
    add_waiters(rows, status);
    if (status.quarantine) {
        rows.push_back({"nobody can take it", quarantine_in_words(*status.quarantine)});
    }
    if (status.token != 0) {
        const bool held = state_of(status) == lock_state::held;
        const char* const current = is_election(status) ? "term" : "token";
        rows.push_back({held ? current : "last token", std::to_string(status.token)});
    }
    if (!status.no_token.empty()) {
        rows.push_back(
            {"no lock with a token", printable(status.no_token + "; rename or delete it")});
    }
    if (status.nodes > 1) {
        rows.push_back({"votes", votes_in_words(status)});
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
    command_line line("status", "[OPTION...] KEY",
                      "Say who holds the lock KEY, and for how long, and who waits for it, in "
                      "order.");
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
    line.example(
        "holdfast status --json deploy | jq -r '.state, .quarantine_ms'",
        "held, free or foreign; and null, unless a quarantine leaves open what free means");
    line.example("holdfast status --json deploy | jq -r '.waiters[].host'", "Whose turn is next?");
    line.example("holdfast status -q deploy && echo busy", "In a script");
    line.parse(given);

    client through(server.settings());
    const lock_status found = inspect(through, key);
    if (quiet) return quiet_answer(found);
    const auto last = last_forced(through, key);
    print(json ? status_as_json(found, last)
               : status_for_people(found, last, colours_on(STDOUT_FILENO)));
    if (json && found.quarantine) say(quarantine_in_words(*found.quarantine));
    return exit_code::done;
}

}  // namespace holdfast::tool
