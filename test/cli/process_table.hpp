#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "support/file_descriptor.hpp"

namespace holdfast::test {

/// Field `number` of /proc/PROCESS/stat, counted from 1 as in proc(5); from the third on. Empty if
/// there is no such process.
std::string stat_field(pid_t process, int number);

/// The process exists, and is more than a name that waits to be collected.
bool alive(pid_t process);

bool stopped(pid_t process);

/// Its group is the foreground group of its controlling terminal.
bool has_the_terminal(pid_t process);

std::vector<pid_t> children_of(pid_t process);

/// Names the process also when it is gone, and its number somebody else's.
file_descriptor handle_of(pid_t process);
void kill_by(const file_descriptor& handle);

}  // namespace holdfast::test
