#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace holdfast::sim {

/// How a program came to its end.
struct ending {
    int code = 0;
    int signal = 0;  // 0: none has ended it
};

/// Runs a program to its end; `before` is what a shell does first. Who interrupts that program
/// means this one, too. REQUIRES: no quotes in any of the words.
ending run_program(const std::filesystem::path& program, const std::vector<std::string>& words,
                   const std::string& before = {});

}  // namespace holdfast::sim
