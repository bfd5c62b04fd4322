#include "commands.hpp"
#include "connection.hpp"
#include "exit_code.hpp"
#include "failure.hpp"
#include "holdfast/operate.hpp"
#include "message.hpp"

namespace holdfast::tool {

int unlock(arguments given) {
    connection server;
    std::string owner;
    std::string key;
    command_line line("unlock", "--owner OWNER [OPTION...] KEY",
                      "Release the lock KEY, taken with 'lock', if it is still ours.");
    line.text("--owner", "OWNER", owner, "The owner token that 'lock' printed");
    server.declare(line);
    line.positional("KEY", key, true);
    line.note("Exit codes: 0 done, 75 the lock is no longer ours; others as in 'run --help'.");
    line.example("holdfast unlock --owner \"$owner\" deploy", "Give it back");
    line.parse(given);
    if (owner.empty()) throw failure(exit_code::usage, "unlock: needs --owner");

    client through(server.settings());
    switch (holdfast::unlock(through, key, owner)) {
        case release_result::released: return exit_code::done;
        case release_result::already_lost:
            say("'" + printable(key) + "' is no longer ours");
            return exit_code::not_acquired;
        case release_result::unknown: break;
    }
    say("too few servers answered; what is left of '" + printable(key) + "' ends with its ttl");
    return exit_code::unavailable;
}

}  // namespace holdfast::tool
