#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <system_error>
#include <vector>

#include "command_line.hpp"
#include "commands.hpp"
#include "exit_code.hpp"
#include "failure.hpp"
#include "message.hpp"

namespace holdfast::tool {

std::span<const command> commands() {
    static constexpr std::array<command, 12> all{{
        {"run", "Run a command while holding a lock", run},
        {"lock", "Take a lock and print its owner token, for scripts", lock},
        {"renew", "Let a lock taken with 'lock' live longer", renew},
        {"unlock", "Release a lock taken with 'lock'", unlock},
        {"status", "Say who holds a lock", status},
        {"ls", "List the locks that are held", ls},
        {"doctor", "Check whether a server is fit to keep locks", doctor},
        {"enlist", "Let servers that restarted, or are new, vote again", enlist},
        {"local", "Start, stop or look at this machine's own server", local},
        {"bench", "Run the benchmarks", bench},
        {"lab", "Watch the classic ways to get locking wrong", lab},
        {"version", "Print the version", version},
    }};
    return all;
}

namespace {

std::string overview() {
    std::string text =
        "Usage: holdfast COMMAND [OPTION...]\n\n"
        "flock(1) for a fleet: locks that hold across machines, kept in Redis or Valkey.\n\n"
        "Commands:\n";
    for (const command& each : commands()) {
        std::string left = "  " + std::string(each.name);
        left.resize(12, ' ');
        text += left + std::string(each.summary) + "\n";
    }
    return text +
           "\n'holdfast COMMAND --help' explains each, with examples; holdfast(1) explains all.\n\n"
           "Examples:\n"
           "  holdfast run -n nightly-backup -- backup.sh\n"
           "      One machine of the fleet runs it, the others do nothing (exit code 75)\n"
           "  holdfast run -w 5m deploy -- make deploy\n"
           "      Wait for those before us, at most five minutes\n"
           "  holdfast status deploy\n"
           "      Who is it that we wait for?\n\n"
           "The server is named by --url, HOLDFAST_URL or REDIS_URL; else it is one of this\n"
           "machine's own, and so is the lock.\n";
}

// A descriptor that we open must not become the command's standard stream because ours was closed.
// Closed again on exec: the command finds its streams as we found them.
void occupy_closed_streams() {
    for (int stream = 0; stream <= 2; ++stream) {
        if (::fcntl(stream, F_GETFD) >= 0) continue;
        const int opened = ::open("/dev/null", O_RDWR | O_CLOEXEC);
        if (opened >= 0 && opened != stream) ::close(opened);
    }
}

int dispatch(arguments given) {
    if (given.empty()) {
        throw failure(exit_code::usage, "which command?\n\n" + overview());
    }
    std::string_view name = given.front();
    if (name == "--help" || name == "-h" || name == "help") throw help_wanted(overview());
    if (name == "--version") name = "version";
    const auto found = std::find_if(commands().begin(), commands().end(),
                                    [&](const command& each) { return each.name == name; });
    if (found == commands().end()) {
        throw failure(exit_code::usage, "there is no command '" + printable(name) +
                                            "'; 'holdfast --help' lists them");
    }
    return found->run(given.subspan(1));
}

int guarded(arguments given) {
    try {
        return dispatch(given);
    } catch (const help_wanted& help) {
        print(help.what());
        return exit_code::done;
    } catch (const failure& error) {
        say(error.what());
        return error.exit_code();
    } catch (const std::system_error& error) {
        say(error.what());
        return exit_code_of(error.code());
    } catch (const std::exception& error) {
        say(error.what());
        return exit_code::system;
    }
}

}  // namespace
}  // namespace holdfast::tool

int main(int count, char** values) {
    holdfast::tool::occupy_closed_streams();
    const std::vector<std::string> given(values + std::min(count, 1), values + count);
    try {
        return holdfast::tool::guarded(given);
    } catch (const std::exception& error) {
        holdfast::tool::say(error.what());
        return holdfast::tool::exit_code::system;
    }
}
