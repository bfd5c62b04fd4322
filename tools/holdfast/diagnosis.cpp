#include "diagnosis.hpp"

#include <algorithm>

#include "describe.hpp"
#include "exit_code.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/error.hpp"

namespace holdfast::tool {
namespace {

using namespace std::chrono_literals;

// Beyond this a lock costs more than the work it guards, on most machines.
constexpr auto slow_round_trip = 20ms;
constexpr auto odd_clock = 1s;

std::string fix_of(const std::error_code& error) {
    switch (static_cast<errc>(error.value())) {
        case errc::unreachable: return "is the server running, and are host and port right?";
        case errc::authentication: return "check --user and --password-file (or REDISCLI_AUTH)";
        case errc::untrusted: return "name the authority with --cacert, or the server with --sni";
        case errc::permission: return "ask for the missing rights";
        case errc::protocol:
            return "something else listens there; check the port, and rediss:// for TLS";
        default: return "";
    }
}

finding reachability(const server_report& report) {
    if (!report.error.empty()) {
        return {"reachable", verdict::bad, report.error, fix_of(report.code)};
    }
    return {"reachable", verdict::good, report.tls ? "yes, with TLS" : "yes", ""};
}

finding round_trip(const server_report& report) {
    const std::string found =
        format_duration(std::chrono::round<std::chrono::microseconds>(report.round_trip));
    if (report.round_trip < slow_round_trip) return {"round trip", verdict::good, found, ""};
    return {"round trip", verdict::warning, found, "every lock costs this twice; move closer"};
}

finding version(const server_report& report) {
    std::string found = report.product + " " + report.version;
    if (report.protocol != 0) found += ", RESP" + std::to_string(report.protocol);
    return {"version", verdict::good, found, ""};
}

finding role(const server_report& report) {
    if (report.role == "master") return {"role", verdict::good, "master", ""};
    if (report.role.empty()) return {"role", verdict::warning, "not known", "allow INFO or ROLE"};
    return {"role", verdict::bad, report.role + ": locks on a replica hold nothing",
            "give the URL of the master"};
}

finding eviction(const server_report& report) {
    if (report.eviction_policy.empty()) {
        return {"eviction", verdict::warning, "policy not known", "allow INFO"};
    }
    if (report.eviction_policy == "noeviction")
        return {"eviction", verdict::good, "noeviction", ""};
    return {"eviction", verdict::bad,
            report.eviction_policy + " can drop locks when memory is short",
            "redis-cli config set maxmemory-policy noeviction"};
}

finding persistence(const server_report& report) {
    if (!report.append_only) return {"persistence", verdict::warning, "not known", "allow INFO"};
    if (*report.append_only && report.fsync == "always") {
        return {"persistence", verdict::good, "append-only file, synced always", ""};
    }
    std::string found = "none";
    if (report.snapshots.value_or(false)) found = "snapshots only";
    if (*report.append_only) {
        found = "append-only file, synced " + (report.fsync.empty() ? "?" : report.fsync);
    }
    return {"persistence", verdict::warning,
            found + ": a restart forgets locks that were just taken",
            "appendonly yes and appendfsync always; or wait out the longest ttl before a restart"};
}

finding rights(const server_report& report) {
    if (report.missing_rights.empty()) return {"rights", verdict::good, "all that are needed", ""};
    std::string missing;
    std::string rules;
    for (const std::string& command : report.missing_rights) {
        missing += (missing.empty() ? "" : ", ") + command;
        rules += " +" + command;
    }
    return {"rights", verdict::bad, "refused: " + missing, "redis-cli acl setuser NAME" + rules};
}

finding tracking(const server_report& report) {
    if (report.tracking) return {"tracking", verdict::good, "waiters are told at once", ""};
    return {"tracking", verdict::warning, "no: waiters poll",
            "Redis 6 or later, and the right to CLIENT TRACKING"};
}

finding clock_of(const server_report& report) {
    const auto difference = *report.clock_difference;
    const auto size = difference < 0ms ? -difference : difference;
    const std::string found =
        in_words(size) + (difference < 0ms ? " behind" : " ahead of") + " ours";
    if (size <= odd_clock) return {"clock", verdict::good, found, ""};
    return {"clock", verdict::warning, found,
            "run a time service on both; locks do not rest on it"};
}

finding restart(const server_report& report) {
    if (report.quarantine && *report.quarantine > 0ms) {
        return {"restart", verdict::warning,
                "in quarantine for another " + in_words(*report.quarantine),
                "wait, or 'holdfast enlist --fresh' if it never held a lock"};
    }
    if (report.enlisted.value_or(false))
        return {"restart", verdict::good, "marked: a restart would be noticed", ""};
    return {"restart", verdict::warning, "not marked: a restart would not be noticed",
            "holdfast enlist; with --fresh if it never held a lock"};
}

finding independence(const server_report& report) {
    if (report.one_with.empty()) return {"independent", verdict::good, "of the others", ""};
    return {"independent", verdict::bad,
            "one with " + report.one_with + ": their two votes are one, and none is counted",
            "name every server once, and no replica"};
}

}  // namespace

const char* name_of(verdict value) {
    switch (value) {
        case verdict::good: return "ok";
        case verdict::warning: return "warning";
        case verdict::bad: return "problem";
    }
    return "";
}

std::vector<finding> diagnose(const server_report& report, bool alone) {
    std::vector<finding> findings{reachability(report)};
    if (!report.error.empty()) return findings;
    for (const auto check : {round_trip, version, role, persistence, eviction, rights, tracking}) {
        findings.push_back(check(report));
    }
    if (!alone) findings.push_back(independence(report));
    if (report.clock_difference) findings.push_back(clock_of(report));
    if (report.quarantine || (report.enlisted && !alone)) findings.push_back(restart(report));
    return findings;
}

int exit_code_of(const server_report& report, const std::vector<finding>& findings) {
    if (!report.error.empty())
        return report.code ? exit_code_of(report.code) : exit_code::unavailable;
    if (!report.missing_rights.empty()) return exit_code::permission;
    const bool bad = std::any_of(findings.begin(), findings.end(),
                                 [](const finding& each) { return each.value == verdict::bad; });
    return bad ? exit_code::configuration : exit_code::done;
}

}  // namespace holdfast::tool
