#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "signal_queue.hpp"

namespace holdfast::tool {

struct child_command {
    std::vector<std::string> arguments;    // the first is looked up in PATH
    std::vector<std::string> environment;  // added to ours, `NAME=value`
};

struct child_start {
    pid_t process = -1;
    int error = 0;  // errno of the exec; 0: it runs
};

/// Runs a command as the leader of a process group of its own. The kernel sends it SIGTERM should
/// this thread, the calling one, die; also if that has happened before the command could be told.
/// Its signals are as they were when this process started, and its descriptors are ours, but for
/// those that close on exec.
child_start start_child(const child_command& command, const signal_queue& signals);

}  // namespace holdfast::tool
