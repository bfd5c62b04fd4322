// What the nemesis does to a replication group and its Sentinels.

#include <stdexcept>

#include "storm/nemesis.hpp"

namespace holdfast::storm {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds longest_to_settle = 30s;
constexpr std::chrono::milliseconds longest_to_fail_over = 5s;

}  // namespace

std::vector<std::size_t> nemesis::choose_in_group(fault_kind kind) {
    auto& group = scene_.group();
    const std::size_t master = group.master();
    if (kind == fault_kind::stop_sentinel) {
        return {std::uniform_int_distribution<std::size_t>(0, 2)(random_)};
    }
    if (kind != fault_kind::stop_replicas) return {master};
    std::vector<std::size_t> replicas;
    for (std::size_t n = 0; n < scene_.servers(); ++n) {
        if (n != master) replicas.push_back(n);
    }
    return replicas;
}

/// Some are over before Sentinels notice, and some long after the fail-over.
void nemesis::choose_length(strike& chosen) {
    switch (chosen.kind) {
        case fault_kind::fail_over: return;
        case fault_kind::cut_off_master:
            // A Cluster's own time and the quarantine have to pass before there is another side.
            chosen.lasts = scene_.clustered() ? between(7s, 10s) : between(1500ms, 6s);
            return;
        case fault_kind::stop_master: chosen.lasts = between(1500ms, 6s); return;
        default: chosen.lasts = between(100ms, 4s);
    }
}

/// It has only begun when it was asked for, and until it is over the group looks settled.
void nemesis::fail_over_from(std::size_t master) {
    scene_.group().fail_over();
    const instant end = now() + longest_to_fail_over;
    while (now() < end && scene_.group().master() == master) pass_(50ms);
}

void nemesis::begin_in_group(const strike& chosen, std::size_t n) {
    switch (chosen.kind) {
        case fault_kind::fail_over: return fail_over_from(n);
        case fault_kind::stop_master:
        case fault_kind::stop_replicas: return scene_.server(n).pause();
        case fault_kind::kill_master: return scene_.server(n).kill_hard();
        case fault_kind::stop_sentinel: return scene_.group().sentinel(n).pause();
        case fault_kind::cut_off_master:
            scene_.group().cut_off_from_sentinels(n);
            return scene_.keep_news_from_some(true);
        default: return;
    }
}

void nemesis::end_in_group(const strike& chosen, std::size_t n) {
    switch (chosen.kind) {
        case fault_kind::stop_master:
        case fault_kind::stop_replicas: return scene_.server(n).resume();
        case fault_kind::kill_master:
            return chosen.harsh ? scene_.server(n).restart(test::data::lost)
                                : scene_.server(n).start();
        case fault_kind::stop_sentinel: return scene_.group().sentinel(n).resume();
        case fault_kind::cut_off_master:
            scene_.group().admit_again(n);
            return scene_.keep_news_from_some(false);
        default: return;
    }
}

/// What was struck goes on to have effects until all agree again: only then it counts as mended.
void nemesis::await_settled() {
    for (const instant end = now() + longest_to_settle; !scene_.settled(); pass_(50ms)) {
        if (now() > end) throw std::runtime_error("the replication group does not settle");
    }
}

}  // namespace holdfast::storm
