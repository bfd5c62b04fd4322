#include <algorithm>
#include <atomic>
#include <future>
#include <numeric>
#include <thread>

#include "holdfast/operate.hpp"
#include "integration/client_list.hpp"
#include "integration/library.hpp"
#include "integration/quorum.hpp"
#include "integration/version_0_1.hpp"
#include "support/lock_process.hpp"

/// Who stands in line at a server is served in order, and leaves nothing behind.
namespace holdfast::test {
namespace {

constexpr auto queue = "holdfast:{k}:queue";
/// For how long a lock stays granted to a waiter that does not claim it.
constexpr auto unclaimed = 2s;

class line : public testing::Test {
  protected:
    [[nodiscard]] std::size_t length() const {
        return std::stoul(server_.command({"LLEN", queue}));
    }

    /// Another process that waits for `k`, as the last in line.
    lock_process& join(milliseconds ttl = 30s) {
        const auto before = length();
        processes_.push_back(std::make_unique<lock_process>(server_.url()));
        processes_.back()->tell("acquire k " + std::to_string(ttl.count()));
        EXPECT_TRUE(eventually(surely, [&] { return length() == before + 1; }));
        return *processes_.back();
    }

    /// A thread with a client of its own that waits for `k` and notes its number when it has it.
    void join_as(int number, std::vector<int>& served, acquire_options how = {}) {
        const auto before = length();
        threads_.emplace_back([this, number, &served, how] {
            client own(server_.url());
            const auto held = mutex(own, "k", how).acquire();
            served.push_back(number);  // guarded by the lock
        });
        EXPECT_TRUE(eventually(surely, [&] { return length() == before + 1; }));
    }

    void join_threads() { threads_.clear(); }

    redis_server server_;
    client client_{server_.url()};
    std::vector<std::unique_ptr<lock_process>> processes_;
    std::vector<std::jthread> threads_;
};

TEST_F(line, is_served_in_the_order_of_arrival) {
    auto held = mutex(client_, "k").acquire();
    std::vector<int> served;
    for (int n = 0; n < 8; ++n) join_as(n, served);
    held.release();
    join_threads();
    EXPECT_EQ(served, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_FALSE(server_.exists(queue));
}

TEST_F(line, a_release_wakes_exactly_one) {
    auto held = mutex(client_, "k").acquire();
    std::vector<std::unique_ptr<client>> clients;
    std::vector<std::future<lease>> waiters;
    for (std::size_t n = 0; n < 4; ++n) {
        clients.push_back(std::make_unique<client>(server_.url()));
        waiters.push_back(
            std::async(std::launch::async, [&, n] { return mutex(*clients[n], "k").acquire(); }));
        EXPECT_TRUE(eventually(surely, [&] { return length() == n + 1; }));
    }
    const auto denied = [&] {
        return std::accumulate(
            clients.begin(), clients.end(), std::uint64_t{0},
            [](auto sum, const auto& each) { return sum + each->statistics().denied; });
    };
    const auto before = denied();
    const auto published = [&] {
        const auto stats = server_.command({"INFO", "commandstats"});
        const auto at = stats.find("cmdstat_publish:calls=");
        return at == stats.npos ? 0 : std::stoi(stats.substr(at + 22));
    };
    held.release();
    auto first = waiters[0].get();
    EXPECT_EQ(published(), 1);
    EXPECT_LE(denied() - before, 4U) << "each looks once a second, and no more often";
    first.release();
    for (std::size_t n = 1; n < 4; ++n) waiters[n].get().release();
    EXPECT_EQ(published(), 4);
}

TEST_F(line, who_comes_while_others_stand_in_it_is_denied_and_told_by_whom) {
    auto held = mutex(client_, "k").acquire();
    auto& frozen = join();
    frozen.child().kill(SIGSTOP);
    server_.command({"DEL", "k"});  // free, but promised
    client other(server_.url());
    const auto tried = mutex(other, "k").try_acquire();
    ASSERT_FALSE(tried);
    ASSERT_TRUE(tried.held_by());
    EXPECT_EQ(tried.held_by()->label, "lock-process");
    frozen.child().kill(SIGCONT);
    EXPECT_TRUE(frozen.listen().starts_with("held"));
}

TEST_F(line, the_dead_are_passed_over_at_once) {
    auto held = mutex(client_, "k").acquire();
    auto& dead = join();
    auto& dead_too = join();
    auto& alive = join();
    dead.child().kill(SIGKILL);
    dead_too.child().kill(SIGKILL);
    EXPECT_TRUE(
        eventually(surely, [&] { return connections_named(server_, "holdfast").size() == 2; }));
    const stopwatch watch;
    held.release();
    EXPECT_TRUE(alive.listen().starts_with("held"));
    EXPECT_LT(watch.elapsed(), promptly);
}

TEST_F(line, who_stands_still_costs_the_others_two_seconds_and_does_not_believe_an_old_call) {
    auto held = mutex(client_, "k").acquire();
    auto& frozen = join();
    auto& next = join();
    frozen.child().kill(SIGSTOP);
    const stopwatch watch;
    held.release();
    EXPECT_TRUE(next.listen().starts_with("held"));
    EXPECT_GE(watch.elapsed(), unclaimed - 100ms);
    EXPECT_LT(watch.elapsed(), unclaimed + 1s + promptly);
    frozen.child().kill(SIGCONT);  // what it was told is in its socket
    EXPECT_TRUE(eventually(surely, [&] { return length() == 1; })) << "it stands in line again";
    EXPECT_EQ(next.ask("state"), "held going");
    next.expect("release", "released");
    EXPECT_TRUE(frozen.listen().starts_with("held"));
}

TEST_F(line, is_left_by_who_gives_up) {
    auto held = mutex(client_, "k").acquire();
    client other(server_.url());
    EXPECT_FALSE(mutex(other, "k").try_acquire_for(100ms));
    EXPECT_TRUE(eventually(promptly, [&] { return length() == 0; }));
    std::stop_source stop;
    auto waiter = std::async(std::launch::async, [&] {
        return error_of([&] { (void)mutex(other, "k").acquire(stop.get_token()); });
    });
    EXPECT_TRUE(eventually(surely, [&] { return length() == 1; }));
    stop.request_stop();
    EXPECT_EQ(waiter.get().code, errc::cancelled);
    EXPECT_TRUE(eventually(promptly, [&] { return !server_.exists(queue); }));
}

TEST_F(line, a_place_stays_with_the_process_when_the_first_of_its_threads_gives_up) {
    auto held = mutex(client_, "k").acquire();
    client other(server_.url());
    std::vector<int> served;
    threads_.emplace_back(
        [&] { EXPECT_FALSE(mutex(other, "k").try_acquire_for(400ms * slowness)); });
    EXPECT_TRUE(eventually(surely, [&] { return length() == 1; }));
    threads_.emplace_back([&] {
        const auto mine = mutex(other, "k").acquire();
        served.push_back(1);
    });
    join_as(2, served);
    const auto first = server_.command({"LINDEX", queue, "0"});
    std::this_thread::sleep_for(600ms * slowness);
    EXPECT_EQ(server_.command({"LINDEX", queue, "0"}), first);
    held.release();
    join_threads();
    EXPECT_EQ(served, (std::vector<int>{1, 2}));
}

TEST_F(line, who_loses_the_right_to_its_channel_meanwhile_is_served_all_the_same) {
    server_.command({"ACL", "SETUSER", "u", "on", ">pw", "~*", "+@all", "allchannels"});
    auto settings = settings_for(server_.url());
    settings.user = "u";
    settings.password = "pw";
    client restricted(settings);
    auto held = mutex(client_, "k").acquire();
    auto waiter = std::async(std::launch::async, [&] { return mutex(restricted, "k").acquire(); });
    EXPECT_TRUE(eventually(surely, [&] { return length() == 1; }));
    server_.command({"ACL", "SETUSER", "u", "resetchannels"});  // ends its connection
    EXPECT_TRUE(eventually(surely, [&] { return restricted.statistics().connected == 2; }));
    EXPECT_TRUE(eventually(surely, [&] {
        return server_.command({"LRANGE", queue, "0", "-1"}).starts_with("- ");
    }));
    held.release();
    EXPECT_EQ(waiter.wait_for(1s * slowness), std::future_status::ready);
}

TEST_F(line, is_left_by_a_client_that_is_destroyed) {
    auto held = mutex(client_, "k").acquire();
    auto other = std::make_unique<client>(server_.url());
    auto waiter = std::async(std::launch::async,
                             [&] { return error_of([&] { (void)mutex(*other, "k").acquire(); }); });
    EXPECT_TRUE(eventually(surely, [&] { return length() == 1; }));
    other.reset();
    EXPECT_EQ(waiter.get().code, errc::closed);
    EXPECT_TRUE(eventually(promptly, [&] { return !server_.exists(queue); }));
}

TEST_F(line, disappears_by_itself_when_all_who_stood_in_it_are_dead) {
    auto held = mutex(client_, "k").acquire();
    join().child().kill(SIGKILL);
    join().child().kill(SIGKILL);
    EXPECT_LE(server_.pttl(queue), 10'000);
    EXPECT_TRUE(eventually(11s, [&] { return !server_.exists(queue); }));
}

TEST_F(line, of_the_living_outlives_its_own_ttl) {
    auto held = mutex(client_, "k", with_ttl(60s)).acquire();
    auto& waits = join();
    EXPECT_TRUE(eventually(surely, [&] { return server_.pttl(queue) < 9'500; }));
    EXPECT_TRUE(eventually(surely, [&] { return server_.pttl(queue) > 9'500; })) << "it looks";
    EXPECT_EQ(length(), 1U);
    held.release();
    EXPECT_TRUE(waits.listen().starts_with("held"));
}

TEST_F(line, keeps_the_places_of_all_while_the_server_takes_no_writes) {
    auto held = mutex(client_, "k", with_ttl(60s)).acquire();
    std::vector<int> served;
    for (int n = 0; n < 2; ++n) join_as(n, served);
    const auto before = server_.command({"LRANGE", queue, "0", "-1"});
    server_.command({"CONFIG", "SET", "min-replicas-to-write", "1"});
    const auto extended = server_.pttl(queue);
    EXPECT_TRUE(eventually(surely, [&] { return server_.pttl(queue) < extended - 3'000; }))
        << "they look, and cannot extend it";
    server_.command({"CONFIG", "SET", "min-replicas-to-write", "0"});
    EXPECT_TRUE(eventually(surely, [&] { return server_.pttl(queue) > 9'000; })) << "they can";
    EXPECT_EQ(server_.command({"LRANGE", queue, "0", "-1"}), before) << "as the same owners";
    held.release();
    join_threads();
    EXPECT_EQ(served, (std::vector<int>{0, 1}));
}

TEST_F(line, who_lets_go_is_passed_over_although_an_entry_of_its_own_is_left) {
    auto held = mutex(client_, "k").acquire();
    server_.command({"RPUSH", queue, "- 0 " + std::string(held.owner()), "- 0 next"});
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_EQ(server_.command({"GET", "k"}), "next");
    EXPECT_FALSE(server_.exists(queue));
}

TEST_F(line, goes_on_when_everything_is_flushed) {
    auto held = mutex(client_, "k").acquire();
    auto& first = join();
    auto& second = join();
    server_.command({"DEL", queue});
    EXPECT_TRUE(eventually(surely, [&] { return length() == 2; })) << "they look, and come back";
    held.release();
    const auto either = eventually(surely, [&] { return length() == 1; });
    EXPECT_TRUE(either);
    auto& winner = server_.get("k").value_or("").find(":" + std::to_string(first.child().id()) +
                                                      ":") != std::string::npos
                       ? first
                       : second;
    EXPECT_TRUE(winner.listen().starts_with("held"));
    winner.expect("release", "released");
    EXPECT_TRUE((&winner == &first ? second : first).listen().starts_with("held"));
}

TEST_F(line, is_passed_on_to_by_a_release_by_force) {
    auto held = mutex(client_, "k").acquire();
    auto& next = join();
    const stopwatch watch;
    EXPECT_EQ(force_unlock(client_, "k", held.owner(), "it is time"), release_result::released);
    EXPECT_TRUE(next.listen().starts_with("held"));
    EXPECT_LT(watch.elapsed(), promptly);
}

TEST_F(line, is_passed_on_to_by_a_release_by_the_owner_token) {
    auto held = mutex(client_, "k").acquire();
    auto& next = join();
    client other(server_.url());
    const stopwatch watch;
    EXPECT_EQ(unlock(other, "k", held.owner()), release_result::released);
    EXPECT_TRUE(next.listen().starts_with("held"));
    EXPECT_LT(watch.elapsed(), promptly);
}

TEST_F(line, another_librarys_release_wakes_the_first) {
    server_.command({"SET", "k", "somebody", "PX", "60000"});
    auto& first = join();
    auto& second = join();
    std::this_thread::sleep_for(50ms);  // until it listens; if it came later it would look at once
    const stopwatch watch;
    server_.command({"DEL", "k"});
    EXPECT_TRUE(first.listen().starts_with("held"));
    EXPECT_LT(watch.elapsed(), promptly);
    EXPECT_EQ(length(), 1U);
    first.expect("release", "released");
    EXPECT_TRUE(second.listen().starts_with("held"));
}

TEST_F(line, the_first_listens_again_after_the_holder_has_renewed) {
    server_.command({"SET", "k", "somebody", "PX", "60000"});
    auto& first = join();
    for (const auto* const ttl : {"61000", "62000"}) {
        server_.command({"PEXPIRE", "k", ttl});
        std::this_thread::sleep_for(50ms * slowness);
    }
    const stopwatch watch;
    server_.command({"DEL", "k"});
    EXPECT_TRUE(first.listen().starts_with("held"));
    EXPECT_LT(watch.elapsed(), promptly);
}

// It knows no queue: it excludes and is excluded, and takes what is free.
TEST_F(line, version_0_1_beside_it_is_safe) {
    version_0_1::enlist(server_, 0ms);
    auto held = mutex(client_, "k").acquire();
    const auto mine = held.token();
    EXPECT_EQ(version_0_1::acquire_unguarded(server_, "k", "old").code, version_0_1::answer::held);
    auto& next = join();
    held.release();
    EXPECT_TRUE(next.listen().starts_with("held"));
    EXPECT_EQ(version_0_1::acquire_unguarded(server_, "k", "old").code, version_0_1::answer::held);
    next.expect("release", "released");
    const auto theirs = version_0_1::acquire_unguarded(server_, "k", "old");
    EXPECT_EQ(theirs.code, version_0_1::answer::granted);
    EXPECT_GT(theirs.token, mine);
    EXPECT_FALSE(mutex(client_, "k").try_acquire());
}

TEST_F(line, something_else_at_its_key_keeps_nobody_from_the_lock) {
    server_.command({"SET", queue, "something else"});
    auto held = mutex(client_, "k").acquire();
    client other(server_.url());
    auto waiter = std::async(std::launch::async, [&] { return mutex(other, "k").acquire(); });
    EXPECT_TRUE(eventually(surely, [&] { return other.statistics().denied > 2; })) << "it polls";
    held.release();
    EXPECT_EQ(waiter.get().release(), release_result::released);
    EXPECT_EQ(server_.get(queue), "something else");
}

TEST_F(line, garbage_in_it_is_passed_over) {
    auto held = mutex(client_, "k").acquire();
    server_.command({"RPUSH", queue, "", "x", "a b", "- 0 ", "nobody 0 hf1:x"});
    auto waiter = std::make_unique<lock_process>(server_.url());
    waiter->tell("acquire k 30000");
    EXPECT_TRUE(eventually(surely, [&] { return length() == 6; }));
    const stopwatch watch;
    held.release();
    EXPECT_TRUE(waiter->listen().starts_with("held"));
    EXPECT_LT(watch.elapsed(), promptly);
}

TEST_F(line, without_the_right_to_a_channel_who_waits_looks_now_and_then_and_is_told_so) {
    server_.command({"ACL", "SETUSER", "deaf", "on", ">pw", "~*", "+@all", "resetchannels"});
    std::mutex guard;
    std::vector<std::string> log;
    auto settings = settings_for(server_.url());
    settings.user = "deaf";
    settings.password = "pw";
    settings.log = [&](const log_record& what) {
        const std::lock_guard alone(guard);
        if (what.event == "not_called") log.emplace_back(what.message);
    };
    client deaf(settings);
    auto held = mutex(client_, "k").acquire();
    auto waiter = std::async(std::launch::async, [&] { return mutex(deaf, "k").acquire(); });
    EXPECT_TRUE(eventually(surely, [&] { return length() == 1; })) << "it stands in line";
    client other(server_.url());
    auto last = std::async(std::launch::async, [&] { return mutex(other, "k").acquire(); });
    EXPECT_TRUE(eventually(surely, [&] { return length() == 2; }));
    held.release();
    auto theirs = waiter.get();
    EXPECT_EQ(last.wait_for(50ms), std::future_status::timeout) << "in order all the same";
    theirs.release();  // nor may it publish: the next finds its grant when it looks
    EXPECT_EQ(last.wait_for(unclaimed), std::future_status::ready);
    const std::lock_guard alone(guard);
    ASSERT_EQ(log.size(), 1U);
    EXPECT_TRUE(contains(log[0], "NOPERM")) << log[0];
}

TEST_F(line, who_may_not_stand_there_has_nothing_to_leave) {
    server_.command({"ACL", "SETUSER", "u", "on", ">pw", "~*", "+@all", "-@list", "allchannels"});
    auto settings = settings_for(server_.url());
    settings.user = "u";
    settings.password = "pw";
    std::atomic<int> refused = 0;
    settings.log = [&](const log_record& what) { refused += what.event == "release_refused"; };
    const auto held = mutex(client_, "k").acquire();
    {
        client other(settings);
        EXPECT_FALSE(mutex(other, "k").try_acquire_for(100ms * slowness));
        EXPECT_EQ(mutex(other, "free").acquire().release(), release_result::released);
    }
    EXPECT_EQ(refused, 0);
}

TEST_F(line, is_the_same_without_fencing) {
    const acquire_options unfenced{.fencing = false};
    auto held = mutex(client_, "k", unfenced).acquire();
    std::vector<int> served;
    for (int n = 0; n < 4; ++n) join_as(n, served, unfenced);
    held.release();
    join_threads();
    EXPECT_EQ(served, (std::vector<int>{0, 1, 2, 3}));
}

TEST_F(line, plain_set_is_used_only_where_nobody_stood_in_line) {
    const acquire_options unfenced{.fencing = false};
    const auto sets = [&] {
        const auto stats = server_.command({"INFO", "commandstats"});
        const auto at = stats.find("cmdstat_evalsha:calls=");
        return std::stoi(stats.substr(at + 22));
    };
    mutex lock(client_, "k", unfenced);
    lock.lock();
    lock.unlock();  // says that nobody waits
    const auto before = sets();
    lock.lock();
    EXPECT_EQ(sets() - before, 0) << "by SET";
    auto& next = join();
    lock.unlock();  // says that somebody did
    EXPECT_TRUE(next.listen().starts_with("held"));
    next.expect("release", "released");
    const auto again = sets();
    lock.lock();
    EXPECT_EQ(sets() - again, 1) << "by the script";
    lock.unlock();
}

TEST_F(line, shares_the_lock_evenly_among_processes_of_several_threads) {
    constexpr std::size_t clients = 3;
    std::array<std::atomic<int>, clients> shares{};
    const auto end = clock::now() + 1s * slowness;
    for (auto& share : shares) {
        threads_.emplace_back([&] {
            client own(server_.url());
            std::vector<std::jthread> workers;
            for (int n = 0; n < 3; ++n) {
                workers.emplace_back([&] {
                    mutex lock(own, "k");
                    while (clock::now() < end) {
                        const std::scoped_lock held(lock);
                        ++share;
                    }
                });
            }
        });
    }
    join_threads();
    const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
    EXPECT_GT(*least * 3, *most * 2) << *least << " of " << *most;
    EXPECT_FALSE(server_.exists(queue));
    EXPECT_FALSE(server_.exists("k"));
}

using fair = line;

TEST_F(fair, callers_are_served_one_by_one_in_the_order_of_arrival_whatever_their_process) {
    const acquire_options how{.fair = true};
    auto held = mutex(client_, "k", how).acquire();
    client other(server_.url());
    std::vector<int> served;
    for (int n = 0; n < 6; ++n) {
        auto& through = n % 2 == 0 ? client_ : other;
        threads_.emplace_back([&, n] {
            const auto mine = mutex(through, "k", how).acquire();
            served.push_back(n);
        });
        EXPECT_TRUE(
            eventually(surely, [&] { return length() == static_cast<std::size_t>(n) + 1; }));
    }
    held.release();
    join_threads();
    EXPECT_EQ(served, (std::vector<int>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(client_.statistics().inherited, 0U);
}

TEST_F(fair, and_other_callers_stand_in_one_line_in_which_a_process_without_it_counts_as_one) {
    const acquire_options how{.fair = true};
    auto held = mutex(client_, "k", how).acquire();
    client plain(server_.url());
    std::vector<int> served;
    for (int n = 0; n < 3; ++n) {
        threads_.emplace_back([&, n] {
            const auto mine = mutex(plain, "k").acquire();
            served.push_back(10 + n);
        });
    }
    EXPECT_TRUE(eventually(surely, [&] { return length() == 1; }));
    join_as(1, served, how);
    held.release();
    join_threads();
    ASSERT_EQ(served.size(), 4U);
    EXPECT_GE(served[0], 10) << "the process without it came first";
}

TEST_F(fair, a_waiter_that_gives_up_does_not_hold_up_the_rest) {
    const acquire_options how{.fair = true};
    auto held = mutex(client_, "k", how).acquire();
    EXPECT_FALSE(mutex(client_, "k", how).try_acquire_for(50ms));
    std::vector<int> served;
    EXPECT_TRUE(eventually(surely, [&] { return length() == 0; }));
    join_as(1, served, how);
    const stopwatch watch;
    held.release();
    join_threads();
    EXPECT_LT(watch.elapsed(), promptly);
}

TEST(fair_lock, is_refused_on_a_quorum) {
    const redis_server a;
    const redis_server b;
    const redis_server c;
    client through(options{.urls = {a.url(), b.url(), c.url()}});
    const auto error =
        error_of([&] { (void)mutex(through, "k", acquire_options{.fair = true}).try_acquire(); });
    EXPECT_EQ(error.code, errc::invalid_option);
    EXPECT_TRUE(contains(error.what, "one server")) << error.what;
}

}  // namespace
}  // namespace holdfast::test
