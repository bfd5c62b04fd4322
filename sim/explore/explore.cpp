#include "sim/explore/explore.hpp"

#include <chrono>
#include <cstdio>

#include "sim/explore/queue_rules.hpp"
#include "sim/mutants/breakage.hpp"
#include "sim/mutants/mutants.hpp"

namespace holdfast::sim {
namespace {

struct named_case {
    const char* name;
    small_case what;
    breakage rule = breakage::none;
    search_result (*search)(const small_case&, const search_progress&) = explore;
};

// A line every ten seconds, where somebody may be watching.
class ticker {
  public:
    void operator()(std::uint64_t states, std::uint64_t transitions) {
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < std::chrono::seconds(10)) return;
        last_ = now;
        std::fprintf(stderr, "    %llu states, %llu steps so far\n",
                     static_cast<unsigned long long>(states),
                     static_cast<unsigned long long>(transitions));
    }

  private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Returns whether it went as it should: the right rule holds, a wrong one fails.
bool run(const named_case& each) {
    const auto begun = std::chrono::steady_clock::now();
    const auto before = active_breakage;
    if (each.rule != breakage::none) active_breakage = each.rule;
    const auto found = each.search(each.what, ticker{});
    active_breakage = before;
    const auto took =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    std::printf("%-44s %12llu states %13llu steps %7.1f s  %s%s\n", each.name,
                static_cast<unsigned long long>(found.states),
                static_cast<unsigned long long>(found.transitions), took,
                found.broken ? found.broken->c_str() : "holds",
                found.complete ? "" : " (not all states seen)");
    const bool wrong = each.rule != breakage::none;
    if (found.broken.has_value() != wrong) {
        for (const auto& line : found.story) std::printf("    %s\n", line.c_str());
    }
    std::fflush(stdout);
    return found.broken.has_value() == wrong && (wrong || found.complete);
}

// The wrong rules need as much room as it takes to go wrong, and no more.
int run_wrong_rules() {
    constexpr small_case three{.attempts = 3, .losses = 0, .crashes = 0, .expiries = 1};
    constexpr small_case two{
        .timed = true, .attempts = 2, .losses = 0, .crashes = 1, .expiries = 0};
    bool fine = true;
    for (const auto& each :
         {named_case{"maximum without commit (wrong)", three, breakage::token_without_commit},
          named_case{"commit without owner check (wrong)", three,
                     breakage::commit_without_owner_check},
          named_case{"disowned counts as committed (wrong)", three,
                     breakage::disowned_counts_as_committed},
          named_case{"no second look at the clock (wrong)", two, breakage::no_second_look},
          named_case{"quarantine not asked (wrong)", two, breakage::quarantine_not_asked}}) {
        fine = run(each) && fine;
    }
    return fine ? 0 : 1;
}

// What goes wrong is seen without any loss.
int run_wrong_queues(unsigned crashes) {
    const small_case any_time{.losses = 0, .crashes = crashes};
    auto timed = any_time;
    timed.timed = true;
    bool fine = true;
    const auto fails = [&](const char* name, const small_case& what, breakage rule) {
        fine = run({name, what, rule, in_line::explore_queue}) && fine;
    };
    fails("newcomer at the head (wrong)", any_time, breakage::newcomer_at_the_head);
    fails("free lock taken past the line (wrong)", any_time,
          breakage::free_lock_taken_past_the_line);
    fails("dead are granted (wrong)", any_time, breakage::dead_are_granted);
    fails("grant for ever (wrong)", any_time, breakage::grant_for_ever);
    fails("claim not extended (wrong)", timed, breakage::claim_not_extended);
    fails("any holder taken for ours (wrong)", timed, breakage::any_holder_taken_for_ours);
    fails("release calls nobody (wrong)", any_time, breakage::release_calls_nobody);
    fails("another's lock passed on (wrong)", timed, breakage::anothers_lock_passed_on);
    fails("queue for ever (wrong)", any_time, breakage::queue_for_ever);
    fails("no look in line (wrong)", any_time, breakage::no_look_in_line);
    fails("entry stays in line (wrong)", any_time, breakage::entry_stays_in_line);
    return fine ? 0 : 1;
}

}  // namespace

int run_queue_explorer(const small_case& size) {
    auto timed = size;
    timed.timed = true;
    const bool wrong_fail = !rules_are_breakable || active_breakage != breakage::none ||
                            run_wrong_queues(size.crashes) == 0;
    const auto search = in_line::explore_queue;
    const bool order = run({"T2, what is kept expires at any time", size, breakage::none, search});
    const bool both =
        run({"T1 and T2, a claim expires after validity", timed, breakage::none, search});
    return wrong_fail && order && both ? 0 : 1;
}

int run_explorer(const small_case& size) {
    auto timed = size;
    timed.timed = true;
    const bool wrong_fail =
        !rules_are_breakable || active_breakage != breakage::none || run_wrong_rules() == 0;
    const bool order = run({"T2, keys expire at any time", size});
    const bool both = run({"T1 and T2, keys expire after validity", timed});
    return wrong_fail && order && both ? 0 : 1;
}

}  // namespace holdfast::sim
