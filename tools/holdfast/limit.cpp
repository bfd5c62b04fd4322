#include <optional>

#include "commands.hpp"
#include "connection.hpp"
#include "exit_code.hpp"
#include "failure.hpp"
#include "holdfast/error.hpp"
#include "holdfast/operate.hpp"
#include "holdfast/semaphore.hpp"
#include "message.hpp"

namespace holdfast::tool {
namespace {

std::string change_in_words(std::uint32_t before, std::uint32_t now) {
    const std::string has = " has " + std::to_string(now) + (now == 1 ? " permit" : " permits");
    if (before == now) return has + ", as before";
    return has + " now" + (before == 0 ? "" : ", and had " + std::to_string(before));
}

/// What is there instead says more than what the server calls it.
std::uint32_t change(client& through, const std::string& key, std::uint32_t to) {
    try {
        return set_limit(through, key, to);
    } catch (const std::system_error& error) {
        if (error.code() != errc::wrong_type) throw;
        (void)inspect(through, key);  // throws where it is no lock at all
        throw failure(exit_code::protocol,
                      "'" + printable(key) + "' is no semaphore: see 'holdfast status'");
    }
}

}  // namespace

int limit(arguments given) {
    connection server;
    std::optional<int> permits;
    std::string key;
    command_line line("limit", "--permits N [OPTION...] KEY",
                      "Change how many permits the semaphore KEY has, which 'run --permits' and "
                      "programs agree on; or agree on it beforehand.");
    line.integer("--permits", "N", permits, 1, static_cast<int>(max_permits),
                 "How many there are from now on");
    server.declare(line);
    line.positional("KEY", key, true);
    line.note(
        "Who has a permit keeps it until it ends, also beyond the limit; nobody gets one before "
        "fewer are taken than there are. Whoever comes with another number is refused (exit code "
        "78), and so is, at once, who waits with one: give all programs the new number. Exit codes "
        "as in 'run --help'.");
    line.example("holdfast limit --permits 5 encoder", "Two more than the three so far");
    line.parse(given);
    if (!permits)
        throw failure(exit_code::usage, "limit: needs --permits\nTry 'holdfast limit --help'.");

    client through(server.settings());
    const auto now = static_cast<std::uint32_t>(*permits);
    const auto before = change(through, key, now);
    say("'" + printable(key) + "'" + change_in_words(before, now));
    return exit_code::done;
}

}  // namespace holdfast::tool
