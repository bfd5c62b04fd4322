#pragma once

#include <cstdint>
#include <optional>
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
namespace holdfast::sim {

struct small_case {
    bool timed = false;
    unsigned attempts = 4;  // of both clients together, at most two of each
    unsigned losses = 1;    // connections that break
    unsigned crashes = 1;
    unsigned expiries = 1;
    std::uint64_t most_states = 400'000'000;  // a limit on memory, not on the search: reported
};

struct search_result {
    std::uint64_t states = 0;
    std::uint64_t transitions = 0;
    bool complete = true;                 // all states were seen
    std::optional<std::string> broken{};  // which promise
    std::vector<std::string> story{};     // the steps that led there
};

search_result explore(const small_case& what);

}  // namespace holdfast::sim
