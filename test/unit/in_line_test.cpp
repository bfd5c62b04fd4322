#include <gtest/gtest.h>

#include "unit/support/crowd.hpp"

/// Those who wait for a lock of one server stand in line there, and have it in that order.
namespace holdfast::testing {
namespace {

using words = crowd::words;

TEST(in_line, who_is_denied_stands_there_and_asks_for_nothing_until_it_looks) {
    crowd all;
    all.hold();
    const auto waits = all.wait(1);
    ASSERT_EQ(all.line().size(), 1U);
    EXPECT_TRUE(all.line()[0].starts_with(all.client(1).engine->channel() + " 17000000000"));
    EXPECT_NE(all.line()[0].find(":tester@memory:2:"), std::string::npos) << all.line()[0];
    EXPECT_EQ(all.server.count("queue_acquire"), 1);
    all.here.run_for(870ms);
    EXPECT_EQ(all.server.count("queue_acquire"), 1);
    all.here.run_for(130ms);
    EXPECT_EQ(all.server.count("queue_acquire"), 2);
    EXPECT_EQ(all.line().size(), 1U);
}

TEST(in_line, a_release_calls_the_first_and_nobody_else) {
    crowd all(4);
    all.hold();
    const auto first = all.wait(1);
    const auto second = all.wait(2);
    const auto third = all.wait(3);
    const auto owner = crowd::owner_in(all.line()[0]);
    all.server.forget_asked();
    const auto before = all.here.now();
    all.release();
    ASSERT_TRUE(first->made);
    EXPECT_EQ(all.here.now(), before);
    EXPECT_EQ(first->made->owner(), owner) << "under which it stood there";
    EXPECT_EQ(all.server.owner_of("key"), owner);
    EXPECT_GT(first->made->token(), all.holder->made->token());
    EXPECT_FALSE(second->done || third->done);
    EXPECT_EQ(all.server.calls(), 1);
    EXPECT_EQ(all.server.asked(), (words{"queue_release", "queue_acquire"}));
    EXPECT_EQ(all.line().size(), 2U);
}

TEST(in_line, everybody_has_it_in_the_order_of_arrival) {
    crowd all(6);
    all.hold();
    std::vector<crowd::pending> waiting;
    for (const std::size_t who : {3U, 1U, 5U, 2U, 4U}) waiting.push_back(all.wait(who));
    all.server.forget_asked();
    all.release();
    for (std::size_t n = 0; n < waiting.size(); ++n) {
        for (std::size_t m = 0; m < waiting.size(); ++m) EXPECT_EQ(waiting[m]->done, m <= n);
        ASSERT_TRUE(waiting[n]->made) << n;
        all.release(*waiting[n]);
    }
    EXPECT_EQ(all.server.count("queue_release"), 6);
    EXPECT_EQ(all.server.count("queue_acquire"), 5) << "one claim each, and nothing else";
    EXPECT_FALSE(all.server.owner_of("key"));
    EXPECT_EQ(all.line(), words{});
}

TEST(in_line, who_comes_back_stands_behind_those_who_wait) {
    crowd all;
    all.hold();
    const auto other = all.wait(1);
    all.release();
    ASSERT_TRUE(other->made);
    const auto again = all.wait(0);
    all.release(*other);
    EXPECT_TRUE(again->made);
}

TEST(in_line, a_grant_that_was_claimed_is_believed_from_when_it_was_claimed) {
    crowd all;
    all.hold();
    const auto waits = all.wait(1, {.ttl = 9s});
    all.here.run_for(10s);
    const auto claimed = all.here.now();
    all.release();
    ASSERT_TRUE(waits->made);
    EXPECT_EQ(waits->made->valid_until(), claimed + 9s - 92ms);
    all.here.run_for(1min);
    EXPECT_FALSE(waits->made->lost()) << "it is renewed as any other";
}

TEST(in_line, who_does_not_wait_is_told_who_has_the_lock) {
    crowd all(3);
    all.hold();
    const auto waits = all.wait(1);
    const auto owner = crowd::owner_in(all.line()[0]);
    const auto tries = all.client(2).acquire("key", {}, false);
    ASSERT_TRUE(tries->made.held_by());
    EXPECT_EQ(tries->made.held_by()->owner, all.holder->made->owner());
    EXPECT_EQ(all.line().size(), 1U) << "it does not stand there";
}

TEST(in_line, who_does_not_wait_passes_nobody_and_is_told_who_is_first_where_the_lock_is_free) {
    crowd all(3);
    all.hold({.ttl = 300ms, .renew = false});
    const auto waits = all.wait(1);
    const auto owner = crowd::owner_in(all.line()[0]);
    all.here.run_for(300ms);
    const auto tries = all.client(2).acquire("key", {}, false);
    ASSERT_TRUE(tries->made.held_by());
    EXPECT_EQ(tries->made.held_by()->owner, owner);
    all.here.settle();
    EXPECT_TRUE(waits->made) << "and has granted and called it";
}

TEST(in_line, the_first_takes_over_when_a_lease_ends_that_nobody_releases) {
    crowd all;
    all.hold({.ttl = 300ms, .renew = false});
    const auto begin = all.here.now();
    const auto waits = all.wait(1);
    while (!waits->done && all.here.step()) {
    }
    ASSERT_TRUE(waits->made);
    EXPECT_GE(all.here.now(), begin + 301ms);
    EXPECT_LT(all.here.now(), begin + 304ms);
}

// Giving up.

TEST(in_line, who_waits_no_longer_leaves) {
    crowd all(3);
    all.hold();
    const auto first = all.wait(1, {}, all.here.now() + 100ms);
    const auto second = all.wait(2);
    all.here.run_for(100ms);
    ASSERT_TRUE(first->done);
    ASSERT_TRUE(first->made.held_by());
    EXPECT_EQ(first->made.held_by()->owner, all.holder->made->owner());
    ASSERT_EQ(all.line().size(), 1U);
    all.release();
    EXPECT_TRUE(second->made);
    EXPECT_EQ(all.server.calls(), 1);
}

TEST(in_line, who_is_cancelled_leaves) {
    crowd all;
    all.hold();
    const auto waits = all.wait(1);
    all.client(1).cancel(*waits);
    all.here.settle();
    EXPECT_EQ(all.line(), words{});
    EXPECT_EQ(waits->failed->code, errc::cancelled);
    all.here.run_for(1min);
    EXPECT_EQ(all.server.count("queue_acquire"), 1) << "and looks no more";
}

TEST(in_line, who_closes_its_client_leaves) {
    crowd all;
    all.hold();
    const auto waits = all.wait(1);
    all.client(1).engine->close();
    all.here.settle();
    EXPECT_EQ(all.line(), words{});
    EXPECT_EQ(waits->failed->code, errc::closed);
}

TEST(in_line, who_gives_up_while_it_is_granted_the_lock_gives_it_to_the_next) {
    crowd all(3);
    all.hold();
    const auto first = all.wait(1);
    const auto second = all.wait(2);
    all.server.lose_pushes(true);
    all.release();
    all.server.lose_pushes(false);
    ASSERT_FALSE(first->done) << "it does not know";
    const auto before = all.here.now();
    all.client(1).cancel(*first);
    all.here.settle();
    ASSERT_TRUE(second->made);
    EXPECT_EQ(all.here.now(), before);
}

TEST(in_line, who_gives_up_while_it_claims_gives_the_lock_to_the_next) {
    crowd all(3);
    all.hold();
    const auto first = all.wait(1);
    const auto second = all.wait(2);
    all.server.answer_once("queue_acquire", "");
    all.release();
    ASSERT_FALSE(first->done);
    all.client(1).cancel(*first);
    all.here.settle();
    ASSERT_TRUE(second->made);
    EXPECT_EQ(all.server.owner_of("key"), second->made->owner());
}

TEST(in_line, the_last_who_gives_up_while_it_is_granted_the_lock_leaves_nothing_behind) {
    crowd all;
    all.hold();
    const auto waits = all.wait(1);
    all.server.lose_pushes(true);
    all.release();
    all.client(1).cancel(*waits);
    all.here.settle();
    EXPECT_FALSE(all.server.owner_of("key"));
    EXPECT_EQ(all.line(), words{});
}

}  // namespace
}  // namespace holdfast::testing
