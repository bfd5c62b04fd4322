#include <atomic>
#include <thread>

#include "integration/library.hpp"
#include "support/fault_proxy.hpp"

/// A loss is announced by the stop_token before the deadline, whatever made it come.
namespace holdfast::test {
namespace {

// The notice of a loss, a sixth of it, is longer than this process may have to wait for a
// processor.
constexpr milliseconds ttl = 1200ms * slowness;

/// When a lease's stop_token fired, by its own callback.
class alarm {
  public:
    explicit alarm(const lease& watched)
        : callback_(watched.stop_token(), [this] { rang_at_ = clock::now(); }) {}

    bool wait() const {
        return eventually(surely, [&] { return rang_at_.load() != clock::time_point{}; });
    }
    clock::time_point rang_at() const { return rang_at_; }

  private:
    std::atomic<clock::time_point> rang_at_{};
    std::stop_callback<std::function<void()>> callback_;
};

class loss : public testing::Test {
  protected:
    /// The lease is lost by itself; its stop_token said so before its deadline.
    static void expect_announced_before_the_deadline(const lease& held, const alarm& bell) {
        ASSERT_TRUE(bell.wait());
        const auto deadline = held.valid_until();
        const auto notice = std::chrono::duration_cast<milliseconds>(deadline - bell.rang_at());
        record("notice_before_deadline", notice);
        EXPECT_GT(notice, 0ms);
        EXPECT_TRUE(eventually(surely, [&] { return held.lost(); }));
        EXPECT_EQ(error_of([&] { held.ensure_held(); }).code, errc::lost);
    }

    redis_server server_;
    fault_proxy network_{server_.port()};
    client client_{network_.url()};
};

TEST_F(loss, is_announced_when_the_server_is_stopped) {
    const auto held = mutex(client_, "k", with_ttl(ttl)).acquire();
    const alarm bell(held);
    server_.pause();
    expect_announced_before_the_deadline(held, bell);
    server_.resume();
}

TEST_F(loss, is_announced_when_the_server_is_killed) {
    const auto held = mutex(client_, "k", with_ttl(ttl)).acquire();
    const alarm bell(held);
    server_.kill_hard();
    expect_announced_before_the_deadline(held, bell);
}

TEST_F(loss, is_announced_when_the_network_swallows_everything) {
    const auto held = mutex(client_, "k", with_ttl(ttl)).acquire();
    const alarm bell(held);
    network_.silence();
    expect_announced_before_the_deadline(held, bell);
}

TEST_F(loss, is_announced_when_only_the_answers_are_swallowed) {
    const auto held = mutex(client_, "k", with_ttl(ttl)).acquire();
    const alarm bell(held);
    network_.silence(direction::to_client);
    expect_announced_before_the_deadline(held, bell);
}

TEST_F(loss, is_announced_when_connections_are_refused) {
    const auto held = mutex(client_, "k", with_ttl(ttl)).acquire();
    const alarm bell(held);
    network_.refuse(true);
    network_.reset_connections();
    expect_announced_before_the_deadline(held, bell);
}

TEST_F(loss, is_announced_as_early_as_asked) {
    acquire_options how = with_ttl(ttl);
    how.loss_notice = ttl / 2;
    const auto held = mutex(client_, "k", how).acquire();
    const alarm bell(held);
    network_.silence();
    ASSERT_TRUE(bell.wait());
    EXPECT_GT(held.valid_until() - bell.rang_at(), ttl / 2 - promptly / 2);
}

TEST_F(loss, is_announced_long_before_the_deadline_when_the_key_was_deleted) {
    const auto held = mutex(client_, "k", with_ttl(ttl)).acquire();
    const alarm bell(held);
    server_.command({"DEL", "k"});
    ASSERT_TRUE(bell.wait());
    EXPECT_LT(bell.rang_at(), held.valid_until());
    EXPECT_TRUE(held.lost());
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(loss, is_announced_when_somebody_else_took_the_key) {
    auto held = mutex(client_, "k", with_ttl(ttl)).acquire();
    const alarm bell(held);
    server_.command({"SET", "k", "thief", "PX", "20000"});
    ASSERT_TRUE(bell.wait());
    EXPECT_LT(bell.rang_at(), held.valid_until());
    EXPECT_EQ(held.release(), release_result::already_lost);
    EXPECT_EQ(server_.get("k"), "thief") << "a release must never take somebody else's lock";
}

TEST_F(loss, is_announced_also_to_callbacks_registered_late) {
    const auto held = mutex(client_, "k", with_ttl(ttl)).acquire();
    server_.command({"DEL", "k"});
    EXPECT_TRUE(eventually(surely, [&] { return held.lost(); }));
    EXPECT_TRUE(held.stop_token().stop_requested());
}

TEST_F(loss, is_announced_to_many_leases_at_once) {
    std::vector<lease> held;
    for (int n = 0; n < 50; ++n) {
        held.push_back(mutex(client_, "k" + std::to_string(n), with_ttl(2 * ttl)).acquire());
    }
    std::vector<std::unique_ptr<alarm>> bells;
    for (const auto& one : held) bells.push_back(std::make_unique<alarm>(one));
    network_.silence();
    for (std::size_t n = 0; n < held.size(); ++n) {
        ASSERT_TRUE(bells[n]->wait());
        EXPECT_LT(bells[n]->rang_at(), held[n].valid_until());
    }
    EXPECT_EQ(client_.statistics().lost, 0U) << "announced, and not over yet";
    EXPECT_TRUE(eventually(surely, [&] { return client_.statistics().lost == 50; }));
}

TEST_F(loss, does_not_happen_when_the_outage_is_shorter_than_the_lease) {
    auto settings = settings_for(network_.url());
    settings.node_timeout = ttl / 6;
    client quick(settings);
    const auto held = mutex(quick, "k", with_ttl(3 * ttl)).acquire();
    network_.refuse(true);
    network_.reset_connections();
    EXPECT_TRUE(eventually(surely, [&] { return held.remaining() < 3 * ttl / 2; }));
    network_.heal();
    EXPECT_TRUE(eventually(surely, [&] { return held.remaining() > 3 * ttl / 2; }));
    EXPECT_FALSE(held.stop_token().stop_requested());
    EXPECT_FALSE(held.lost());
    EXPECT_TRUE(held.verify());
}

TEST_F(loss, a_slow_network_is_not_a_loss) {
    network_.delay(direction::to_client, ttl / 20, ttl / 40);
    const auto held = mutex(client_, "k", with_ttl(ttl)).acquire();
    const auto until = clock::now() + 3 * ttl;
    EXPECT_TRUE(eventually(surely, [&] { return clock::now() > until || held.lost(); }));
    EXPECT_FALSE(held.lost());
}

TEST_F(loss, a_grant_that_comes_too_late_is_not_believed) {
    acquire_options how = with_ttl(200ms * slowness);
    network_.delay(direction::to_client, 0ms);
    client_.connect();
    network_.delay(direction::to_client, how.ttl + 50ms);  // below the node's own timeout
    const auto error = error_of([&] { (void)mutex(client_, "k", how).try_acquire(); });
    EXPECT_EQ(error.code, errc::unreachable);
    EXPECT_TRUE(contains(error.what, "too late")) << error.what;
    network_.heal();
    EXPECT_TRUE(mutex(client_, "k").try_acquire_for(surely));
}

TEST_F(loss, the_callback_may_use_the_client) {
    const auto held = mutex(client_, "k", with_ttl(ttl)).acquire();
    std::atomic<bool> done = false;
    const std::stop_callback callback(held.stop_token(), [&] {
        EXPECT_TRUE(held.lost());
        EXPECT_TRUE(mutex(client_, "other").try_acquire());
        done = true;
    });
    server_.command({"DEL", "k"});
    EXPECT_TRUE(eventually(surely, [&] { return done.load(); }));
}

TEST_F(loss, of_the_lock_lets_the_next_local_waiter_in) {
    const auto held = mutex(client_, "k", with_ttl(ttl)).acquire();
    server_.command({"DEL", "k"});
    const auto next = mutex(client_, "k").try_acquire_for(surely);
    ASSERT_TRUE(next);
    EXPECT_TRUE(held.lost());
    EXPECT_GT(next->token(), held.token());
}

TEST_F(loss, a_thread_that_lost_the_mutex_unlocks_only_its_own) {
    mutex shared(client_, "k", with_ttl(ttl));
    shared.lock();
    server_.command({"DEL", "k"});
    EXPECT_TRUE(eventually(surely, [&] { return shared.current()->lost(); }));
    std::string owner;
    std::thread next([&] {
        shared.lock();
        owner = shared.current()->owner();
    });
    next.join();
    shared.unlock();
    EXPECT_EQ(server_.get("k"), owner);
}

/// A callback that does not return until it is let go, in the client's background thread.
class blocking_callback {
  public:
    explicit blocking_callback(const lease& watched)
        : callback_(watched.stop_token(), [this] {
              entered_ = true;
              eventually(surely, [&] { return let_go_.load(); });
          }) {}
    ~blocking_callback() { let_go_ = true; }

    bool entered() const {
        return eventually(surely, [&] { return entered_.load(); });
    }

  private:
    std::atomic<bool> entered_ = false;
    std::atomic<bool> let_go_ = false;
    std::stop_callback<std::function<void()>> callback_;
};

TEST_F(loss, a_callback_that_blocks_holds_up_nobody_elses_deadline) {
    const redis_server server;
    client through(server.url());
    const auto held = mutex(through, "k", with_ttl(ttl)).acquire();
    const auto theirs = mutex(through, "other", with_ttl(10s)).acquire();
    std::atomic<bool> gave_up = false;
    std::thread waiter;
    {
        const blocking_callback callback(held);
        // Begins to wait while the background thread keeps the time, and goes on without it.
        client other(server.url());
        const auto foreign = mutex(other, "foreign", with_ttl(30s)).acquire();
        waiter = std::thread([&] {
            EXPECT_FALSE(mutex(through, "foreign").try_acquire_for(ttl * 3));
            gave_up = true;
        });
        server.command({"DEL", "k"});  // found out by the next renewal
        ASSERT_TRUE(callback.entered());
        EXPECT_TRUE(eventually(ttl * 3 + promptly, [&] { return gave_up.load(); }));
    }
    waiter.join();
}

TEST_F(loss, a_callback_can_wait_for_a_lock_until_its_own_limit) {
    const redis_server server;
    client through(server.url());
    client other(server.url());
    const auto foreign = mutex(other, "foreign", with_ttl(30s)).acquire();
    const auto held = mutex(through, "k", with_ttl(ttl)).acquire();
    std::atomic<bool> gave_up = false;
    const std::stop_callback callback(held.stop_token(), [&] {
        EXPECT_FALSE(mutex(through, "foreign").try_acquire_for(200ms));
        gave_up = true;
    });
    server.command({"DEL", "k"});
    EXPECT_TRUE(eventually(ttl + promptly, [&] { return gave_up.load(); }));
}

}  // namespace
}  // namespace holdfast::test
