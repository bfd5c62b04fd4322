#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/use_future.hpp>
#include <future>
#include <thread>

#include "holdfast/asio.hpp"
#include "holdfast/operate.hpp"
#include "integration/quorum.hpp"
#include "support/shifted_clock.hpp"

/// Leases that go from one waiter of a client to the next without the servers. A slow machine may
/// take longer for a step than a lease may be passed on, so what must happen is tried many times.
namespace holdfast::test {
namespace {

std::atomic<unsigned> yields = 0;

}  // namespace
}  // namespace holdfast::test

/// Instead of the C library's, so that it can be counted.
extern "C" int sched_yield() noexcept {
    ++holdfast::test::yields;
    return static_cast<int>(::syscall(SYS_sched_yield));
}

namespace holdfast::test {
namespace {

/// Threads that take and leave one lock, and see to it that each is alone, with a larger token.
class crowd {
  public:
    explicit crowd(client& through, int size = 4) : client_(through) {
        for (int n = 0; n < size; ++n) threads_.emplace_back([this] { work(); });
    }
    ~crowd() { disperse(); }

    bool inherits(std::uint64_t often) const {
        return eventually(surely, [&] { return client_.statistics().inherited >= often; });
    }

    void disperse() {
        done_ = true;
        for (auto& each : threads_) {
            if (each.joinable()) each.join();
        }
    }

    [[nodiscard]] int violations() const { return violations_; }
    [[nodiscard]] milliseconds longest_wait() const { return longest_wait_.load(); }

  private:
    void work() {
        mutex one(client_, "k");
        while (!done_) {
            const stopwatch watch;
            const auto held = one.acquire();
            longest_wait_ = std::max(longest_wait_.load(), watch.elapsed());
            if (inside_.fetch_add(1) != 0) ++violations_;
            if (held.token() <= last_.exchange(held.token())) ++violations_;
            if (held.lost()) ++violations_;
            inside_.fetch_sub(1);
        }
    }

    client& client_;
    std::atomic<bool> done_ = false;
    std::atomic<int> inside_ = 0;
    std::atomic<std::uint64_t> last_ = 0;
    std::atomic<int> violations_ = 0;
    std::atomic<milliseconds> longest_wait_{};  // written by whoever has the lock
    std::vector<std::thread> threads_;
};

class handover : public testing::Test {
  protected:
    /// One holds the lock, a second waits for it and a third behind that one, again and again. The
    /// second draws tokens for both; it does `work`, and leaves the lock to the third. Returns how
    /// often that one inherited it.
    template <typename Work>
    std::uint64_t inherited(const acquire_options& second, const acquire_options& third,
                            Work&& work) {
        mutex one(client_, "k");
        for (int round = 0; round < 20; ++round) {
            auto first = one.acquire();
            auto next = one.async_acquire(second, boost::asio::use_future);
            auto last = one.async_acquire(third, boost::asio::use_future);
            first.release();
            auto held = next.get();
            work(*held);
            EXPECT_EQ(held->release(), release_result::released);
            EXPECT_TRUE(last.get()->verify());
        }
        return client_.statistics().inherited;
    }

    static void nothing(lease&) {}

    /// A lease that may be handed off, and the one behind it, which asked before it was granted.
    struct succession {
        acquisition held;
        std::future<acquisition> next;
    };
    static succession succeed(mutex& one) {
        auto first = one.acquire();
        auto second = one.async_acquire(boost::asio::use_future);
        auto third = one.async_acquire(boost::asio::use_future);
        first.release();
        return {second.get(), std::move(third)};
    }

    /// A holder and the next in line have tokens; the servers lose the lock, and another client
    /// gets it; then somebody asks here. Returns how often, of 40 times, its token was not the
    /// larger.
    template <typename Forget>
    static int inversions(client& here, client& there, Forget&& forget) {
        int found = 0;
        mutex ours(here, "k");
        mutex theirs(there, "k");
        for (int round = 0; round < 40; ++round) {
            auto [held, next] = succeed(ours);
            forget();
            const auto other = [&] {
                const auto taken = theirs.acquire();
                return taken.token();
            }();
            auto latecomer = ours.async_acquire(boost::asio::use_future);
            held->release();
            next.get()->release();
            if (latecomer.get()->token() <= other) ++found;
        }
        return found;
    }

    redis_server server_;
    client client_{server_.url()};
};

// The heir may be the thread that drives: it has to notice, whatever it is about to do. Otherwise
// everybody waits until the lease that it does not know of is renewed, a third of the ttl later.
TEST_F(handover, is_noticed_by_the_thread_that_drives) {
    crowd all(client_, 16);
    std::this_thread::sleep_for(1s);  // of hand-overs: it takes about ten thousand to see it fail
    EXPECT_TRUE(all.inherits(100));
    all.disperse();
    EXPECT_EQ(all.violations(), 0);
    EXPECT_LT(all.longest_wait(), 5s);
}

TEST_F(handover, spins_unless_that_is_switched_off) {
    {
        crowd threads(client_);
        ASSERT_TRUE(threads.inherits(200));
    }
    EXPECT_GT(yields.exchange(0), 0U);
    client quiet(server_.url() + "?spin=off");
    {
        crowd threads(quiet);
        ASSERT_TRUE(threads.inherits(200));
    }
    EXPECT_EQ(yields.load(), 0U);
}

TEST_F(handover, goes_on_without_the_server) {
    crowd threads(client_);
    ASSERT_TRUE(threads.inherits(200));
    threads.disperse();
    const auto counters = client_.statistics();
    EXPECT_EQ(threads.violations(), 0);
    EXPECT_EQ(counters.released, counters.acquired);
    // An acquire and a release for each that did not inherit, and an attempt for each denial.
    const auto asked = 2 * (counters.acquired - counters.inherited) + counters.denied;
    EXPECT_LE(quorum::commands_of(server_, "evalsha"), static_cast<std::int64_t>(asked) + 10);
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(handover, goes_on_without_a_quorum_of_servers) {
    quorum nodes(3);
    client through(nodes.settings());
    through.connect();
    crowd threads(through);
    ASSERT_TRUE(threads.inherits(50));
    threads.disperse();
    EXPECT_EQ(threads.violations(), 0);
    EXPECT_TRUE(eventually(surely, [&] { return nodes.holders_of("k") == 0; }));
}

TEST_F(handover, leaves_the_key_to_the_heir) {
    EXPECT_GT(inherited({}, {}, nothing), 0U);
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(handover, has_no_tokens_without_fencing_and_goes_on_all_the_same) {
    const acquire_options plain{.fencing = false};
    EXPECT_GT(inherited(plain, plain, [](lease& held) { EXPECT_EQ(held.token(), 0U); }), 0U);
}

TEST_F(handover, ends_for_others_who_wait) {
    crowd threads(client_);
    ASSERT_TRUE(threads.inherits(10));
    client other(server_.url());
    for (int n = 0; n < 3; ++n) {
        const auto theirs = mutex(other, "k").try_acquire_for(surely);
        EXPECT_TRUE(theirs);
    }
}

// The next in line asks in the same write as the release: without a gap others would never win.
TEST_F(handover, leaves_a_gap_to_others_between_long_holds) {
    std::atomic<bool> done = false;
    std::vector<std::thread> threads;
    for (int n = 0; n < 3; ++n) {
        threads.emplace_back([&] {
            mutex one(client_, "k");
            while (!done) {
                const auto held = one.acquire();
                std::this_thread::sleep_for(30ms);
            }
        });
    }
    EXPECT_TRUE(eventually(surely, [&] { return client_.statistics().acquired > 5; }));
    client other(server_.url());
    for (int n = 0; n < 3; ++n) {
        EXPECT_TRUE(mutex(other, "k").try_acquire_for(surely / 2)) << n;
    }
    done = true;
    for (auto& each : threads) each.join();
}

TEST_F(handover, does_not_reach_who_would_have_asked_for_another_ttl) {
    EXPECT_EQ(inherited(with_ttl(10s), with_ttl(11s), nothing), 0U);
}

TEST_F(handover, does_not_reach_who_would_be_shown_under_another_label) {
    EXPECT_EQ(inherited({.label = "nightly"}, {.label = "hourly"}, nothing), 0U);
}

TEST_F(handover, does_not_mix_locks_with_and_without_tokens) {
    EXPECT_EQ(inherited({.fencing = true}, {.fencing = false}, nothing), 0U);
}

// A token that was drawn before its holder asked may be smaller than one that was given out since.
TEST_F(handover, does_not_reach_who_asked_after_the_key_was_deleted_and_taken_by_another) {
    client other(server_.url());
    EXPECT_EQ(inversions(client_, other, [&] { server_.command({"DEL", "k"}); }), 0);
    EXPECT_GT(client_.statistics().inherited, 0U) << "nothing was handed off at all";
}

TEST_F(handover, does_not_reach_who_asked_after_the_server_was_emptied_and_another_came) {
    client other(server_.url());
    EXPECT_EQ(inversions(client_, other, [&] { server_.command({"FLUSHALL"}); }), 0);
    EXPECT_GT(client_.statistics().inherited, 0U) << "nothing was handed off at all";
}

// The key is over for the server, and the lease is not for its holder.
TEST_F(handover, does_not_reach_who_asked_after_the_clock_had_jumped_and_another_came) {
    if (!shifted_clock::available()) GTEST_SKIP() << "no library to shift clocks with";
    shifted_clock clock_of_it;
    const redis_server jumping({.environment = clock_of_it.environment()});
    client here(jumping.url());
    client there(jumping.url());
    const auto jump = [&] { clock_of_it.jump(acquire_options{}.ttl + 1s); };
    EXPECT_EQ(inversions(here, there, jump), 0);
    EXPECT_GT(here.statistics().inherited, 0U) << "nothing was handed off at all";
}

TEST_F(handover, does_not_reach_who_asked_after_a_quorum_lost_the_key_to_another) {
    quorum nodes(3);
    client here(nodes.settings());
    client there(nodes.settings());
    here.connect();
    there.connect();
    const auto forget = [&] {
        for (std::size_t n = 0; n < nodes.size(); ++n) nodes.server(n).command({"DEL", "k"});
    };
    EXPECT_EQ(inversions(here, there, forget), 0);
    EXPECT_GT(here.statistics().inherited, 0U) << "nothing was handed off at all";
}

// One that waits for its connection asks for all who have come meanwhile.
TEST_F(handover, reaches_all_who_came_before_the_request_was_written) {
    std::uint64_t inherited = 0;
    for (int round = 0; round < 20 && inherited == 0; ++round) {
        client fresh(server_.url());
        mutex one(fresh, "k");
        auto first = one.async_acquire(boost::asio::use_future);
        auto second = one.async_acquire(boost::asio::use_future);
        first.get()->release();
        second.get()->release();
        inherited = fresh.statistics().inherited;
    }
    EXPECT_EQ(inherited, 1U);
}

TEST_F(handover, gives_every_holder_an_owner_of_its_own) {
    client other(server_.url());
    mutex one(client_, "k");
    for (int round = 0; round < 20; ++round) {
        auto [held, next] = succeed(one);
        EXPECT_EQ(held->release(), release_result::released);
        const auto heir = next.get();
        EXPECT_NE(held->owner(), heir->owner());
        EXPECT_EQ(held->owner(), held->owner());
        EXPECT_FALSE(held->verify());
        EXPECT_EQ(error_of([&held = held] { held->extend(20s); }).code, errc::not_held);
        for (auto* const through : {&client_, &other}) {
            EXPECT_FALSE(renew(*through, "k", held->owner(), 20s));
            EXPECT_EQ(unlock(*through, "k", held->owner()), release_result::already_lost);
        }
        EXPECT_TRUE(heir->verify());
        EXPECT_TRUE(renew(other, "k", heir->owner(), 20s));
        EXPECT_EQ(unlock(other, "k", heir->owner()), release_result::released);
    }
    EXPECT_GT(client_.statistics().inherited, 0U) << "nothing was handed off at all";
}

TEST_F(handover, does_not_happen_once_somebody_was_shown_the_owner) {
    std::string shown;
    EXPECT_EQ(inherited({}, {}, [&](lease& held) { shown = held.owner(); }), 0U);
    EXPECT_EQ(unlock(client_, "k", shown), release_result::already_lost);
}

TEST_F(handover, may_happen_again_after_it_was_an_heir_that_kept_its_owner_to_itself) {
    mutex one(client_, "k");
    std::uint64_t chains = 0;
    for (int round = 0; round < 40 && chains == 0; ++round) {
        const auto before = client_.statistics().inherited;
        auto first = one.acquire();
        std::vector<std::future<acquisition>> all;
        for (int n = 0; n < 3; ++n) all.push_back(one.async_acquire(boost::asio::use_future));
        first.release();
        all[0].get()->release();
        all[1].get()->release();
        const auto last = all[2].get();
        if (client_.statistics().inherited == before + 2) ++chains;
        EXPECT_EQ(server_.get("k"), last->owner());
    }
    EXPECT_EQ(chains, 1U);
}

// What its holder made of it is its holder's.
TEST_F(handover, does_not_happen_after_an_extension) {
    EXPECT_EQ(inherited({}, {}, [](lease& held) { held.extend(20s); }), 0U);
}

TEST_F(handover, does_not_happen_to_a_lease_that_was_lost) {
    mutex one(client_, "k", {.ttl = 100ms, .renew = false});
    auto first = one.acquire();
    auto next = one.async_acquire(boost::asio::use_future);
    auto last = one.async_acquire(boost::asio::use_future);
    first.release();
    auto held = next.get();
    EXPECT_TRUE(eventually(surely, [&] { return held->lost(); }));
    held->release();
    EXPECT_TRUE(last.get());
    EXPECT_EQ(client_.statistics().inherited, 0U);
}

}  // namespace
}  // namespace holdfast::test
