#include "storm/summary.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>

#include "storm/line_counts.hpp"

namespace holdfast::storm {
namespace {

constexpr std::size_t stories_shown = 20;

std::size_t count(const account& all, happening what) {
    const auto found = all.counts.find(what);
    return found == all.counts.end() ? 0 : found->second;
}

std::size_t ended_as(const account& all, std::string_view outcome) {
    return static_cast<std::size_t>(
        std::count_if(all.holds.begin(), all.holds.end(),
                      [&](const hold& each) { return each.outcome == outcome; }));
}

std::size_t handed_off(const account& all) {
    return static_cast<std::size_t>(std::count_if(
        all.holds.begin(), all.holds.end(), [](const hold& each) { return each.handed_off; }));
}

double milliseconds_of(instant time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

void print_percentiles(std::ostream& out, std::string_view name, std::vector<instant> values) {
    out << std::left << std::setw(10) << name << std::right;
    if (values.empty()) {
        out << "  none\n";
        return;
    }
    std::sort(values.begin(), values.end());
    const auto at = [&](std::size_t per_mille) {
        return milliseconds_of(values[(values.size() - 1) * per_mille / 1000]);
    };
    out << std::fixed << std::setprecision(1) << "  median " << at(500) << " ms, 90% " << at(900)
        << " ms, 99% " << at(990) << " ms, longest " << at(1000) << " ms\n";
}

void print_operations(std::ostream& out, const account& all, const verdict& found) {
    out << "attempts    " << count(all, happening::began) << ": " << count(all, happening::acquired)
        << " acquired, " << count(all, happening::denied) << " denied, "
        << count(all, happening::failed) << " failed\n"
        << "leases      " << ended_as(all, "released") << " released, "
        << ended_as(all, "already_lost") << " already lost, " << ended_as(all, "unknown")
        << " unknown, " << count(all, happening::left) << " left to their ttl; "
        << count(all, happening::warned) << " losses announced, " << found.warned_in_time
        << " of leases that were held on to\n"
        << "handed off  " << handed_off(all) << " of them, within a process\n"
        << "updates     " << found.fenced_updates << " fenced, " << count(all, happening::refused)
        << " refused; " << found.plain_updates << " plain\n"
        << "plain lost  " << found.lost_after_deadline << " by a write after its deadline, "
        << found.lost_unpromised << " where T1 is not promised, " << found.lost_around_a_kill
        << " around a kill\n"
        << "overlaps    " << found.overlaps_unpromised
        << " where a clock had jumped forwards or a lock was deleted: T1 is not promised\n";
}

void print_line(std::ostream& out, const account& all, const verdict& found) {
    if (all.sights.empty()) return;
    const line_counts seen = count_lines(all);
    out << "in line     " << seen.in_line << " attempts, up to " << seen.longest << " at once; "
        << seen.granted << " of them were seen to be granted the lock; in " << seen.looks
        << " states\n"
        << "            " << seen.fair << " leases of fair callers; gave up: " << seen.timed_out
        << " timed out, " << seen.cancelled << " cancelled\n"
        << "            first in line: " << seen.frozen_first
        << " frozen; dead in line: " << seen.killed_first << " workers; " << found.passed_over
        << " locks lay with one of those for a second\n"
        << "order       compared for " << found.grants_compared << " grants, and for "
        << found.arrivals_compared << " who came while others stood in line\n"
        << "shares      compared in " << found.shares_compared << " rushes, best to worst "
        << std::fixed << std::setprecision(2) << found.widest_share << " at most\n";
}

void print_faults(std::ostream& out, const account& all) {
    std::map<fault_kind, std::size_t> kinds;
    for (const fault& each : all.faults) ++kinds[each.kind];
    out << "faults      " << all.faults.size() << ':';
    std::size_t column = 0;
    for (const auto& [kind, times] : kinds) {
        out << (column++ % 5 == 0 && column > 1 ? ",\n            "
                : column > 1                    ? ", "
                                                : " ")
            << name_of(kind) << ' ' << times;
    }
    out << '\n';
}

void print_violations(std::ostream& out, const verdict& found) {
    out << "violations  " << found.violations.size() << '\n';
    std::map<rule, std::size_t> kinds;
    for (const violation& each : found.violations) ++kinds[each.broken];
    for (const auto& [broken, times] : kinds) {
        out << "            " << name_of(broken) << ": " << times << '\n';
    }
    std::size_t shown = 0;
    for (const violation& each : found.violations) {
        if (shown++ == stories_shown) {
            out << "  ... and more\n";
            break;
        }
        out << "  " << name_of(each.broken) << ": " << each.story << '\n';
    }
}

}  // namespace

void print_summary(std::ostream& out, const account& all, const verdict& found) {
    std::vector<instant> waits;
    std::vector<instant> holds;
    for (const hold& each : all.holds) {
        waits.push_back(each.acquired - each.began);
        holds.push_back(each.let_go.value_or(each.deadline) - each.acquired);
    }
    out << "time        " << std::fixed << std::setprecision(0)
        << std::chrono::duration<double>(all.end - all.begin).count() << " s\n";
    print_operations(out, all, found);
    print_line(out, all, found);
    print_percentiles(out, "waits", waits);
    print_percentiles(out, "holds", holds);
    print_faults(out, all);
    print_violations(out, found);
}

}  // namespace holdfast::storm
