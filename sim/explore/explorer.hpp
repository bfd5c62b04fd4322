#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// An explicit-state search: every schedule of a small case, over the same core and scripts.
///
/// Three nodes, two clients. Requests and answers are under way for as long as one likes; they
/// keep their order within a connection. A connection may break, and what was under way to the
/// node may still arrive, after what is sent over the next one. A node may crash and lose all.
///
/// Time is abstract. An attempt is either within its validity or past it:
///   timed     a key expires only once its owner's validity is over (what the guard is for), and a
///             node that lost its data grants nothing until every attempt of before is past its
///             validity. Both promises are checked.
///   timeless  keys expire whenever one likes, and no client ever looks at a clock. T2 is checked.
///
/// Most schedules differ in nothing that anybody could notice. How much of that is made use of:
///   plain     nothing: one step at a time, and every state counts
///   leaps     steps that nobody notices are taken together with one that is
///   (sim/explore/small_leaps.hpp) full      and states that nobody can tell apart count as one
///   (sim/explore/canonical.hpp)
namespace holdfast::sim {

enum class reduction : std::uint8_t { plain, leaps, full };

struct small_case {
    bool timed = false;
    unsigned attempts = 4;  // of both clients together, at most two of each
    unsigned losses = 1;    // connections that break
    unsigned crashes = 1;
    unsigned expiries = 1;
    reduction by = reduction::full;
    bool compares = false;  // notes down what one way of searching can be compared with another by
    unsigned jobs = 1;
    std::uint64_t most_states = 1'000'000'000;  // a limit on memory, not on the search: reported
};

/// What can be told of the moment in which a client believes that it has the lock.
struct acquisition {
    std::array<std::uint16_t, 4> token{};  // of every attempt that has one
    std::array<std::uint16_t, 4> floor{};  // what each attempt's must exceed
    std::array<std::uint8_t, 2> begun{};   // attempts of each client
    std::uint8_t owner = 0;
    bool other_holds = false;
    friend auto operator<=>(const acquisition&, const acquisition&) = default;
};

struct search_result {
    std::uint64_t states = 0;
    std::uint64_t transitions = 0;
    std::uint64_t classes = 0;         // what `full` would count; with `leaps` and `compares` alone
    std::set<acquisition> acquired{};  // all that were seen; with `compares` alone
    bool complete = true;              // all states were seen
    std::optional<std::string> broken{};  // which promise
    std::vector<std::string> story{};     // the steps that led there
};

/// Called now and then, from one thread at a time, with the number of states seen.
using search_progress = std::function<void(std::uint64_t states, std::uint64_t transitions)>;

search_result explore(const small_case& what, const search_progress& progress = {});

}  // namespace holdfast::sim
