#pragma once

#include <array>
#include <chrono>
#include <ostream>
#include <string_view>

#include "core/acquire.hpp"
#include "core/contend.hpp"
#include "core/judge.hpp"
#include "core/release.hpp"
#include "core/renew.hpp"
#include "core/watchdog.hpp"

/// How the values of the core look when an expectation fails.
namespace holdfast {

/// Found through the clock, which is the only part of core::time_point that is ours.
inline std::ostream& operator<<(std::ostream& out, core::time_point when) {
    if (when == core::never) return out << "never";
    return out << "at " << when.time_since_epoch().count() << "ns";
}

namespace core {

template <std::size_t Count>
std::ostream& print_name(std::ostream& out, auto value,
                         const std::array<std::string_view, Count>& names) {
    const auto index = static_cast<std::size_t>(value);
    return index < Count ? out << names[index] : out << "value " << index;
}

inline std::ostream& operator<<(std::ostream& out, fencing_token token) {
    return out << '#' << token.value;
}

inline std::ostream& operator<<(std::ostream& out, node_index node) {
    return out << unsigned{node.value};
}

inline std::ostream& operator<<(std::ostream& out, node_set nodes) {
    out << '{';
    nodes.for_each([&, first = true](node_index node) mutable {
        out << (first ? "" : ",") << node;
        first = false;
    });
    return out << '}';
}

inline std::ostream& operator<<(std::ostream& out, acquire::state value) {
    return print_name<5>(out, value, {"idle", "collecting", "committing", "held", "failed"});
}

inline std::ostream& operator<<(std::ostream& out, acquire::verdict value) {
    return print_name<6>(out, value,
                         {"none", "held", "contended", "unreachable", "too_late", "cancelled"});
}

inline std::ostream& operator<<(std::ostream& out, const acquire::actions& value) {
    return out << "acquire on " << value.acquire_on << ", commit " << value.commit << " on "
               << value.commit_on << ", release on " << value.release_on
               << (value.decided ? ", decided" : ", undecided");
}

inline std::ostream& operator<<(std::ostream& out, renew::state value) {
    return print_name<5>(out, value, {"idle", "extending", "extended", "unconfirmed", "lost"});
}

inline std::ostream& operator<<(std::ostream& out, const renew::actions& value) {
    return out << "extend on " << value.extend_on << (value.decided ? ", decided" : ", undecided");
}

inline std::ostream& operator<<(std::ostream& out, release::state value) {
    return print_name<3>(out, value, {"idle", "releasing", "decided"});
}

inline std::ostream& operator<<(std::ostream& out, release::verdict value) {
    return print_name<4>(out, value, {"none", "released", "already_lost", "unknown"});
}

inline std::ostream& operator<<(std::ostream& out, const release::actions& value) {
    return out << "release on " << value.release_on
               << (value.decided ? ", decided" : ", undecided");
}

inline std::ostream& operator<<(std::ostream& out, watchdog::state value) {
    return print_name<4>(out, value, {"held", "announced", "lost", "closed"});
}

inline std::ostream& operator<<(std::ostream& out, watchdog::action value) {
    return print_name<4>(out, value, {"none", "renew", "announce", "lose"});
}

inline std::ostream& operator<<(std::ostream& out, const watchdog::decision& value) {
    return out << value.what << ", ttl " << value.ttl.count() << "ns, wake " << value.wake_at;
}

inline std::ostream& operator<<(std::ostream& out, const denial_summary& value) {
    return out << value.remaining.count() << "ns left" << (value.tracked ? ", tracked" : "")
               << (value.split ? ", split" : "");
}

inline std::ostream& operator<<(std::ostream& out, contend::state value) {
    return print_name<4>(out, value, {"idle", "attempting", "waiting", "done"});
}

inline std::ostream& operator<<(std::ostream& out, contend::action value) {
    return print_name<3>(out, value, {"none", "attempt", "finish"});
}

inline std::ostream& operator<<(std::ostream& out, const contend::decision& value) {
    return out << value.what << ", wake " << value.wake_at;
}

inline std::ostream& operator<<(std::ostream& out, judge::standing value) {
    return print_name<4>(out, value, {"unjudged", "fit", "unfit", "voided"});
}

inline std::ostream& operator<<(std::ostream& out, judge::flaw value) {
    return print_name<3>(out, value, {"none", "evicts", "replica"});
}

inline std::ostream& operator<<(std::ostream& out, const conflict& value) {
    return print_name<2>(out, value.how, {"same_server", "replica"})
           << ' ' << value.first << ' ' << value.second;
}

}  // namespace core
}  // namespace holdfast
