#pragma once

#include <sys/types.h>

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace holdfast::test {

struct spawn_request {
    std::vector<std::string> arguments;
    std::map<std::string, std::string> environment;
    std::filesystem::path working_directory;
    std::array<int, 3> streams;  // become the child's 0, 1 and 2
    bool own_process_group;
};

/// Forks and executes from the one thread that forks all children; see `process`.
/// Returns once the program runs; throws std::runtime_error if it could not be executed.
pid_t spawn(const spawn_request& request);

}  // namespace holdfast::test
