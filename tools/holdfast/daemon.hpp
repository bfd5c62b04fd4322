#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace holdfast::tool {

struct daemon_start {
    pid_t process = -1;
    int error = 0;  // errno of the exec; 0: it runs
};

/// Runs a program detached from us: a session of its own, null streams, no descriptor of ours (a
/// caller who waits for the end of our output must not wait for the daemon's), and reparented, so
/// that it is nobody's zombie. Looked up in PATH.
///
/// REQUIRES: no threads yet.
daemon_start start_daemon(const std::vector<std::string>& arguments);

}  // namespace holdfast::tool
