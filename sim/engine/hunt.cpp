#include "sim/engine/hunt.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "sim/engine/sweep.hpp"
#include "sim/mutants.hpp"

namespace holdfast::sim::engine {
namespace {

// What goes round in circles uses up a processor: a hunt that ends takes a fraction of it. What a
// failed assertion says is not worth a line for each mutant.
constexpr const char* quiet_and_mortal = "ulimit -c 0; ulimit -t 1200; exec 2>/dev/null; exec ";

// Some show themselves in seeds of one kind only, which are few: the others are passed over. These
// are asked for more often, so that as many are run.
struct ground {
    choice worth = any_seed;
    std::uint64_t share = 1;  // one in so many is worth it
};

ground ground_for(breakage which) {
    switch (which) {
        case breakage::another_floor_not_waited_for:
        case breakage::emptied_unnoticed_in_handshake:
        case breakage::tracking_after_enlisting:
            return {[](const plan& p) { return p.interrupts; }, 50};
        case breakage::untracked_server_asked:
        case breakage::max_ttl_not_compared:
            return {[](const plan& p) { return p.outsider != outsider::none; }, 40};
        case breakage::life_from_the_restart:
            return {[](const plan& p) { return p.length == std::chrono::seconds(30); }, 30};
        case breakage::renewal_after_the_deadline:
            return {[](const plan& p) { return p.renewing && p.has(fault::client_pause); }, 5};
        default: return {};
    }
}

void print_row(const mutant& prey, const char* by, const std::string& after) {
    std::printf("%-34s %-7s %-18s %9s seeds   %s\n", std::string(prey.name).c_str(),
                name_of(prey.where), by, after.c_str(), std::string(prey.what).c_str());
    std::fflush(stdout);
}

// How a process came to its end, as wait() tells it: the signal below, an exit code above.
int signal_in(int status) { return status & 0x7f; }
int exit_code_in(int status) { return status >> 8; }

// Its own row is printed by who has gone through the seeds, unless a signal has ended it before. A
// hunt that could not be held has caught nothing.
bool hunt_in_child(const mutant& prey, unsigned jobs, std::uint64_t most) {
    const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
    const auto command = quiet_and_mortal + ("'" + self) + "' --hunt " + std::string(prey.name) +
                         " --jobs " + std::to_string(jobs) + " --most " + std::to_string(most);
    const int status = std::system(command.c_str());
    const int killed_by = signal_in(status);
    if (killed_by != 0) {
        print_row(prey, killed_by == SIGABRT ? "assertion" : "crash, or no end", "-");
        return true;
    }
    if (exit_code_in(status) > 1) print_row(prey, "NOT HUNTED", "-");
    return status == 0;
}

// It takes four rare things in one order: the search over all orders finds it (sim/hunt.cpp).
bool is_prey(const mutant& each) { return each.which != breakage::disowned_counts_as_committed; }

}  // namespace

int hunt(const mutant& prey, unsigned jobs, std::uint64_t most) {
    active_breakage = prey.which;
    const auto [worth, share] = ground_for(prey.which);
    const auto result = sweep({0, most * share}, jobs, fault_set::all(), {}, worth);
    if (!result.first) {
        print_row(prey, "NOT CAUGHT", std::to_string(most));
        return 1;
    }
    const auto after = share == 1 ? result.first->settings.seed + 1 : result.sum.seeds;
    print_row(prey, name_of(result.first->broken.broken), std::to_string(after));
    return 0;
}

int hunt_all(unsigned jobs, std::uint64_t most) {
    std::printf("%-34s %-7s %-18s %9s         %s\n", "mutant", "in", "caught by", "after",
                "what it breaks");
    std::fflush(stdout);
    std::size_t caught = 0;
    std::size_t hunted = 0;
    for (const auto& each : all_mutants()) {
        if (!is_prey(each)) continue;
        ++hunted;
        if (hunt_in_child(each, jobs, most)) ++caught;
    }
    std::printf("%zu of %zu mutants caught\n", caught, hunted);
    return caught == hunted ? 0 : 1;
}

}  // namespace holdfast::sim::engine
