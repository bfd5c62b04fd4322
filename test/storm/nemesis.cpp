#include "storm/nemesis.hpp"

#include <algorithm>
#include <numeric>

namespace holdfast::storm {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds longest_between_strikes = 5s;
constexpr milliseconds typical_ttl = (shortest_ttl + longest_ttl) / 2;
// From the true time, either way. A forward jump shortens a quarantine by up to twice as much; what
// is left of it must still exceed by how much two clocks may differ.
constexpr milliseconds farthest_clock = max_ttl / 4 - 25ms;
constexpr milliseconds smallest_jump = 300ms;

std::string describe(const strike& chosen) {
    std::string text;
    for (const std::size_t n : chosen.targets) {
        text += (text.empty() ? "" : "+") + std::to_string(n + 1);
    }
    const bool sentinel = chosen.kind == fault_kind::stop_sentinel;
    return (strikes_workers(chosen.kind) ? "workers:"
            : sentinel                   ? "sentinels:"
                                         : "servers:") +
           text;
}

}  // namespace

nemesis::nemesis(scene& victims, recorder& notes, std::uint64_t seed, pass_time pass)
    : scene_(victims), notes_(notes), random_(seed), pass_(std::move(pass)) {}

void nemesis::rage(prey at, instant end) {
    const std::vector<std::size_t> victims = choose_victims(at);
    while (now() < end) {
        std::vector<std::size_t> spared = victims;
        std::vector<strike> all{choose(at, spared)};
        while (!spared.empty() && chance(40)) all.push_back(choose(at, spared));
        const instant began = now();
        carry_out(std::move(all));
        const auto took = std::chrono::duration_cast<milliseconds>(now() - began);
        pass_(std::clamp(longest_between_strikes - took - 100ms, 0ms, between(200ms, 1200ms)));
    }
}

std::vector<std::size_t> nemesis::choose_victims(prey at) {
    std::vector<std::size_t> all(scene_.servers());
    std::iota(all.begin(), all.end(), 0);
    if (at != prey::minority) return all;
    std::shuffle(all.begin(), all.end(), random_);
    all.resize((scene_.servers() - 1) / 2);
    return all;
}

/// With workers in it as often as pauses of them deserve. Several servers have no wait queue.
void nemesis::shuffle_deck(prey at) {
    auto& deck = decks_[at];
    if (at == prey::waiters) {
        deck = {fault_kind::stop_worker, fault_kind::stop_worker, fault_kind::stop_worker,
                fault_kind::kill_worker, fault_kind::kill_worker, fault_kind::kill_waiter};
    } else if (at == prey::group) {
        deck = {fault_kind::stop_worker, fault_kind::stop_worker, fault_kind::kill_worker,
                fault_kind::kill_clients, fault_kind::flush_scripts};
        for (auto n = static_cast<std::size_t>(first_of_a_group); n < fault_names.size(); ++n) {
            deck.push_back(static_cast<fault_kind>(n));
        }
        std::erase_if(deck, [&](fault_kind each) {
            return each == (scene_.clustered() ? fault_kind::stop_sentinel : fault_kind::move_slot);
        });
    } else {
        for (std::size_t n = 0; n < static_cast<std::size_t>(first_of_a_group); ++n) {
            deck.push_back(static_cast<fault_kind>(n));
        }
        deck.insert(deck.end(), 3, fault_kind::stop_worker);
        if (scene_.servers() > 1) std::erase(deck, fault_kind::kill_waiter);
    }
    std::shuffle(deck.begin(), deck.end(), random_);
}

fault_kind nemesis::draw(prey at) {
    auto& deck = decks_[at];
    if (deck.empty()) shuffle_deck(at);
    const fault_kind top = deck.back();
    deck.pop_back();
    return top;
}

/// Mostly who stands first in line, and perhaps another one.
std::vector<std::size_t> nemesis::choose_workers() {
    std::vector<std::size_t> all(scene_.workers());
    std::iota(all.begin(), all.end(), 0);
    std::vector<std::size_t> chosen = some_of(all, 2);
    const auto first = scene_.servers() == 1 && chance(75) ? first_in_line() : std::nullopt;
    if (!first) return chosen;
    if (std::find(chosen.begin(), chosen.end(), *first) == chosen.end()) chosen.front() = *first;
    return chosen;
}

/// Who stands there for a moment is found by looking again and again.
std::optional<std::size_t> nemesis::first_in_line() {
    for (int times = 0; times < 50; ++times) {
        if (const auto found = scene_.first_in_line(popular_key)) return found;
        pass_(5ms);
    }
    return std::nullopt;
}

strike nemesis::choose(prey at, std::vector<std::size_t>& free_servers) {
    strike chosen{.kind = draw(at)};
    if (strikes_workers(chosen.kind)) {
        chosen.targets = choose_workers();
        free_servers.clear();  // else a second strike could meet the same worker
    } else if (strikes_a_group(chosen.kind)) {
        chosen.targets =
            scene_.clustered() ? choose_in_cluster(chosen.kind) : choose_in_group(chosen.kind);
        free_servers.clear();
    } else {
        chosen.targets = some_of(free_servers, free_servers.size());
        std::erase_if(free_servers, [&](std::size_t n) {
            return std::find(chosen.targets.begin(), chosen.targets.end(), n) !=
                   chosen.targets.end();
        });
    }
    choose_details(chosen);
    // Long enough to see that others do not wait for it.
    const bool freezes = chosen.kind == fault_kind::stop_worker;
    if (at == prey::waiters && freezes && chosen.harsh) chosen.lasts = between(4s, 4900ms);
    return chosen;
}

void nemesis::choose_details(strike& chosen) {
    chosen.harsh = chance(50);
    switch (chosen.kind) {
        case fault_kind::clock_forwards:
        case fault_kind::clock_backwards: return choose_jump(chosen);
        case fault_kind::flush_all:
        case fault_kind::flush_scripts:
        case fault_kind::kill_clients:
        case fault_kind::kill_waiter: return;
        case fault_kind::delete_lock: chosen.repeated = 20; return;
        case fault_kind::stop_server:
        case fault_kind::stop_worker:
            chosen.lasts = between(typical_ttl / 2, 3 * typical_ttl);
            return;
        case fault_kind::delay:
            chosen.amount = between(10ms, 300ms);
            chosen.lasts = between(1s, 4s);
            return;
        default: break;
    }
    if (strikes_a_group(chosen.kind)) return choose_length(chosen);
    chosen.lasts = between(300ms, 3s);
}

/// Servers that are struck together jump together, by as much as all of them may.
void nemesis::choose_jump(strike& chosen) {
    const bool forwards = chosen.kind == fault_kind::clock_forwards;
    milliseconds room = 2 * farthest_clock;
    for (const std::size_t n : chosen.targets) {
        const auto offset = std::chrono::duration_cast<milliseconds>(scene_.clock_of(n).offset());
        room = std::min(room, farthest_clock + (forwards ? -offset : offset));
    }
    if (room < smallest_jump) {  // there is room in the other direction then
        chosen.kind = forwards ? fault_kind::clock_backwards : fault_kind::clock_forwards;
        chosen.targets.resize(1);
        return choose_jump(chosen);
    }
    chosen.amount = between(smallest_jump, room) * (forwards ? 1 : -1);
}

void nemesis::carry_out(std::vector<strike> all) {
    for (strike& each : all) begin(each);
    std::sort(all.begin(), all.end(),
              [](const strike& a, const strike& b) { return a.lasts < b.lasts; });
    milliseconds passed{0};
    for (const strike& each : all) {
        pass_(each.lasts - passed);
        passed = each.lasts;
        end(each);
    }
    doing_.clear();
}

void nemesis::begin(strike& chosen) {
    chosen.number = ++number_;
    doing_ +=
        (doing_.empty() ? "" : ", ") + std::string(name_of(chosen.kind)) + ' ' + describe(chosen);
    notes_.note({.what = happening::struck,
                 .hold = chosen.number,
                 .subject = describe(chosen),
                 .until = chosen.amount,
                 .text = std::string(name_of(chosen.kind))});
    for (int times = 0; times < chosen.repeated; ++times) {
        if (times > 0) pass_(between(5ms, 50ms));
        begin_once(chosen);
    }
}

void nemesis::begin_once(const strike& chosen) {
    for (const std::size_t n : chosen.targets) {
        if (strikes_workers(chosen.kind)) {
            begin_at_worker(chosen, n);
        } else {
            if (scene_.clustered()) {
                begin_in_cluster(chosen, n);
            } else {
                begin_in_group(chosen, n);
            }
            begin_at_server(chosen, n);
            begin_in_network(chosen, n);
            begin_by_command(chosen, n);
        }
    }
}

void nemesis::end(const strike& chosen) {
    for (const std::size_t n : chosen.targets) end_at(chosen, n);
    if (strikes_a_group(chosen.kind)) await_settled();
    notes_.note({.what = happening::mended, .hold = chosen.number});
}

std::vector<std::size_t> nemesis::some_of(std::vector<std::size_t> all, std::size_t most) {
    std::shuffle(all.begin(), all.end(), random_);
    all.resize(std::uniform_int_distribution<std::size_t>(1, most)(random_));
    std::sort(all.begin(), all.end());
    return all;
}

milliseconds nemesis::between(milliseconds least, milliseconds most) {
    return milliseconds(
        std::uniform_int_distribution<milliseconds::rep>(least.count(), most.count())(random_));
}

bool nemesis::chance(int percent) {
    return std::uniform_int_distribution<int>(1, 100)(random_) <= percent;
}

}  // namespace holdfast::storm
