#include <exception>
#include <vector>

#include "command_line.hpp"
#include "commands.hpp"
#include "describe.hpp"
#include "exit_code.hpp"
#include "failure.hpp"
#include "holdfast/operate.hpp"
#include "local_server.hpp"
#include "message.hpp"

namespace holdfast::tool {
namespace {

int show(const local_server& server) {
    const auto process = server.running();
    if (!process) {
        print("not running\n");
        return exit_code::unavailable;
    }
    print("running, process " + std::to_string(*process) + ", " + server.url() + "\n");
    return exit_code::done;
}

/// A courtesy: one that does not answer is stopped all the same.
void say_what_ends(const local_server& server) {
    std::vector<lock_status> held;
    try {
        if (!server.running()) return;
        client through(server.url());
        list(through, "*", [&](const lock_status& status) {
            if (status.held_by) held.push_back(status);
        });
    } catch (const std::exception&) {
        return;
    }
    if (!held.empty()) say(held_in_words(held) + ", which this ends: " + a_few_in_words(held));
}

int stop(const local_server& server) {
    say_what_ends(server);
    print(server.stop() ? "stopped\n" : "not running\n");
    return exit_code::done;
}

int start(const local_server& server) {
    (void)server.start();
    return show(server);
}

}  // namespace

int local(arguments given) {
    std::string action;
    command_line line("local", "start|stop|status",
                      "Start, stop or look at the server behind local: a redis-server of this user "
                      "on this machine, on a unix socket in $XDG_RUNTIME_DIR/holdfast (else "
                      "/tmp/holdfast-UID). Its locks hold on this machine only.");
    line.positional("ACTION", action, true);
    line.note(
        "It starts by itself on first use, keeps nothing on disk, and runs until it is "
        "stopped. Stopping it frees every lock it holds, and says which.");
    line.note(
        "Exit codes: 0; 69 'status' finds none running, or redis-server is missing; 78 the "
        "directory is not ours alone.");
    line.example("holdfast local status", "Does it run, and where?");
    line.example("redis-cli -s \"$XDG_RUNTIME_DIR/holdfast/redis.sock\" monitor", "Look inside");
    line.parse(given);

    if (action == "start") return start(local_server());
    if (action == "stop") return stop(local_server());
    if (action == "status") return show(local_server());
    throw failure(exit_code::usage,
                  "local: '" + printable(action) + "' is not one of start, stop and status");
}

}  // namespace holdfast::tool
