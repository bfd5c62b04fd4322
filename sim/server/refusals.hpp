#pragma once

#include <string_view>

/// What servers refuse commands with, word for word as Redis 7 says it.
namespace holdfast::sim::refusals {

inline constexpr std::string_view loading = "LOADING Redis is loading the dataset in memory";
inline constexpr std::string_view out_of_memory =
    "OOM command not allowed when used memory > 'maxmemory'.";
inline constexpr std::string_view cannot_persist =
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to "
    "disk. Commands that may modify the data set are disabled, because this instance is configured "
    "to report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error "
    "option). Please check the Redis logs for details about the RDB error.";
inline constexpr std::string_view busy =
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
inline constexpr std::string_view read_only =
    "READONLY You can't write against a read only replica.";
inline constexpr std::string_view stranger = "NOAUTH Authentication required.";
inline constexpr std::string_view wrong_password =
    "WRONGPASS invalid username-password pair or user is disabled.";
inline constexpr std::string_view not_permitted =
    "NOPERM this user has no permissions to run the command";
/// To a script; later servers say more, and name the user and the command.
inline constexpr std::string_view not_permitted_in_script =
    "ERR The user executing the script can't run this command or subcommand";
inline constexpr std::string_view not_for_scripts =
    "ERR This Redis command is not allowed from script";
inline constexpr std::string_view wait_at_replica =
    "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a "
    "replica is configured to be writable (which is not the default) writes to replicas are just "
    "local and are not propagated.";
inline constexpr std::string_view no_script = "NOSCRIPT No matching script. Please use EVAL.";

}  // namespace holdfast::sim::refusals
