#include "sim/program/child.hpp"

#include <csignal>
#include <cstdlib>

namespace holdfast::sim {

// As wait() tells it: the signal below, an exit code above.
ending run_program(const std::filesystem::path& program, const std::vector<std::string>& words,
                   const std::string& before) {
    auto command = before + "exec '" + program.string() + "'";
    for (const auto& word : words) command += " '" + word + "'";
    const int status = std::system(command.c_str());
    const ending how{.code = status >> 8, .signal = status & 0x7f};
    if (how.signal == SIGINT || how.signal == SIGQUIT) std::raise(how.signal);
    return how;
}

}  // namespace holdfast::sim
