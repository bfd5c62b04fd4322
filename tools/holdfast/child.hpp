#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "descriptor.hpp"
#include "holdfast/clock.hpp"
#include "signal_queue.hpp"

namespace holdfast::tool {

struct child_command {
    std::vector<std::string> arguments;    // the first is looked up in PATH
    std::vector<std::string> environment;  // added to ours, `NAME=value`
    int control_group = -1;                // directory of the one to run in; none: in ours
    clock::time_point start_by = clock::time_point::max();  // from then on it is not run any more
};

/// A child that is about to become the command. That may take its time, or never come about: the
/// program lies on a file system that does not answer. So nobody waits for it here.
struct child_start {
    pid_t process = -1;
    descriptor outcome;  // readable as soon as look() knows

    /// The errno that kept it from running, 0 if it runs or has been killed before; nothing: not
    /// known yet. ETIME: it was too late.
    [[nodiscard]] std::optional<int> look() const;
};

/// Runs a command as the leader of a process group of its own. The kernel kills it should this
/// thread, the calling one, die; also if that has happened before the command could be told. Its
/// signals are as they were when this process started, and its descriptors are ours, but for
/// those that close on exec.
child_start start_child(const child_command& command, const signal_queue& signals);

}  // namespace holdfast::tool
