#include "commands.hpp"
#include "connection.hpp"
#include "describe.hpp"
#include "exit_code.hpp"
#include "holdfast/operate.hpp"
#include "message.hpp"

namespace holdfast::tool {

int enlist(arguments given) {
    connection server;
    bool fresh = false;
    command_line line("enlist", "[OPTION...]",
                      "Compare each server's restart marker with its present life. One that has "
                      "restarted may have forgotten locks, and grants none until every lock that "
                      "it could have forgotten is over.");
    line.flag("--fresh", fresh,
              "Vouch that these servers are new and have never held a lock: they vote at once");
    server.declare(line);
    line.note("Exit codes as in 'run --help'.");
    line.example("holdfast enlist --fresh --url redis://a --url redis://b --url redis://c",
                 "Before the first use of three new servers");
    line.parse(given);

    const options settings = server.settings();
    client through(settings);
    const auto quarantines = holdfast::enlist(through, fresh);
    for (std::size_t n = 0; n < quarantines.size(); ++n) {
        const std::string node = "server " + std::to_string(n + 1);
        const auto left = quarantines[n];
        print(left.count() == 0 ? node + ": votes\n"
                                : node + ": in quarantine for another " + in_words(left) + "\n");
    }
    return exit_code::done;
}

}  // namespace holdfast::tool
