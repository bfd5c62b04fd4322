#include "sim/hunt.hpp"

#include <cstdio>
#include <optional>
#include <string>

#include "sim/explorer.hpp"
#include "sim/mutants.hpp"
#include "sim/sweep.hpp"

namespace holdfast::sim {
namespace {

// What breaks src/net or src/runtime alone is not in this simulator.
bool is_prey(const mutant& each) {
    return each.where != mutant::place::net && each.where != mutant::place::runtime;
}

struct trophy {
    std::string by;
    std::uint64_t after = 0;
    const char* unit = "seeds";
};

// What needs several rare things in one order is found faster by looking at all orders.
std::optional<trophy> search_for() {
    constexpr small_case ground{.attempts = 3, .losses = 0, .crashes = 0, .expiries = 1};
    const auto found = explore(ground);
    if (!found.broken) return std::nullopt;
    return trophy{"search, " + found.broken->substr(0, 2), found.states, "states"};
}

std::optional<trophy> sweep_for(unsigned jobs, std::uint64_t most) {
    const auto result = sweep({0, most}, jobs, fault_set::all());
    if (!result.first) return std::nullopt;
    return trophy{name_of(result.first->broken.broken), result.first->settings.seed + 1};
}

bool hunt(const mutant& prey, unsigned jobs, std::uint64_t most) {
    active_breakage = prey.which;
    const auto caught =
        prey.which == breakage::disowned_counts_as_committed ? search_for() : sweep_for(jobs, most);
    active_breakage = breakage::none;
    std::printf("%-34s %-7s %-18s %9llu %-7s %s\n", std::string(prey.name).c_str(),
                name_of(prey.where), caught ? caught->by.c_str() : "NOT CAUGHT",
                static_cast<unsigned long long>(caught ? caught->after : most),
                caught ? caught->unit : "seeds", std::string(prey.what).c_str());
    std::fflush(stdout);
    return caught.has_value();
}

}  // namespace

int hunt_all(unsigned jobs, std::uint64_t most) {
    std::printf("%-34s %-7s %-18s %9s %-7s %s\n", "mutant", "in", "caught by", "after", "",
                "what it breaks");
    std::size_t caught = 0;
    std::size_t hunted = 0;
    for (const auto& each : all_mutants()) {
        if (!is_prey(each)) continue;
        ++hunted;
        if (hunt(each, jobs, most)) ++caught;
    }
    std::printf("%zu of %zu mutants caught\n", caught, hunted);
    return caught == hunted ? 0 : 1;
}

}  // namespace holdfast::sim
