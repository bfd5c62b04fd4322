#include "program.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <string>
#include <system_error>
#include <vector>

#include "command_line.hpp"
#include "exit_code.hpp"
#include "failure.hpp"
#include "message.hpp"
#include "wording.hpp"

namespace holdfast::tool {
namespace {

// A descriptor that we open must not become the command's standard stream because ours was closed.
// Closed again on exec: the command finds its streams as we found them.
void occupy_closed_streams() {
    for (int stream = 0; stream <= 2; ++stream) {
        if (::fcntl(stream, F_GETFD) >= 0) continue;
        const char* const instead = stream == STDOUT_FILENO ? "/dev/full" : "/dev/null";
        const int opened = ::open(instead, O_RDWR | O_CLOEXEC);
        if (opened >= 0 && opened != stream) ::close(opened);
    }
}

int guarded(arguments given, int (*work)(arguments)) {
    try {
        return work(given);
    } catch (const help_wanted& help) {
        print(help.what());
        return exit_code::done;
    } catch (const failure& error) {
        say(error.what());
        return error.exit_code();
    } catch (const std::system_error& error) {
        say(in_our_words(error));
        return exit_code_of(error.code());
    } catch (const std::exception& error) {
        say(error.what());
        return exit_code::system;
    }
}

}  // namespace

int run_program(int count, char** values, int (*work)(arguments)) {
    occupy_closed_streams();
    const std::vector<std::string> given(values + std::min(count, 1), values + count);
    try {
        return guarded(given, work);
    } catch (const std::exception& error) {
        say(error.what());
        return exit_code::system;
    }
}

}  // namespace holdfast::tool
