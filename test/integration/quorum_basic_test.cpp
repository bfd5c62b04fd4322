#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "holdfast/recursive_mutex.hpp"
#include "integration/quorum.hpp"

namespace holdfast::test {
namespace {

TEST(quorum_basic, a_lock_stands_on_every_node_and_leaves_all_of_them) {
    quorum nodes;
    client through(nodes.settings());
    through.connect();
    mutex one(through, "k");
    {
        const std::scoped_lock held(one);
        EXPECT_TRUE(eventually(surely, [&] { return nodes.holders_of("k") == 5; }));
    }
    EXPECT_TRUE(eventually(surely, [&] { return nodes.holders_of("k") == 0; }));
}

TEST(quorum_basic, two_clients_exclude_each_other) {
    quorum nodes;
    client first(nodes.settings());
    client second(nodes.settings());
    mutex mine(first, "k");
    mutex theirs(second, "k");
    ASSERT_TRUE(mine.try_lock());
    const auto denied = theirs.try_acquire();
    ASSERT_FALSE(denied.has_value());
    ASSERT_TRUE(denied.held_by().has_value());
    EXPECT_EQ(denied.held_by()->owner, mine.current()->owner());
    mine.unlock();
    EXPECT_TRUE(theirs.try_lock());
}

TEST(quorum_basic, tokens_grow_from_holder_to_holder_of_different_clients) {
    quorum nodes;
    client first(nodes.settings());
    client second(nodes.settings());
    std::uint64_t last = 0;
    for (int n = 0; n < 20; ++n) {
        const auto lease = (n % 2 == 0 ? first : second).acquire("k");
        EXPECT_GT(lease.token(), last);
        last = lease.token();
    }
}

// One EVALSHA at each node takes the lock, and no commit follows, once the counters agree.
TEST(quorum_basic, an_acquire_takes_one_round_trip_when_the_counters_agree) {
    quorum nodes;
    client through(nodes.settings());
    through.connect();
    { const auto warm_up = through.acquire("k"); }
    ASSERT_TRUE(eventually(surely, [&] { return nodes.holders_of("k") == 0; }));
    std::vector<std::int64_t> before;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
        nodes.server(n).command({"SET", "holdfast:{k}:fence", "8000000000000000"});
        before.push_back(quorum::commands_of(nodes.server(n), "evalsha"));
    }
    const auto held = through.acquire("k");
    EXPECT_TRUE(eventually(surely, [&] { return nodes.holders_of("k") == 5; }));
    for (std::size_t n = 0; n < nodes.size(); ++n) {
        EXPECT_EQ(quorum::commands_of(nodes.server(n), "evalsha"), before[n] + 1) << "node " << n;
    }
}

// A node whose counter is far ahead, as after a restart: the others are brought up to it.
TEST(quorum_basic, counters_that_disagree_are_committed_and_agree_afterwards) {
    quorum nodes;
    auto patient = nodes.settings();
    patient.node_timeout = surely;  // who answers too late takes no part
    client through(patient);
    through.connect();
    { const auto warm_up = through.acquire("k"); }
    const std::string counter = "holdfast:{k}:fence";
    nodes.server(2).command({"INCRBY", counter, "1000000"});
    const auto counters = [&] {
        std::set<std::uint64_t> values;
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            values.insert(std::stoull(nodes.server(n).get(counter).value_or("0")));
        }
        return values;
    };
    // While the lock is held, every node that is behind is brought up to the token. Those ahead may
    // answer after the decision, and then stay ahead until they take part in one.
    std::uint64_t last = 0;
    for (int n = 0; n < 100 && counters().size() > 1; ++n) {
        const auto lease = through.acquire("k");
        EXPECT_GT(lease.token(), last);
        last = lease.token();
        EXPECT_TRUE(eventually(surely, [&] { return *counters().begin() >= last; }));
    }
    EXPECT_EQ(counters(), std::set{last});
}

TEST(quorum_basic, is_written_as_a_list_of_urls) {
    const std::vector<std::string> urls{"redis://a", "redis://b", "redis://c"};
    EXPECT_EQ((client{"redis://a", "redis://b", "redis://c"}.settings().urls), urls);
    EXPECT_EQ(client({"redis://a", "redis://b", "redis://c"}).settings().urls, urls);
    EXPECT_EQ(client({urls[0], urls[1], urls[2]}).settings().urls, urls);
    EXPECT_THROW((client{"redis://a", "redis://b"}), std::system_error) << "an even number";
    EXPECT_EQ((client{"redis://a"}.settings().urls.size()), 1U);
}

TEST(quorum_basic, the_whole_public_api_works_as_with_one_server) {
    quorum nodes(3);
    client through(nodes.settings());
    through.connect();
    recursive_mutex again(through, "r");
    again.lock();
    EXPECT_TRUE(again.try_lock());
    again.unlock();
    again.unlock();
    EXPECT_EQ(through.with_lock("w", [](lease& held) { return held.token() > 0; }), true);
    auto lease = through.acquire("e", with_ttl(5s));
    const auto before = lease.valid_until();
    lease.extend(20s);
    EXPECT_GT(lease.valid_until(), before + 10s);
    EXPECT_TRUE(lease.verify());
    EXPECT_EQ(lease.release(), release_result::released);
    EXPECT_EQ(lease.release(), release_result::already_lost);
}

TEST(quorum_basic, the_watchdog_renews_on_all_nodes) {
    quorum nodes(3);
    client through(nodes.settings());
    through.connect();
    const auto lease = through.acquire("k", with_ttl(600ms));
    const auto first = lease.valid_until();
    EXPECT_TRUE(eventually(surely, [&] { return lease.valid_until() > first + 1s; }));
    EXPECT_FALSE(lease.lost());
    EXPECT_EQ(nodes.holders_of("k"), 3U);
}

TEST(quorum_basic, a_waiter_is_told_of_the_release) {
    quorum nodes;
    client first(nodes.settings());
    client second(nodes.settings());
    std::optional<lease> held(first.acquire("k"));
    std::atomic<bool> got = false;
    std::jthread waiter([&] {
        const auto mine = second.acquire("k");
        got = true;
    });
    ASSERT_TRUE(eventually(surely, [&] { return second.statistics().denied > 0; }));
    const stopwatch since;
    held.reset();
    EXPECT_TRUE(eventually(surely, [&] { return got.load(); }));
    record("told", since.elapsed());
    EXPECT_LT(since.elapsed(), promptly);
}

TEST(quorum_basic, status_shows_votes_and_nodes_that_disagree) {
    quorum nodes;
    client through(nodes.settings());
    through.connect();
    const auto held = through.acquire("k");
    ASSERT_TRUE(eventually(surely, [&] { return nodes.holders_of("k") == 5; }));
    nodes.server(1).command({"SET", "k", "somebody else"});
    nodes.server(4).kill_hard();
    const auto status = inspect(through, "k");
    EXPECT_EQ(status.votes, 3U);
    EXPECT_EQ(status.nodes, 5U);
    ASSERT_TRUE(status.held_by.has_value());
    EXPECT_EQ(status.held_by->owner, held.owner());
    EXPECT_EQ(status.views[1].owner, "somebody else");
    EXPECT_FALSE(status.views[4].error.empty());
    std::size_t listed = 0;
    list(through, "*", [&](const lock_status& each) { listed += each.key == "k" ? 1U : 0U; });
    EXPECT_EQ(listed, 1U);
    const auto reports = examine(through);
    EXPECT_TRUE(reports[0].error.empty());
    EXPECT_FALSE(reports[4].error.empty());
}

class split_vote : public testing::TestWithParam<std::size_t> {};

// Contenders of their own processes, as far as the servers can tell: each has its own client.
TEST_P(split_vote, every_contender_gets_the_lock) {
    quorum nodes;
    const auto count = GetParam();
    std::deque<client> clients;
    for (std::size_t n = 0; n < count; ++n) clients.emplace_back(nodes.settings()).connect();
    std::atomic<std::size_t> inside = 0;
    std::atomic<std::size_t> done = 0;
    std::atomic<bool> overlap = false;
    const stopwatch since;
    std::vector<std::jthread> threads;
    for (auto& each : clients) {
        threads.emplace_back([&] {
            const auto held = each.acquire("k");
            if (inside.fetch_add(1) != 0) overlap = true;
            inside.fetch_sub(1);
            ++done;
        });
    }
    threads.clear();
    record("contenders_" + std::to_string(count), since.elapsed());
    EXPECT_EQ(done.load(), count);
    EXPECT_FALSE(overlap.load());
    EXPECT_LT(since.elapsed(), surely * slowness);
}

INSTANTIATE_TEST_SUITE_P(of, split_vote, testing::Values(2, 3, 8, 32));

}  // namespace
}  // namespace holdfast::test
