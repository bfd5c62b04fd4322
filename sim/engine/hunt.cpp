#include "sim/engine/hunt.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <system_error>

#include "sim/engine/sweep.hpp"
#include "sim/mutants.hpp"

namespace holdfast::sim::engine {
namespace {

// What goes round in circles uses up a processor: a hunt that ends takes a fraction of it.
constexpr rlim_t longest_hunt_in_seconds = 1200;

/// What the hunter tells its parent, in memory that both have.
struct trophy {
    std::uint64_t after = 0;
    std::array<char, 32> by{};
};

class shared_trophy {
  public:
    shared_trophy()
        : where_(mmap(nullptr, sizeof(trophy), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                      -1, 0)) {
        if (where_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
        new (where_) trophy;
    }
    ~shared_trophy() { munmap(where_, sizeof(trophy)); }
    shared_trophy(const shared_trophy&) = delete;
    shared_trophy& operator=(const shared_trophy&) = delete;

    trophy& operator*() { return *static_cast<trophy*>(where_); }

  private:
    void* where_;
};

// What a failed assertion says is not worth a line for each mutant.
void be_quiet_and_mortal() {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    const rlimit time{longest_hunt_in_seconds, longest_hunt_in_seconds};
    setrlimit(RLIMIT_CPU, &time);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere != -1) dup2(nowhere, STDERR_FILENO);
}

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

[[noreturn]] void hunt_in_child(const mutant& prey, unsigned jobs, std::uint64_t most,
                                trophy& won) {
    be_quiet_and_mortal();
    active_breakage = prey.which;
    const auto [worth, share] = ground_for(prey.which);
    const auto result = sweep(
        {0, most * share}, jobs, fault_set::all(),
        [&](const totals& sum) { won.after = sum.seeds; }, worth);
    if (result.first) {
        won.after = share == 1 ? result.first->settings.seed + 1 : result.sum.seeds;
        std::strncpy(won.by.data(), name_of(result.first->broken.broken), won.by.size() - 1);
    }
    _exit(result.first ? 1 : 0);
}

// Nothing: it got away.
std::optional<std::string> caught_by(int status, const trophy& won) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::nullopt;
    if (WIFEXITED(status)) return won.by.data();
    return WTERMSIG(status) == SIGABRT   ? "assertion"
           : WTERMSIG(status) == SIGXCPU ? "no end"
                                         : "crash";
}

bool hunt(const mutant& prey, unsigned jobs, std::uint64_t most) {
    shared_trophy won;
    std::fflush(stdout);
    const auto child = fork();
    if (child == -1) throw std::system_error(errno, std::generic_category(), "fork");
    if (child == 0) hunt_in_child(prey, jobs, most, *won);
    int status = 0;
    waitpid(child, &status, 0);
    const auto by = caught_by(status, *won);
    std::printf("%-34s %-7s %-18s %9llu seeds   %s\n", std::string(prey.name).c_str(),
                name_of(prey.where), by ? by->c_str() : "NOT CAUGHT",
                static_cast<unsigned long long>(by ? (*won).after : most),
                std::string(prey.what).c_str());
    return by.has_value();
}

// It takes four rare things in one order: the search over all orders finds it (sim/hunt.cpp).
bool is_prey(const mutant& each) { return each.which != breakage::disowned_counts_as_committed; }

}  // namespace

int hunt_all(unsigned jobs, std::uint64_t most) {
    std::printf("%-34s %-7s %-18s %9s         %s\n", "mutant", "in", "caught by", "after",
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

}  // namespace holdfast::sim::engine
