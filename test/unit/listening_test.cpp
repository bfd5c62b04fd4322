#include "runtime/operations/listening.hpp"

#include <gtest/gtest.h>

#include "unit/support/crowd.hpp"

/// The first in line hears of those who let go without calling anybody: other libraries, and
/// people.
namespace holdfast::testing {
namespace {

using words = crowd::words;

/// Somebody else has the lock, who calls nobody.
class beside_others : public crowd {
  public:
    explicit beside_others(std::size_t count = 1) : crowd(count) {
        for (const auto& each : clients) EXPECT_TRUE(each->acquire("another")->made);
        server.put("key", "somebody", 1h);
        server.forget_asked();
    }
};

TEST(listening, is_asked_for_by_the_first_in_line_once_it_is_denied) {
    beside_others all;
    const auto waits = all.wait(0);
    EXPECT_EQ(all.server.asked(), (words{"queue_acquire", "CACHING", "PTTL"}));
    EXPECT_EQ(all.server.latest("PTTL"), (words{"PTTL", "key"}));
    all.here.run_for(10s);
    EXPECT_EQ(all.server.count("PTTL"), 1) << "and not with every look";
}

TEST(listening, is_not_asked_for_by_those_behind) {
    beside_others all(3);
    const auto first = all.wait(0);
    const auto second = all.wait(1);
    const auto third = all.wait(2);
    EXPECT_EQ(all.server.count("PTTL"), 1);
}

TEST(listening, wakes_the_first_when_the_lock_is_deleted) {
    beside_others all(2);
    const auto first = all.wait(0);
    const auto second = all.wait(1);
    all.here.run_for(100ms);
    const auto before = all.here.now();
    all.server.erase("key");
    all.here.settle();
    EXPECT_TRUE(first->made);
    EXPECT_EQ(all.here.now(), before);
    EXPECT_FALSE(second->done);
}

TEST(listening, finds_that_the_lock_went_before_it_was_asked_for) {
    beside_others all;
    all.server.answer_once("queue_acquire",
                           "*4\r\n:0\r\n" + bulk("gone by now") + ":1000\r\n:1\r\n");
    const auto before = all.here.now();
    all.server.erase("key");
    const auto waits = all.client(0).start("key");
    all.here.settle();
    EXPECT_TRUE(waits->made);
    EXPECT_EQ(all.here.now(), before);
}

TEST(listening, is_not_asked_for_where_the_server_tells_nothing) {
    crowd all(1);
    all.server.answer("TRACKING", "-ERR unknown subcommand\r\n");
    all.server.put("key", "somebody", 1h);
    const auto waits = all.wait(0);
    EXPECT_EQ(all.server.count("PTTL"), 0);
    all.server.erase("key");
    all.here.run_for(1s);
    EXPECT_TRUE(waits->made) << "it looks by itself";
}

TEST(listening, that_is_refused_leaves_the_look_once_a_second) {
    beside_others all;
    all.server.answer("PTTL", "-NOPERM no permissions\r\n");
    const auto waits = all.wait(0);
    EXPECT_EQ(all.server.count("queue_acquire"), 1);
    all.server.erase("key");
    all.here.run_for(1s);
    EXPECT_TRUE(waits->made);
}

TEST(listening, goes_on_after_the_holder_has_renewed_its_lease) {
    beside_others all;
    const auto waits = all.wait(0);
    for (int n = 0; n < 3; ++n) {
        all.here.run_for(200ms);
        all.server.touch("key");
        all.here.settle();
        EXPECT_FALSE(waits->done);
    }
    const auto before = all.here.now();
    all.server.erase("key");
    all.here.settle();
    EXPECT_TRUE(waits->made) << "a server tells of one change only";
    EXPECT_EQ(all.here.now(), before);
}

TEST(listening, is_asked_for_anew_on_a_new_connection) {
    beside_others all;
    const auto waits = all.wait(0);
    all.server.kill_connections();
    all.here.run_for(2s);
    EXPECT_FALSE(waits->done);
    const auto before = all.here.now();
    all.server.erase("key");
    all.here.settle();
    EXPECT_TRUE(waits->made);
    EXPECT_EQ(all.here.now(), before);
}

TEST(listening, is_asked_for_anew_when_another_has_the_lock) {
    beside_others all;
    const auto waits = all.wait(0);
    all.server.put("key", "somebody else", 1h);
    all.server.touch("key");
    all.here.settle();
    EXPECT_EQ(all.server.count("PTTL"), 2);
    all.server.erase("key");
    all.here.settle();
    EXPECT_TRUE(waits->made);
}

}  // namespace
}  // namespace holdfast::testing
