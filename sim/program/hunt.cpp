#include "sim/program/hunt.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

#include "sim/explore/explorer.hpp"
#include "sim/mutants/mutants.hpp"
#include "sim/program/child.hpp"
#include "sim/program/sweep.hpp"

namespace holdfast::sim {
namespace {

// What goes round in circles uses up a processor: a hunt that ends takes a fraction of it. What a
// failed assertion says is not worth a line for each mutant.
constexpr const char* quiet_and_mortal = "ulimit -c 0; ulimit -t 1200; exec 2>/dev/null; ";

// Some show themselves in seeds of one kind only, which are few: the others are passed over. These
// are asked for more often, so that as many are run.
struct ground {
    choice worth = any_seed;
    std::uint64_t share = 1;  // one in so many is worth it
    topology shape = topology::servers;
};

ground ground_of_groups(breakage which) {
    switch (which) {
        case breakage::quarantine_before_its_acknowledgement:
        case breakage::no_quarantine_after_promotion:
        case breakage::acknowledged_without_a_write:
        case breakage::joined_to_the_round_under_way:
        case breakage::unacknowledged_grant_counts:
        case breakage::unacknowledged_renewal_counts: return {any_seed, 1, topology::group};
        case breakage::replica_taken_for_the_master:
            return {[](const plan& p) { return p.group.lasting && p.has(fault::stale_sentinel); },
                    8, topology::group};
        case breakage::confirmed_by_another_server:
            return {[](const plan& p) { return p.group.sentinels == 0; }, 8, topology::group};
        default: return {};
    }
}

ground ground_of_kinds(breakage which) {
    switch (which) {
        case breakage::permit_expiry_ignored:
        case breakage::given_back_slot_stays_free:
        case breakage::one_permit_too_many:
        case breakage::newcomers_share_a_slot:
        case breakage::anothers_permit_given_back:
        case breakage::first_slot_given_back:
        case breakage::permit_without_a_token:
        case breakage::renewed_into_the_first_slot:
        case breakage::lost_permit_renewed:
        case breakage::permit_taken_past_the_line:
        case breakage::permits_for_the_dead:
        case breakage::permit_given_back_to_nobody:
        case breakage::permit_waiter_stays_in_line:
        case breakage::semaphore_ends_early:
        case breakage::semaphore_for_ever:
        case breakage::slot_not_told:
        case breakage::permit_waiter_comes_anew:
            return {[](const plan& p) { return p.kind.which == other_kind::semaphore; }, 4,
                    topology::kinds};
        case breakage::several_looks_at_the_first_key:
        case breakage::several_token_above_one_counter:
        case breakage::several_taken_past_the_line:
        case breakage::several_leaves_no_line:
        case breakage::several_releases_the_first_key:
        case breakage::several_releases_what_is_anothers:
        case breakage::several_renews_the_first_key:
            return {
                [](const plan& p) { return p.kind.which == other_kind::several && p.nodes == 1; },
                5, topology::kinds};
        case breakage::several_voted_by_the_first_key:
        case breakage::several_commits_the_first_counter:
            return {
                [](const plan& p) { return p.kind.which == other_kind::several && p.nodes > 1; }, 8,
                topology::kinds};
        case breakage::leader_noted_without_value:
        case breakage::leader_not_noted:
        case breakage::denied_candidate_noted:
        case breakage::note_left_behind:
        case breakage::anothers_note_deleted:
            return {
                [](const plan& p) { return p.kind.which == other_kind::election && p.nodes == 1; },
                12, topology::kinds};
        case breakage::latch_opens_one_early:
        case breakage::latch_counts_requests:
        case breakage::latch_tells_nobody:
        case breakage::latch_counts_nobody_else:
            return {[](const plan& p) { return p.kind.which == other_kind::latch; }, 4,
                    topology::kinds};
        case breakage::term_not_committed_to_the_note:
        case breakage::term_not_proclaimed:
        case breakage::candidate_handed_off:
            return {
                [](const plan& p) { return p.kind.which == other_kind::election && p.nodes > 1; },
                4, topology::kinds};
        default: return ground_of_groups(which);
    }
}

ground ground_of_readers(breakage which) {
    switch (which) {
        case breakage::reader_joins_a_writer:
        case breakage::quorum_reader_joins_a_writer:
        case breakage::reader_passes_the_line:
        case breakage::longest_reader_takes_all_along:
        case breakage::lock_outlives_its_readers:
        case breakage::lock_ends_with_the_first_reader:
        case breakage::anybody_reads_on:
        case breakage::ended_reader_counts:
        case breakage::readers_left_in_line:
        case breakage::dead_readers_let_in:
        case breakage::readers_let_in_for_long:
        case breakage::last_reader_calls_nobody:
        case breakage::reader_stays_in_line:
        case breakage::readers_draw_no_token:
        case breakage::commit_by_who_reads_no_more:
        case breakage::readers_for_ever:
        case breakage::reader_comes_anew: return {[](const plan& p) { return p.shared; }, 4};
        case breakage::downgrade_leaves_a_gap:
            return {[](const plan& p) { return p.downgrades_per_mille > 0; }, 8};
        case breakage::downgraded_under_other_digits:
            return {[](const plan& p) { return p.downgrades_per_mille > 0 && p.faults.empty(); },
                    250};
        case breakage::readers_of_another_time_count:
            return {[](const plan& p) { return p.shared && p.deletions > 0; }, 80};
        default: return ground_of_kinds(which);
    }
}

ground ground_for(breakage which) {
    switch (which) {
        case breakage::another_floor_not_waited_for:
        case breakage::emptied_unnoticed_in_handshake:
        case breakage::tracking_after_enlisting:
            return {[](const plan& p) { return p.interrupts; }, 50};
        case breakage::untracked_server_asked:
        case breakage::max_ttl_not_compared:
            return {[](const plan& p) { return p.outsider != outsider::none; }, 40};
        case breakage::handed_to_latecomers:
        case breakage::spare_token_for_a_latecomer:
            return {[](const plan& p) { return p.deletions >= 20; }, 30};
        case breakage::listening_forgotten:
            return {[](const plan& p) { return p.deletions > 0 && p.deletions < 20; }, 40};
        case breakage::refused_release_forgotten:
        case breakage::refusal_taken_for_not_ours:
        case breakage::enlisting_refused_and_ignored:
            return {[](const plan& p) { return p.has(fault::refusal); }, 3};
        case breakage::guard_time_forgotten:
            return {[](const plan& p) { return p.timing.guard_time > core::duration{0}; }, 3};
        case breakage::life_from_the_restart:
            return {[](const plan& p) { return p.length == std::chrono::seconds(30); }, 30};
        case breakage::renewal_after_the_deadline:
            return {[](const plan& p) { return p.renewing && p.has(fault::client_pause); }, 5};
        default: return ground_of_readers(which);
    }
}

struct trophy {
    std::string by;
    std::uint64_t after = 0;
    const char* unit = "seeds";
};

// It takes four rare things in one order: found by looking at all orders.
bool is_left_to_the_search(breakage which) {
    return which == breakage::disowned_counts_as_committed;
}

std::optional<trophy> search_for_it(unsigned jobs) {
    const auto found =
        explore({.attempts = 3, .losses = 0, .crashes = 0, .expiries = 1, .jobs = jobs});
    if (!found.broken) return std::nullopt;
    return trophy{"search, " + found.broken->substr(0, 2), found.states, "states"};
}

std::optional<trophy> sweep_for_it(unsigned jobs, std::uint64_t most) {
    const auto [worth, share, shape] = ground_for(active_breakage);
    const auto result = sweep({0, most * share}, jobs, fault_set::all(), {}, worth, shape);
    if (!result.first) return std::nullopt;
    const auto after = share == 1 ? result.first->settings.seed + 1 : result.sum.seeds;
    return trophy{name_of(result.first->broken.broken), after};
}

void print_row(const mutant& prey, const char* by, const std::string& after) {
    std::printf("%-34s %-7s %-18s %13s   %s\n", std::string(prey.name).c_str(), name_of(prey.where),
                by, after.c_str(), std::string(prey.what).c_str());
    std::fflush(stdout);
}

// Its own row is printed by who has gone through the seeds, unless a signal has ended it before. A
// hunt that could not be held has caught nothing.
bool hunt_in_child(const mutant& prey, unsigned jobs, std::uint64_t most) {
    const auto ended = run_program(std::filesystem::read_symlink("/proc/self/exe"),
                                   {"--hunt", std::string(prey.name), "--jobs",
                                    std::to_string(jobs), "--most", std::to_string(most)},
                                   quiet_and_mortal);
    if (ended.signal != 0) {
        print_row(prey, ended.signal == SIGABRT ? "assertion" : "crash, or no end", "-");
        return true;
    }
    if (ended.code > 1) print_row(prey, "NOT HUNTED", "-");
    return ended.code == 0;
}

}  // namespace

int hunt(const mutant& prey, unsigned jobs, std::uint64_t most) {
    active_breakage = prey.which;
    const auto caught =
        is_left_to_the_search(prey.which) ? search_for_it(jobs) : sweep_for_it(jobs, most);
    if (caught) {
        print_row(prey, caught->by.c_str(), std::to_string(caught->after) + " " + caught->unit);
    } else {
        print_row(prey, "NOT CAUGHT", std::to_string(most) + " seeds");
    }
    return caught ? 0 : 1;
}

int hunt_all(unsigned jobs, std::uint64_t most) {
    std::printf("%-34s %-7s %-18s %13s   %s\n", "mutant", "in", "caught by", "after",
                "what it breaks");
    std::fflush(stdout);
    std::size_t caught = 0;
    for (const auto& each : all_mutants()) {
        if (hunt_in_child(each, jobs, most)) ++caught;
    }
    std::printf("%zu of %zu mutants caught\n", caught, all_mutants().size());
    return caught == all_mutants().size() ? 0 : 1;
}

}  // namespace holdfast::sim
