#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <thread>

#include "integration/library.hpp"
#include "support/lock_process.hpp"

/// Who waits for several keys stands in all their lines at the server.
namespace holdfast::test {
namespace {

using key_names = std::vector<std::string>;

class several_line : public testing::Test {
  protected:
    [[nodiscard]] std::size_t length(const std::string& key) const {
        return std::stoul(server_.command({"LLEN", "holdfast:{" + key + "}:queue"}));
    }
    [[nodiscard]] bool kept_for_several(const std::string& key) const {
        return server_.get(key).value_or("").starts_with("hm1:");
    }
    [[nodiscard]] std::size_t keys_left() const {
        return std::stoul(
            server_.command({"EVAL",
                             "local n = 0 for _, k in ipairs(redis.call('KEYS', '*')) "
                             "do if not k:find('fence') and k ~= 'holdfast:record' "
                             "and k ~= 'holdfast:life' and k ~= 'holdfast:node' "
                             "then n = n + 1 end end return n",
                             "0"}));
    }

    /// Somebody who waits in a thread and with a client of its own, and holds until it may go.
    struct waiter {
        std::atomic<bool> has = false;
        std::atomic<bool> may_go = false;
        std::jthread thread;
    };
    waiter& join(key_names keys) {
        auto& made = *waiters_.emplace_back(std::make_unique<waiter>());
        made.thread = std::jthread([this, &made, keys = std::move(keys)] {
            client own(server_.url());
            const auto held = multi_mutex(own, keys).acquire();
            made.has = true;
            EXPECT_TRUE(eventually(surely, [&] { return made.may_go.load(); }));
            EXPECT_TRUE(held.verify());
        });
        return made;
    }
    static bool soon(const waiter& who) {
        return eventually(surely, [&] { return who.has.load(); });
    }
    static void let_go(waiter& who) {
        who.may_go = true;
        who.thread.join();
    }

    redis_server server_;
    client client_{server_.url()};
    std::vector<std::unique_ptr<waiter>> waiters_;
};

TEST_F(several_line, who_waits_for_one_of_them_has_the_others_kept) {
    auto b = mutex(client_, "b").acquire();
    auto& both = join({"a", "b"});
    ASSERT_TRUE(eventually(surely, [&] { return length("b") == 1 && kept_for_several("a"); }));
    EXPECT_FALSE(mutex(client_, "a").try_acquire()) << "kept, or others could pass it for ever";
    EXPECT_LE(server_.pttl("a"), 2'100) << "for as long as it looks after that";
    std::this_thread::sleep_for(3s);
    EXPECT_TRUE(kept_for_several("a")) << "which it does";
    const stopwatch watch;
    b.release();
    ASSERT_TRUE(soon(both));
    EXPECT_LT(watch.elapsed(), promptly);
    EXPECT_GT(server_.pttl("a"), 20'000);
    let_go(both);
    EXPECT_EQ(keys_left(), 0U);
}

TEST_F(several_line, is_served_in_the_order_of_arrival_with_those_who_want_one) {
    auto a = mutex(client_, "a").acquire();
    auto& both = join({"a", "b"});
    ASSERT_TRUE(eventually(surely, [&] { return length("a") == 1; }));
    auto& one = join({"a"});
    ASSERT_TRUE(eventually(surely, [&] { return length("a") == 2; }));
    auto& other = join({"b"});
    ASSERT_TRUE(eventually(surely, [&] { return length("b") == 1; }));
    a.release();
    ASSERT_TRUE(soon(both));
    EXPECT_FALSE(one.has);
    EXPECT_FALSE(other.has);
    const stopwatch watch;
    let_go(both);
    EXPECT_TRUE(soon(one));
    EXPECT_TRUE(soon(other)) << "a release goes to the heads of both lines";
    EXPECT_LT(watch.elapsed(), promptly);
    let_go(one);
    let_go(other);
    EXPECT_EQ(keys_left(), 0U);
}

TEST_F(several_line, readers_stand_behind_and_before) {
    auto reads = shared_mutex(client_, "a").acquire_shared();
    auto& both = join({"a", "b"});
    ASSERT_TRUE(eventually(surely, [&] { return length("a") == 1; }));
    EXPECT_FALSE(shared_mutex(client_, "a").try_acquire_shared()) << "newcomers are held back";
    auto late = std::async(std::launch::async, [&] {
        client own(server_.url());
        return shared_mutex(own, "b").shared().try_acquire_for(surely).has_value();
    });
    ASSERT_TRUE(eventually(surely, [&] { return length("b") == 1; }));
    reads.release();
    ASSERT_TRUE(soon(both));
    let_go(both);
    EXPECT_TRUE(late.get());
}

TEST_F(several_line, is_left_whole_by_who_gives_up) {
    auto b = mutex(client_, "b").acquire();
    client own(server_.url());
    std::stop_source enough;
    auto given_up = std::async(std::launch::async, [&] {
        return error_of([&] {
            (void)multi_mutex(own, {"a", "b", "c"}).acquire(enough.get_token());
        });
    });
    ASSERT_TRUE(eventually(
        surely, [&] { return length("b") == 1 && kept_for_several("a") && server_.exists("c"); }));
    enough.request_stop();
    EXPECT_EQ(given_up.get().code, errc::cancelled);
    EXPECT_TRUE(eventually(surely, [&] { return keys_left() == 1; })) << "but for b";
    EXPECT_FALSE(multi_mutex(own, {"a", "b"}).try_acquire_for(50ms));
    EXPECT_TRUE(eventually(surely, [&] { return keys_left() == 1; }));
}

TEST_F(several_line, passes_on_what_was_kept_for_who_gives_up) {
    auto b = mutex(client_, "b").acquire();
    client own(server_.url());
    std::stop_source enough;
    auto gives_up = std::async(std::launch::async, [&] {
        return error_of([&] { (void)multi_mutex(own, {"a", "b"}).acquire(enough.get_token()); });
    });
    ASSERT_TRUE(eventually(surely, [&] { return kept_for_several("a"); }));
    auto& next = join({"a"});
    ASSERT_TRUE(eventually(surely, [&] { return length("a") == 1; }));
    const stopwatch watch;
    enough.request_stop();
    EXPECT_TRUE(soon(next));
    EXPECT_LT(watch.elapsed(), promptly);
    EXPECT_EQ(gives_up.get().code, errc::cancelled);
    let_go(next);
}

TEST_F(several_line, a_waiter_that_died_keeps_nothing_for_longer_than_a_grant) {
    auto b = mutex(client_, "b").acquire();
    lock_process dies(server_.url());
    dies.tell("several a,b 30000");
    ASSERT_TRUE(eventually(surely, [&] { return length("b") == 1 && kept_for_several("a"); }));
    auto& next = join({"a", "b"});
    ASSERT_TRUE(eventually(surely, [&] { return length("b") == 2; }));
    dies.child().kill(SIGKILL);
    const stopwatch watch;
    b.release();
    EXPECT_TRUE(soon(next));
    EXPECT_LT(watch.elapsed(), 4s * slowness) << "what was kept has gone, and it looks";
    let_go(next);
    EXPECT_EQ(keys_left(), 0U);
}

TEST_F(several_line, a_waiter_that_stands_still_costs_the_others_no_more) {
    auto b = mutex(client_, "b").acquire();
    lock_process still(server_.url());
    still.tell("several a,b 30000");
    ASSERT_TRUE(eventually(surely, [&] { return length("b") == 1 && kept_for_several("a"); }));
    auto& a = join({"a"});
    ASSERT_TRUE(eventually(surely, [&] { return length("a") == 1; }));
    auto& both = join({"a", "b"});
    ASSERT_TRUE(eventually(surely, [&] { return length("b") == 2 && length("a") == 2; }));
    still.child().pause();
    const stopwatch watch;
    b.release();
    EXPECT_TRUE(soon(a));
    let_go(a);
    EXPECT_TRUE(soon(both));
    EXPECT_LT(watch.elapsed(), 6s * slowness);
    still.child().resume();
    ASSERT_TRUE(eventually(surely, [&] { return length("a") == 1 && length("b") == 1; }))
        << "it stands in both lines anew";
    let_go(both);
    EXPECT_TRUE(still.listen().starts_with("held "));
    still.expect("release", "released");
}

TEST_F(several_line, a_holder_that_died_keeps_them_for_its_ttl) {
    lock_process dies(server_.url());
    dies.expect("several a,b 1500", "held ");
    auto& next = join({"b", "a"});
    ASSERT_TRUE(eventually(surely, [&] { return length("a") == 1 && length("b") == 1; }));
    dies.child().kill(SIGKILL);
    const stopwatch watch;
    EXPECT_TRUE(soon(next));
    EXPECT_LT(watch.elapsed(), 3s * slowness);
    let_go(next);
}

TEST_F(several_line, another_library_that_lets_go_is_noticed_whichever_key_it_had) {
    for (const std::string key : {"a", "b", "c"}) {
        server_.command({"SET", key, "another library", "PX", "60000"});
        auto& all = join({"a", "b", "c"});
        ASSERT_TRUE(eventually(surely, [&] { return length(key) == 1; }));
        std::this_thread::sleep_for(200ms);  // so that it listens
        const stopwatch watch;
        server_.command({"DEL", key});
        EXPECT_TRUE(soon(all));
        EXPECT_LT(watch.elapsed(), promptly) << key;
        let_go(all);
    }
}

TEST_F(several_line, neither_order_nor_overlap_makes_a_deadlock) {
    std::vector<std::unique_ptr<lock_process>> all;
    const key_names lists{"a,b c,a b,c", "b,a b,c c,a", "c,b,a a,c b", "a b,a,c c,b"};
    for (const auto& each : lists) {
        all.push_back(std::make_unique<lock_process>(server_.url()));
        all.back()->tell("cycle 100 " + each);
    }
    for (const auto& each : all) EXPECT_EQ(each->listen(), "cycled");
    EXPECT_EQ(keys_left(), 0U);
}

TEST_F(several_line, of_one_client_neither_order_nor_overlap_makes_a_deadlock) {
    std::atomic<int> inside_a = 0;
    std::atomic<int> inside_b = 0;
    std::atomic<int> done = 0;
    {
        std::vector<std::jthread> threads;
        const std::vector<key_names> lists{{"a", "b"}, {"b", "a"}, {"a"},
                                           {"b"},      {"b", "c"}, {"c", "a"}};
        for (const auto& keys : lists) {
            threads.emplace_back([&, keys] {
                multi_mutex lock(client_, keys);
                const bool a = std::count(keys.begin(), keys.end(), "a") > 0;
                const bool b = std::count(keys.begin(), keys.end(), "b") > 0;
                for (int n = 0; n < 50; ++n) {
                    const auto held = lock.try_acquire_for(surely);
                    if (!held) return;
                    EXPECT_EQ(a ? ++inside_a : 1, 1);
                    EXPECT_EQ(b ? ++inside_b : 1, 1);
                    if (a) --inside_a;
                    if (b) --inside_b;
                    ++done;
                }
            });
        }
    }
    EXPECT_EQ(done, 6 * 50);
    EXPECT_TRUE(eventually(surely, [&] { return keys_left() == 0; }));
}

TEST_F(several_line, who_wants_several_is_not_starved_by_those_who_want_one) {
    std::atomic<bool> enough = false;
    std::vector<std::jthread> threads;
    for (const std::string key : {"a", "a", "b", "b"}) {
        threads.emplace_back([&, key] {
            client own(server_.url());
            mutex lock(own, key);
            while (!enough) {
                const auto held = lock.acquire();
                std::this_thread::sleep_for(1ms);
            }
        });
    }
    multi_mutex both(client_, {"a", "b"});
    const stopwatch watch;
    for (int n = 0; n < 20; ++n) EXPECT_TRUE(both.try_acquire_for(surely));
    EXPECT_LT(watch.elapsed(), 5s * slowness);
    enough = true;
}

}  // namespace
}  // namespace holdfast::test
