#include "commands.hpp"
#include "connection.hpp"
#include "exit_code.hpp"
#include "failure.hpp"
#include "holdfast/operate.hpp"
#include "not_ours.hpp"

namespace holdfast::tool {

using namespace std::chrono_literals;

int renew(arguments given) {
    connection server;
    std::string owner;
    std::string key;
    std::optional<std::chrono::milliseconds> ttl;
    command_line line("renew", "--owner OWNER [OPTION...] KEY",
                      "Let the lock KEY, taken with 'lock', live for the ttl from now, if that is "
                      "longer than it would.");
    line.text("--owner", "OWNER", owner, "The owner token that 'lock' printed");
    line.duration("--ttl", ttl, "How long the lock lives from now (default 30s)");
    server.declare(line);
    line.positional("KEY", key, true);
    line.note("Exit codes: 0 done, 75 the lock is no longer ours; others as in 'run --help'.");
    line.example("holdfast renew --owner \"$owner\" --ttl 5m deploy", "Five more minutes, please");
    line.parse(given);
    if (owner.empty())
        throw failure(exit_code::usage, "renew: needs --owner\nTry 'holdfast renew --help'.");

    client through(server.settings(ttl.value_or(30s)));
    if (holdfast::renew(through, key, owner, ttl.value_or(30s))) return exit_code::done;
    return no_longer_ours(through, key);
}

}  // namespace holdfast::tool
