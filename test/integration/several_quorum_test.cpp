#include <atomic>
#include <future>
#include <thread>

#include "integration/quorum.hpp"

/// Several keys at once, where several servers vote.
namespace holdfast::test {
namespace {

class several_quorum : public testing::Test {
  protected:
    quorum servers_{3};
    client client_{servers_.settings()};
    client other_{servers_.settings()};
    multi_mutex ab_{client_, {"a", "b"}};
};

TEST_F(several_quorum, are_all_or_nothing_and_exclude_others) {
    auto held = ab_.acquire();
    EXPECT_TRUE(held.verify());
    EXPECT_FALSE(mutex(other_, "a").try_acquire());
    EXPECT_FALSE(mutex(client_, "b").try_acquire());
    EXPECT_FALSE(shared_mutex(other_, "b").try_acquire_shared());
    EXPECT_FALSE(multi_mutex(other_, {"b", "c"}).try_acquire());
    EXPECT_EQ(servers_.holders_of("c"), 0U);
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_EQ(servers_.holders_of("a") + servers_.holders_of("b"), 0U);
    auto reads = shared_mutex(other_, "b").acquire_shared();
    EXPECT_FALSE(ab_.try_acquire());
    EXPECT_EQ(servers_.holders_of("a"), 0U);
}

TEST_F(several_quorum, have_a_token_above_all_counters_of_a_majority) {
    std::uint64_t last = 0;
    for (int n = 0; n < 5; ++n) {
        const auto a = mutex(other_, "a").acquire().token();
        const auto b = mutex(other_, "b").acquire().token();
        const auto both = ab_.acquire().token();
        EXPECT_GT(a, last);
        EXPECT_GT(both, a);
        EXPECT_GT(both, b);
        last = both;
    }
}

TEST_F(several_quorum, commit_their_token_where_one_counter_lags) {
    ab_.acquire().release();
    const auto ahead = std::to_string(
        std::stoull(servers_.server(0).get("holdfast:{b}:fence").value_or("")) + 1000);
    servers_.server(0).command({"SET", "holdfast:{b}:fence", ahead});
    const auto token = ab_.acquire().token();
    std::size_t committed = 0;
    for (std::size_t n = 0; n < 3; ++n) {
        const bool all = servers_.server(n).get("holdfast:{a}:fence") == std::to_string(token) &&
                         servers_.server(n).get("holdfast:{b}:fence") == std::to_string(token);
        committed += all ? 1 : 0;
    }
    EXPECT_GE(committed, 2U);
    EXPECT_GT(mutex(other_, "a").acquire().token(), token);
}

TEST_F(several_quorum, go_on_with_a_minority_gone) {
    servers_.server(1).kill_hard();
    auto held = ab_.acquire();
    EXPECT_FALSE(mutex(other_, "b").try_acquire());
    EXPECT_TRUE(held.verify());
    held.extend(40s);
    EXPECT_EQ(held.release(), release_result::released);
}

TEST_F(several_quorum, are_lost_with_any_key_at_a_majority) {
    auto held = ab_.acquire({.ttl = 2s});
    servers_.server(0).command({"DEL", "b"});
    EXPECT_TRUE(held.verify()) << "a minority";
    servers_.server(1).command({"DEL", "b"});
    EXPECT_FALSE(held.verify());
    EXPECT_TRUE(held.lost());
}

TEST_F(several_quorum, are_told_when_a_key_is_free) {
    for (const std::string key : {"a", "b"}) {
        auto one = mutex(other_, key).acquire();
        const auto before = client_.statistics().denied;
        auto waits = std::async(std::launch::async, [&] { return ab_.try_acquire_for(surely); });
        ASSERT_TRUE(eventually(surely, [&] { return client_.statistics().denied >= before + 2; }));
        const stopwatch watch;
        one.release();
        EXPECT_TRUE(waits.get());
        EXPECT_LT(watch.elapsed(), promptly) << key;
    }
}

TEST_F(several_quorum, wake_those_of_the_same_client_who_wait_for_one) {
    auto held = ab_.acquire();
    auto a = std::async(std::launch::async, [&] { return mutex(client_, "a").acquire(); });
    auto b = std::async(std::launch::async, [&] { return mutex(client_, "b").acquire(); });
    EXPECT_EQ(b.wait_for(100ms), std::future_status::timeout);
    const stopwatch watch;
    held.release();
    EXPECT_TRUE(a.get().verify());
    EXPECT_TRUE(b.get().verify());
    EXPECT_LT(watch.elapsed(), promptly);
}

TEST_F(several_quorum, neither_order_nor_overlap_makes_a_deadlock) {
    std::atomic<int> done = 0;
    std::atomic<int> inside_b = 0;
    {
        std::vector<std::jthread> threads;
        const std::vector<std::vector<std::string>> lists{{"a", "b"}, {"c", "b"}, {"b"}};
        for (const auto& keys : lists) {
            threads.emplace_back([&, keys] {
                client own(servers_.settings());
                multi_mutex lock(own, keys);
                for (int n = 0; n < 20; ++n) {
                    const auto held = lock.try_acquire_for(surely);
                    if (!held) return;
                    EXPECT_EQ(++inside_b, 1);
                    --inside_b;
                    ++done;
                }
            });
        }
    }
    EXPECT_EQ(done, 60);
}

}  // namespace
}  // namespace holdfast::test
