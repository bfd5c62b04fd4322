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

/// In the build tree that this program lies in, beside it, or where an installation has it.
std::vector<fs::path> candidates() {
    const fs::path directory = fs::read_symlink("/proc/self/exe").parent_path();
    return {directory / "bench" / "holdfast-bench", directory / "holdfast-bench",
            directory.parent_path() / "libexec" / "holdfast" / "holdfast-bench"};
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
                      "Measure Holdfast beside its floor, on servers that are started for it. All "
                      "arguments are passed on to holdfast-bench.");
    line.note(
        "A part may be named: server (the default), quorum, votes, coroutines, held. --quick is a "
        "smoke test; --json FILE writes what was found as one document, to standard output for -.");
    line.note(
        "holdfast-bench is built with the tests, and installed as the component 'bench'. Without "
        "it: exit code 69. Other libraries are measured by script/bench of the source tree.");
    line.example("holdfast bench", "One server, beside hiredis and redis-benchmark");
    line.example("holdfast bench --json - held", "A hundred thousand leases, as JSON");
    if (!given.empty() && (given.front() == "--help" || given.front() == "-h")) line.parse(given);
    for (const fs::path& program : candidates()) {
        if (::access(program.c_str(), X_OK) == 0) become(program, given);
    }
    throw failure(exit_code::unavailable,
                  "bench: holdfast-bench is not installed; in the source tree, script/build makes "
                  "it, and 'cmake --install build/release --component bench' installs it");
}

}  // namespace holdfast::tool
