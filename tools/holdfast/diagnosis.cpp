#include "diagnosis.hpp"

#include <algorithm>
#include <optional>

#include "describe.hpp"
#include "exit_code.hpp"
#include "group_diagnosis.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/error.hpp"
#include "private_directory.hpp"
#include "wording.hpp"

namespace holdfast::tool {
namespace {

using namespace std::chrono_literals;

// Beyond this a lock costs more than the work it guards, on most machines.
constexpr auto slow_round_trip = 20ms;
constexpr auto odd_clock = 1s;

bool guarded(const options& settings) { return *settings.restart_guard; }

/// What to change where the server answers a command with this.
std::string fix_of_answer(std::string_view answer) {
    struct known {
        std::string_view word;
        const char* fix;
    };
    static constexpr known all[] = {
        {"OOM ", "raise maxmemory, or free memory: redis-cli config set maxmemory BYTES"},
        {"MISCONF ",
         "it cannot write its snapshot: see its log, and make room on its disk; or redis-cli "
         "config set stop-writes-on-bgsave-error no"},
        {"NOREPLICAS ", "bring its replicas back; or redis-cli config set min-replicas-to-write 0"},
        {"LOADING ", "wait until it has read its data"},
        {"BUSY ", "somebody's script runs for long: redis-cli script kill"},
        {"READONLY ", "give the URL of the master"},
        {"DB index is out of range",
         "choose a smaller database in the URL; the server has as many as its setting 'databases' "
         "says, 16 by default"},
        {"enlist --fresh", "if nobody holds a lock there: holdfast enlist --fresh"},
        {"WRONGTYPE ", "another program keeps something else at that key: choose another database"},
        {"NOPERM ", "ask for the rights in the line above"},
        {"ACL failure", "ask for the rights in the line above"},
        {"The user executing the script", "ask for the rights in the line above"},
    };
    for (const auto& [word, fix] : all) {
        if (answer.find(word) != answer.npos) return fix;
    }
    return "see the log of the server";
}

/// What to look at where nobody answers.
std::string fix_of_silence(const server_report& report) {
    const auto says = [&](const char* words) {
        return report.error.find(words) != std::string::npos;
    };
    if (says("use rediss://")) return "rediss:// instead of redis:// in the URL";
    if (says("use redis://")) return "redis:// instead of rediss:// in the URL";
    if (says("cannot resolve")) {
        return "is the host spelled as it should be? 'getent hosts NAME' asks the same";
    }
    if (report.node.starts_with("unix:")) {
        return says("Permission denied")
                   ? "let this user write to the socket: see unixsocketperm of the server"
                   : "is the server running, with this path as its unixsocket?";
    }
    return "is the server running, and are host and port right?";
}

std::string fix_of(const server_report& report) {
    switch (static_cast<errc>(report.code.value())) {
        case errc::unreachable: return fix_of_silence(report);
        case errc::authentication: return "check --user and --password-file (or REDISCLI_AUTH)";
        case errc::untrusted: return "name the authority with --cacert, or the server with --sni";
        case errc::permission: return "ask for the missing rights";
        case errc::protocol:
            return "something else listens there; check the port, and rediss:// for TLS";
        case errc::server_error: return fix_of_answer(report.error);
        default: return "";
    }
}

finding reachability(const server_report& report) {
    if (!report.error.empty()) {
        const int code = report.code ? exit_code_of(report.code) : exit_code::unavailable;
        return {"reachable", verdict::bad, in_our_words(report.error), fix_of(report), code};
    }
    return {"reachable", verdict::good,
            std::string(report.tls ? "yes, with TLS" : "yes") + ", as user " + report.user};
}

finding round_trip(const server_report& report, const options&) {
    const std::string found =
        format_duration(std::chrono::round<std::chrono::microseconds>(report.round_trip));
    if (report.round_trip < slow_round_trip) return {"round trip", verdict::good, found};
    return {"round trip", verdict::warning, found, "every lock costs this twice; move closer"};
}

finding version(const server_report& report, const options&) {
    const bool too_old =
        !report.unsupported.empty() && report.mode != "sentinel" && report.mode != "cluster";
    if (too_old) return {"version", verdict::bad, report.unsupported, "upgrade the server"};
    const bool known = !report.version.empty();
    std::string found = known ? report.product + " " + report.version : "not known";
    if (report.protocol != 0) found += ", RESP" + std::to_string(report.protocol);
    if (!known) return {"version", verdict::warning, found, "allow INFO"};
    return {"version", verdict::good, found};
}

finding role(const server_report& report, const options&) {
    if (report.mode == "sentinel") {
        const bool known = !report.watched_master.empty();
        return {"role", verdict::bad, "a Sentinel, which keeps no locks",
                "--url " +
                    (known ? report.watched_master : "redis+sentinel://host:port/<master-name>") +
                    ", best with the other Sentinels of that master"};
    }
    if (report.mode == "cluster" && !report.unsupported.empty()) {
        return {"role", verdict::bad, "a node of a Redis Cluster, given as a server",
                "--url redis+cluster://" + report.node + " (rediss+cluster:// with TLS)"};
    }
    if (report.role == "master") return {"role", verdict::good, "master"};
    if (report.role.empty()) return {"role", verdict::warning, "not known", "allow INFO"};
    const bool known = !report.master.empty();
    return {
        "role", verdict::bad,
        report.role + (known ? " of " + report.master : "") + ": locks on a replica hold nothing",
        "give the URL of the master"};
}

finding eviction(const server_report& report, const options& settings) {
    if (report.eviction_policy.empty()) {
        return {"eviction", verdict::warning, "policy not known", "allow INFO"};
    }
    if (report.eviction_policy == "noeviction") return {"eviction", verdict::good, "noeviction"};
    return {"eviction", settings.allow_eviction ? verdict::warning : verdict::bad,
            report.eviction_policy + " can drop locks when memory is short",
            "redis-cli config set maxmemory-policy noeviction"};
}

/// Rules as redis-cli takes them from a shell.
std::string rules_for(const server_report& report, const std::vector<std::string>& rules) {
    std::string text = "redis-cli acl setuser " + report.user;
    for (const std::string& rule : rules) {
        const bool plain = rule.starts_with('+') && rule.find('|') == rule.npos;
        text += plain ? " " + rule : " '" + rule + "'";
    }
    return text;
}

/// nullopt: that takes CONFIG GET. REQUIRES: append_only is known.
std::optional<std::string> kept_on_disk(const server_report& report) {
    if (*report.append_only) {
        if (report.fsync.empty()) return std::nullopt;
        return "append-only file, synced " + report.fsync;
    }
    if (!report.snapshots) return std::nullopt;
    return *report.snapshots ? "snapshots only" : "none";
}

finding persistence(const server_report& report, const options& settings) {
    if (!report.append_only) return {"persistence", verdict::warning, "not known", "allow INFO"};
    if (*report.append_only && report.fsync == "always") {
        return {"persistence", verdict::good, "append-only file, synced always"};
    }
    const auto found = kept_on_disk(report);
    if (guarded(settings)) {
        return {"persistence", verdict::good,
                found.value_or("not known") + "; the restart guard makes up for it"};
    }
    if (!found) {
        return {"persistence", verdict::warning, "not known, as CONFIG GET is refused",
                "allow CONFIG GET: " + rules_for(report, {"+config|get"})};
    }
    if (report.node == "unix:" + private_directory_path() + "/redis.sock") {
        return {
            "persistence", verdict::warning, *found + ": a restart forgets locks that are held",
            "wait out the longest ttl before 'holdfast local stop'; or name a server with --url"};
    }
    return {
        "persistence", verdict::warning, *found + ": a restart forgets locks that were just taken",
        "restart_guard=on in the URL of every client; or appendonly yes and appendfsync always; or "
        "wait out the longest ttl before a restart"};
}

std::string in_a_row(const std::vector<std::string>& rules) {
    std::string text;
    for (const std::string& rule : rules) text += (text.empty() ? "" : " ") + rule;
    return text;
}

/// The keys that are locked need a rule, too. Without a prefix nobody knows which they are.
std::string rule_of_keys(const server_report& report, const options& settings) {
    const auto names_keys = [](const std::string& rule) { return rule.starts_with('~'); };
    const bool keys =
        std::any_of(report.missing_rights.begin(), report.missing_rights.end(), names_keys);
    if (!keys || !settings.prefix.empty()) return {};
    return ", and '~PATTERN' of the keys that you lock (with --prefix it would be shown)";
}

finding rights(const server_report& report, const options& settings) {
    if (!report.missing_rights.empty()) {
        return {"rights", verdict::bad, "missing: " + in_a_row(report.missing_rights),
                rules_for(report, report.missing_rights) + rule_of_keys(report, settings),
                exit_code::permission};
    }
    if (report.further_rights.empty()) return {"rights", verdict::good, "all that are needed"};
    return {"rights", verdict::warning,
            "all that a lock needs, but not " + in_a_row(report.further_rights) +
                " for waiting, 'status', 'ls', 'renew', semaphores and read-write locks",
            rules_for(report, report.further_rights)};
}

/// Whoever guards against restarts gets no vote of it now.
bool grants_nothing(const server_report& report, const options& settings) {
    const bool waits = report.quarantine && *report.quarantine > 0ms;
    return guarded(settings) && (waits || !report.enlisted.value_or(true));
}

finding trial(const server_report& report, const options& settings) {
    if (!report.trial) return {"lock", verdict::bad, "not tried, as it is a replica"};
    if (!report.trial->code) {
        const std::string when = grants_nothing(report, settings)
                                     ? ", as it can be in earnest after "
                                       "the quarantine"
                                     : "";
        return {"lock", verdict::good, "taken and released on trial" + when};
    }
    return {"lock", verdict::bad, "refused on trial: " + report.trial->answer,
            fix_of_answer(report.trial->answer), exit_code_of(report.trial->code)};
}

finding tracking(const server_report& report, const options& settings) {
    if (report.tracking) return {"tracking", verdict::good, "waiters are told at once"};
    const std::string fix = "Redis 6 or later without a proxy, and the right to CLIENT TRACKING";
    if (!guarded(settings)) return {"tracking", verdict::warning, "no: waiters poll", fix};
    return {"tracking", verdict::bad,
            "no: nobody would be told when it is emptied, and it is asked for no votes", fix};
}

/// Of one server: a quorum has no queue.
finding queue(const server_report& report) {
    const std::string instead = ": waiters are not called in turn, and look now and then";
    if (!report.queue_rights.empty()) {
        return {"queue", verdict::warning, "not " + in_a_row(report.queue_rights) + instead,
                rules_for(report, report.queue_rights)};
    }
    if (report.protocol < 3) {
        return {"queue", verdict::warning, "no RESP3" + instead,
                "Redis 6 or later without a proxy"};
    }
    return {"queue", verdict::good, "waiters stand in line, and are called in turn"};
}

finding clock_of(const server_report& report) {
    const auto difference = *report.clock_difference;
    const auto size = difference < 0ms ? -difference : difference;
    const std::string found =
        in_words(size) + (difference < 0ms ? " behind" : " ahead of") + " ours";
    if (size <= odd_clock) return {"clock", verdict::good, found};
    return {"clock", verdict::warning, found,
            "run a time service on both; locks do not rest on it"};
}

// Whoever guards against restarts gets no vote of a server in quarantine, and waits for its end.
finding restart(const server_report& report, const options& settings) {
    const verdict waits = guarded(settings) ? verdict::bad : verdict::warning;
    if (report.quarantine && *report.quarantine > 0ms) {
        return {"restart", waits,
                "in quarantine for another " + in_words(*report.quarantine) +
                    (guarded(settings) ? ": it grants no lock until then" : " for guarded clients"),
                quarantine_advice(), exit_code::unavailable};
    }
    if (report.enlisted.value_or(false)) {
        return {"restart", verdict::good, "marked: a restart would be noticed"};
    }
    return {"restart", waits,
            "not marked, as it is new or has restarted: the first lock waits for max_ttl, " +
                format_duration(settings.max_ttl),
            "'holdfast enlist --fresh', only if it is new or every program that locks here has "
            "been stopped; else 'holdfast enlist', and wait",
            exit_code::unavailable};
}

finding agreement(const server_report& report, const options& settings) {
    const std::string agreed = format_duration(*report.max_ttl);
    const std::string ours = format_duration(settings.max_ttl);
    const std::string found = "its guarded clients agreed on " + agreed;
    if (*report.max_ttl == settings.max_ttl) return {"max_ttl", verdict::good, found};
    const std::string fix = "max_ttl=" + agreed +
                            " in the URL, the same for every client; or 'holdfast enlist --fresh' "
                            "with the new one, while nobody holds a lock";
    if (guarded(settings)) {
        return {"max_ttl", verdict::bad,
                found + ", and this one has " + ours + ": it is asked for no votes", fix};
    }
    if (settings.max_ttl < *report.max_ttl) return {"max_ttl", verdict::good, found};
    return {"max_ttl", verdict::warning,
            found + ", and this one may hold for " + ours + ", which they do not wait for", fix};
}

/// How many replicas of a shard have to acknowledge a lock.
std::size_t acks_of(std::size_t members, replicas acks) {
    switch (acks.how()) {
        case replicas::kind::none: return 0;
        case replicas::kind::majority: return members / 2;
        case replicas::kind::all: return members - 1;
        case replicas::kind::exactly: break;
    }
    return acks.count();
}

finding shard(const server_report& report, const options& settings) {
    const auto& part = *report.shard;
    const auto acks = settings.replica_acks.value_or(replicas::majority());
    const auto found = std::to_string(part.slots) + " of 16384 slots, " +
                       std::to_string(part.replicas) +
                       (part.replicas == 1 ? " replica" : " replicas");
    if (part.covered < 16384) {
        return {"cluster", verdict::bad,
                found + "; " + std::to_string(16384 - part.covered) +
                    " slots are served by nobody, and their keys cannot be locked",
                "look after the Cluster: redis-cli --cluster check " + report.node,
                exit_code::unavailable};
    }
    const auto needed = part.members > 0 ? acks_of(part.members, acks) : acks.count();
    if (needed > part.replicas) {
        return {"cluster", verdict::bad,
                found + " up, and " + std::to_string(needed) +
                    " must acknowledge a lock: none is granted",
                "bring the replicas of its shard back, or give it others: redis-cli --cluster "
                "add-node ... --cluster-slave",
                exit_code::unavailable};
    }
    if (part.replicas == 0) {
        return {"cluster", verdict::warning, found + ": nobody takes its place when it fails",
                "give it a replica: redis-cli --cluster add-node ... --cluster-slave"};
    }
    if (part.members == 0 && acks.needs_group()) {
        return {"cluster", verdict::bad,
                found +
                    "; it does not tell how many servers a shard has, so that no majority of "
                    "them can acknowledge a lock",
                "give a number of replicas, as replica_acks=1 in the URL"};
    }
    if (part.members > 0 && needed + 1 >= part.members) {
        return {"cluster", verdict::warning,
                found + ": when one of the " + std::to_string(part.members) +
                    " servers fails, its locks stop until that is back",
                "give it another replica: redis-cli --cluster add-node ... --cluster-slave"};
    }
    return {"cluster", verdict::good, found};
}

finding independence(const server_report& report) {
    if (report.one_with.empty()) return {"independent", verdict::good, "of the others"};
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

std::vector<finding> diagnose(const server_report& report, const options& settings) {
    std::vector<finding> findings{reachability(report)};
    const auto look = [&](auto... checks) { (findings.push_back(checks(report, settings)), ...); };
    const auto add = [&](const std::vector<finding>& more) {
        findings.insert(findings.end(), more.begin(), more.end());
    };
    if (report.group) add(diagnose_sentinels(*report.group));
    if (!report.error.empty()) return findings;
    look(round_trip, version, role);
    if (!report.unsupported.empty()) return findings;
    look(persistence, eviction, rights, trial, tracking);
    findings.push_back(settings.urls.size() > 1 ? independence(report) : queue(report));
    if (report.shard) look(shard);
    if (report.clock_difference) findings.push_back(clock_of(report));
    if (report.quarantine || (report.enlisted && guarded(settings))) look(restart);
    if (report.max_ttl) look(agreement);
    if (report.group) add(diagnose_replicas(report, settings));
    return findings;
}

int exit_code_of(const std::vector<finding>& findings) {
    const auto bad = std::find_if(findings.begin(), findings.end(),
                                  [](const finding& each) { return each.value == verdict::bad; });
    return bad == findings.end() ? exit_code::done : bad->exit_code;
}

}  // namespace holdfast::tool
