#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <vector>

#include "command_line.hpp"
#include "commands.hpp"
#include "exit_code.hpp"
#include "failure.hpp"

namespace holdfast::tool {
namespace {

namespace fs = std::filesystem;

/// The benchmarks come with the source tree, not with an installation: in build/PRESET beside this
/// program, or in script/ of the tree that it was built in.
std::vector<fs::path> candidates() {
    const fs::path directory = fs::read_symlink("/proc/self/exe").parent_path();
    return {directory / "../../script/bench", directory / "holdfast-bench"};
}

[[noreturn]] void become(const fs::path& program, arguments given) {
    std::vector<char*> values{const_cast<char*>(program.c_str())};
    for (const std::string& argument : given) values.push_back(const_cast<char*>(argument.c_str()));
    values.push_back(nullptr);
    ::execv(program.c_str(), values.data());
    throw failure(exit_code::system, "bench: " + program.string() + ": " + std::strerror(errno));
}

}  // namespace

int bench(arguments given) {
    command_line line("bench", "[...]",
                      "Run the benchmarks of the source tree that this program was built in, and "
                      "pass the arguments on to them.");
    line.note("An installed holdfast has none: exit code 69.");
    line.example("build/release/holdfast bench", "All of them, each beside its floor");
    if (!given.empty() && (given.front() == "--help" || given.front() == "-h")) line.parse(given);
    for (const fs::path& program : candidates()) {
        if (::access(program.c_str(), X_OK) == 0) become(program.lexically_normal(), given);
    }
    throw failure(exit_code::unavailable,
                  "bench: there is no benchmark beside this program; build the source tree with "
                  "'cmake --preset release && cmake --build --preset release', and run "
                  "build/release/holdfast bench");
}

}  // namespace holdfast::tool
