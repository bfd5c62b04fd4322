#include "core/judge.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "unit/core_helpers.hpp"

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;
using standing = judge::standing;
using flaw = judge::flaw;

constexpr microseconds epoch{1'700'000'000'000'000};

const server_facts sound{.run_id = "a", .eviction_policy = "noeviction"};

judge_policy strict() { return {.max_ttl = 60s, .guard_time = 5s}; }

/// A heartbeat answered at once; `ahead` is by how much the server's clock leads.
auto beat(judge& server, duration since_start, microseconds ahead = 0us) {
    const auto time = epoch + std::chrono::duration_cast<microseconds>(since_start) + ahead;
    return server.heartbeat(time, at(since_start), at(since_start));
}

TEST(judge, lets_nobody_vote_before_the_facts_are_known) {
    const judge server{strict()};
    EXPECT_EQ(server.at(at(0s)), standing::unjudged);
    EXPECT_FALSE(server.may_vote(at(0s)));
}

TEST(judge, lets_a_sound_server_vote) {
    judge server{strict()};
    EXPECT_EQ(server.assess(sound, at(0s)), standing::fit);
    EXPECT_TRUE(server.may_vote(at(0s)));
    EXPECT_EQ(server.reason(), flaw::none);
}

TEST(judge, refuses_every_policy_that_evicts) {
    for (const char* policy : {"allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru",
                               "volatile-lfu", "volatile-random", "volatile-ttl", "new-one"}) {
        judge server{strict()};
        EXPECT_EQ(server.assess({.run_id = "a", .eviction_policy = policy}, at(0s)),
                  standing::unfit);
        EXPECT_FALSE(server.may_vote(at(0s)));
        EXPECT_EQ(server.reason(), flaw::evicts) << policy;
    }
}

TEST(judge, allows_eviction_if_the_caller_does) {
    auto policy = strict();
    policy.allow_eviction = true;
    judge server{policy};
    EXPECT_EQ(server.assess({.run_id = "a", .eviction_policy = "allkeys-lru"}, at(0s)),
              standing::fit);
    EXPECT_EQ(server.reason(), flaw::none);
}

TEST(judge, trusts_a_server_that_would_not_say_how_it_evicts) {
    judge server{strict()};
    EXPECT_EQ(server.assess({.run_id = "a"}, at(0s)), standing::fit);
}

TEST(judge, refuses_a_replica) {
    auto policy = strict();
    policy.allow_eviction = true;
    judge server{policy};
    auto facts = sound;
    facts.is_replica = true;
    EXPECT_EQ(server.assess(facts, at(0s)), standing::unfit);
    EXPECT_EQ(server.reason(), flaw::replica);
    facts.eviction_policy = "allkeys-lru";
    EXPECT_EQ(server.assess(facts, at(0s)), standing::unfit);
    EXPECT_EQ(server.reason(), flaw::replica);
}

TEST(judge, judges_anew_after_a_reconnect) {
    judge server{strict()};
    server.assess({.run_id = "a", .eviction_policy = "allkeys-lru"}, at(0s));
    server.disconnected();
    EXPECT_EQ(server.at(at(1s)), standing::unjudged);
    EXPECT_EQ(server.reason(), flaw::none);
    EXPECT_EQ(server.assess(sound, at(2s)), standing::fit);
}

TEST(judge, voids_the_vote_for_the_longest_ttl_after_a_jump_either_way) {
    for (const auto ahead : {microseconds{1s}, microseconds{-1s}}) {
        judge server{strict()};
        server.assess(sound, at(0s));
        EXPECT_EQ(beat(server, 0s), std::nullopt);
        EXPECT_NE(beat(server, 1s, ahead), std::nullopt);
        EXPECT_EQ(server.voided_until(), at(61s));
        EXPECT_EQ(server.at(at(1s)), standing::voided);
        EXPECT_EQ(server.at(at(61s) - 1ns), standing::voided);
        EXPECT_FALSE(server.may_vote(at(61s) - 1ns));
        EXPECT_EQ(server.at(at(61s)), standing::fit);
        EXPECT_TRUE(server.may_vote(at(61s)));
    }
}

TEST(judge, voids_the_vote_for_longer_after_a_second_jump) {
    judge server{strict()};
    server.assess(sound, at(0s));
    beat(server, 0s);
    beat(server, 1s, 1s);
    EXPECT_NE(beat(server, 2s), std::nullopt);
    EXPECT_EQ(server.voided_until(), at(62s));
}

TEST(judge, voids_the_vote_from_when_the_answer_came) {
    judge server{strict()};
    server.assess(sound, at(0s));
    beat(server, 0s);
    EXPECT_NE(server.heartbeat(epoch + 1h, at(1s), at(3s)), std::nullopt);
    EXPECT_EQ(server.voided_until(), at(63s));
}

TEST(judge, tolerates_what_the_clock_watch_tolerates) {
    auto policy = strict();
    policy.clock = {.tolerance = 2s, .drift_per_mille = 0};
    judge server{policy};
    server.assess(sound, at(0s));
    beat(server, 0s);
    EXPECT_EQ(beat(server, 1s, 2s), std::nullopt);
    EXPECT_TRUE(server.may_vote(at(1s)));
    EXPECT_NE(beat(server, 2s, 4s + 1us), std::nullopt);
    EXPECT_FALSE(server.may_vote(at(2s)));
}

TEST(judge, keeps_a_vote_void_across_a_reconnect) {
    judge server{strict()};
    server.assess(sound, at(0s));
    beat(server, 0s);
    beat(server, 1s, 1s);
    server.disconnected();
    EXPECT_EQ(server.at(at(2s)), standing::unjudged);
    EXPECT_EQ(server.assess(sound, at(3s)), standing::voided);
    EXPECT_EQ(server.at(at(61s)), standing::fit);
}

TEST(judge, stays_unfit_when_a_voided_vote_would_be_back) {
    judge server{strict()};
    server.assess({.run_id = "a", .eviction_policy = "allkeys-lru"}, at(0s));
    beat(server, 0s);
    EXPECT_NE(beat(server, 1s, 1s), std::nullopt);
    EXPECT_EQ(server.at(at(2s)), standing::unfit);
    EXPECT_EQ(server.at(at(61s)), standing::unfit);
}

TEST(judge, notices_a_jump_that_happened_while_the_same_server_was_out_of_reach) {
    judge server{strict()};
    server.assess(sound, at(0s));
    beat(server, 0s);
    server.disconnected();
    EXPECT_EQ(server.assess(sound, at(10s)), standing::fit);
    EXPECT_NE(beat(server, 10s, 5s), std::nullopt);
    EXPECT_EQ(server.at(at(10s)), standing::voided);
}

TEST(judge, does_not_compare_the_clocks_of_two_servers) {
    judge server{strict()};
    server.assess(sound, at(0s));
    beat(server, 0s);
    server.disconnected();
    server.assess({.run_id = "b", .eviction_policy = "noeviction"}, at(1s));
    EXPECT_EQ(beat(server, 2s, 1h), std::nullopt);
    EXPECT_TRUE(server.may_vote(at(2s)));
    EXPECT_NE(beat(server, 3s, 2h), std::nullopt);
}

TEST(judge, does_not_compare_the_clocks_of_servers_that_would_not_say_who_they_are) {
    judge server{strict()};
    server.assess({}, at(0s));
    beat(server, 0s);
    server.disconnected();
    server.assess({}, at(1s));
    EXPECT_EQ(beat(server, 2s, 1h), std::nullopt);
}

TEST(judge, looks_at_no_clock_while_it_does_not_know_whose_it_is) {
    judge server{strict()};
    server.assess(sound, at(0s));
    beat(server, 0s);
    server.disconnected();
    EXPECT_EQ(beat(server, 1s, 1h), std::nullopt);
    server.assess(sound, at(2s));
    EXPECT_TRUE(server.may_vote(at(2s)));
    EXPECT_EQ(beat(server, 2s), std::nullopt);
}

judge_policy guarding() {
    auto policy = strict();
    policy.restart_guard = true;
    return policy;
}

server_facts telling() {
    auto facts = sound;
    facts.tracking = true;
    return facts;
}

TEST(judge, asks_for_no_vote_before_the_quarantine_is_over) {
    judge server{guarding()};
    server.assess(telling(), at(0s));
    server.enlisted({.quarantine = 65s, .floor = 7}, at(1s));
    EXPECT_EQ(server.at(at(66s) - 1ns), standing::quarantined);
    EXPECT_FALSE(server.may_vote(at(66s) - 1ns));
    EXPECT_EQ(server.at(at(66s)), standing::fit);
    EXPECT_EQ(server.floor(), 7U);
}

TEST(judge, hears_when_somebody_vouches_for_a_server_in_quarantine) {
    judge server{guarding()};
    server.assess(telling(), at(0s));
    server.enlisted({.quarantine = 65s}, at(0s));
    server.enlisted({.floor = 8}, at(2s));
    EXPECT_EQ(server.at(at(2s)), standing::fit);
    EXPECT_EQ(server.floor(), 8U);
}

// As when the server's clock is set back meanwhile.
TEST(judge, waits_no_longer_for_a_quarantine_than_it_was_told_at_first) {
    judge server{guarding()};
    server.assess(telling(), at(0s));
    server.enlisted({.quarantine = 65s, .begun = true}, at(0s));
    server.enlisted({.quarantine = 3600s}, at(1s));
    EXPECT_EQ(server.at(at(65s)), standing::fit);
    server.enlisted({.quarantine = 65s, .begun = true}, at(70s));
    EXPECT_EQ(server.at(at(134s)), standing::quarantined) << "another one";
    server.assess(telling(), at(140s));
    server.enlisted({.quarantine = 65s}, at(140s));
    EXPECT_EQ(server.at(at(204s)), standing::quarantined) << "another connection";
}

// As when word of a former life reaches the server late: its record is written anew, by others.
TEST(judge, draws_no_token_above_a_floor_before_the_quarantine_that_came_with_it) {
    judge server{guarding()};
    server.assess(telling(), at(0s));
    server.enlisted({.quarantine = 65s, .floor = 65, .begun = true}, at(0s));
    server.enlisted({.quarantine = 64s, .floor = 66}, at(2s));
    EXPECT_EQ(server.floor(), 66U);
    EXPECT_EQ(server.at(at(66s) - 1ns), standing::quarantined);
    EXPECT_EQ(server.at(at(66s)), standing::fit);
    server.enlisted({.quarantine = 65s, .floor = 135}, at(70s));
    EXPECT_EQ(server.at(at(134s)), standing::quarantined) << "it had voted before";
}

TEST(judge, waits_for_no_quarantine_without_the_guard_but_takes_the_floor) {
    judge server{strict()};
    server.assess(sound, at(0s));
    server.enlisted({.quarantine = 65s, .floor = 7, .max_ttl = 1s, .agreed = false}, at(0s));
    EXPECT_EQ(server.at(at(0s)), standing::fit);
    EXPECT_EQ(server.floor(), 7U);
}

TEST(judge, asks_nobody_who_would_not_tell_that_it_was_emptied) {
    judge server{guarding()};
    EXPECT_EQ(server.assess(sound, at(0s)), standing::unfit);
    EXPECT_EQ(server.reason(), flaw::untracked);
    server.enlisted({}, at(0s));
    EXPECT_EQ(server.at(at(0s)), standing::unfit);
    EXPECT_EQ((judge{strict()}.assess(sound, at(0s))), standing::fit) << "no guard asked for";
}

TEST(judge, asks_nobody_whose_clients_agreed_on_another_max_ttl) {
    judge server{guarding()};
    server.assess(telling(), at(0s));
    server.enlisted({.max_ttl = 600s, .agreed = false}, at(0s));
    EXPECT_EQ(server.at(at(0s)), standing::unfit);
    EXPECT_EQ(server.reason(), flaw::other_max_ttl);
    server.enlisted({.max_ttl = 60s}, at(1s));
    EXPECT_EQ(server.at(at(1s)), standing::fit) << "an operator has set it anew";
}

TEST(judge, asks_nobody_whose_clients_agreed_on_another_replication_group_guarded_or_not) {
    for (const auto& policy : {guarding(), strict()}) {
        judge server{policy};
        server.assess(telling(), at(0s));
        server.enlisted({.group = 5}, at(0s));
        EXPECT_EQ(server.at(at(0s)), standing::unfit);
        EXPECT_EQ(server.reason(), flaw::other_group);
        server.enlisted({}, at(1s));
        EXPECT_EQ(server.at(at(1s)), standing::fit) << "an operator has set it anew";
    }
}

TEST(acks_when_grown, share_a_server_with_every_majority_of_the_group_as_it_was_and_as_it_is) {
    for (std::size_t members = 1; members <= 12; ++members) {
        for (std::size_t from = 1; from <= members; ++from) {
            const auto giving = acks_when_grown({members, members / 2}, from) + 1;
            EXPECT_GT(giving + from / 2 + 1, members) << from << " to " << members;
            EXPECT_GT(2 * giving, members) << from << " to " << members;
            EXPECT_LE(giving, members) << from << " to " << members;
        }
    }
    EXPECT_EQ(acks_when_grown({4, 2}, 3), 2U) << "one more is one more";
    EXPECT_EQ(acks_when_grown({5, 2}, 3), 3U);
    EXPECT_EQ(acks_when_grown({5, 4}, 3), 4U) << "all are all";
    EXPECT_EQ(acks_when_grown({3, 1}, 0), 1U) << "nobody knows what it was";
    EXPECT_EQ(acks_when_grown({9, 1}, 3), 1U) << "who wants no majority gets what he wants";
}

TEST(same_life, is_run_id_and_replication_id_together) {
    const server_facts before{.run_id = "a", .replication_id = "x"};
    EXPECT_TRUE(same_life(before, before));
    EXPECT_FALSE(same_life(before, {.run_id = "b", .replication_id = "x"})) << "restarted";
    EXPECT_FALSE(
        same_life(before, {.run_id = "a", .replication_id = "y", .second_replication_id = "z"}))
        << "was a replica meanwhile";
    EXPECT_TRUE(same_life(before, {.run_id = "a", .replication_id = "y"}))
        << "a first replica has come";
    EXPECT_FALSE(same_life(before, {.run_id = "a", .replication_id = "x", .is_replica = true}));
}

TEST(judge, quarantines_for_the_longest_ttl_and_its_guard) {
    EXPECT_EQ((judge{{.max_ttl = 60s, .guard_time = 5s}}.quarantine()), 65s);
    EXPECT_EQ((judge{{.max_ttl = 60s}}.quarantine()), 60s + 602ms);
}

// Independence.

TEST(find_conflict, accepts_servers_that_have_nothing_to_do_with_each_other) {
    const std::vector<server_facts> nodes{{.run_id = "a", .replication_id = "x"},
                                          {.run_id = "b", .replication_id = "y"},
                                          {.run_id = "c", .replication_id = "z"}};
    EXPECT_EQ(find_conflict(nodes), std::nullopt);
    EXPECT_EQ(find_conflict({}), std::nullopt);
}

TEST(find_conflict, finds_one_server_under_two_names) {
    const std::vector<server_facts> nodes{{.run_id = "a"}, {.run_id = "b"}, {.run_id = "a"}};
    EXPECT_EQ(find_conflict(nodes), (conflict{0, 2, conflict::kind::same_server}));
}

TEST(find_conflict, finds_a_server_that_replicates_another) {
    for (const std::size_t replica : {0U, 1U}) {
        std::vector<server_facts> nodes{{.run_id = "a", .replication_id = "x"},
                                        {.run_id = "b", .replication_id = "x"}};
        nodes[replica].is_replica = true;
        EXPECT_EQ(find_conflict(nodes), (conflict{0, 1, conflict::kind::replica}));
    }
}

// As when one began with a copy of the other's data: nothing flows between them.
TEST(find_conflict, accepts_two_masters_with_a_common_past) {
    const std::vector<server_facts> nodes{{.run_id = "a", .replication_id = "x"},
                                          {.run_id = "b", .replication_id = "x"}};
    EXPECT_EQ(find_conflict(nodes), std::nullopt);
}

TEST(find_conflict, does_not_compare_what_is_not_known) {
    const std::vector<server_facts> nameless{{}, {}};
    EXPECT_EQ(find_conflict(nameless), std::nullopt);
    const std::vector<server_facts> silent{{.run_id = "a"}, {.run_id = "b", .is_replica = true}};
    EXPECT_EQ(find_conflict(silent), std::nullopt);
}

}  // namespace
}  // namespace holdfast::core
