#pragma once

#include <system_error>

namespace holdfast::tool {

/// What `holdfast` itself exits with; everything else is the command's own. The numbers are those
/// of sysexits.h where it has one, so that they mean to others what they mean to us.
namespace exit_code {
inline constexpr int done = 0;
inline constexpr int free = 1;  // what `status -q` says of a lock that nobody holds
inline constexpr int usage = 64;
inline constexpr int unavailable = 69;  // unreachable or in quarantine, or a program is missing
inline constexpr int system = 71;
inline constexpr int not_acquired = 75;  // held elsewhere, the wait ran out, or no longer ours
inline constexpr int protocol = 76;      // not a Redis, or not a lock at that key
inline constexpr int permission = 77;
inline constexpr int configuration = 78;  // also: unsafe server settings
inline constexpr int lost = 79;
inline constexpr int not_executable = 126;
inline constexpr int not_found = 127;
inline constexpr int signal_base = 128;
}  // namespace exit_code

/// The one place that says which failure gives which exit code.
int exit_code_of(const std::error_code& error);

}  // namespace holdfast::tool
