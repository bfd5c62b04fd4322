#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "commands.hpp"
#include "companion.hpp"
#include "exit_code.hpp"
#include "failure.hpp"

namespace holdfast::tool {

// A program of its own: it plays with the servers and networks that the tests have, of which the
// command that people run in production contains nothing.
int lab(arguments given) {
    const auto programs = companions(
        "lab", "holdfast-lab",
        "lab: it is not installed; 'cmake --install build/release' installs it with the command");
    std::vector<std::string> words{programs / "holdfast-lab"};
    words.insert(words.end(), given.begin(), given.end());
    become(words);
    throw failure(exit_code::system, "lab: " + words.front() + ": " + std::strerror(errno));
}

}  // namespace holdfast::tool
