#include <algorithm>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include "holdfast/operate.hpp"
#include "integration/client_list.hpp"
#include "integration/cluster_work.hpp"
#include "integration/library.hpp"
#include "kinds/keys.hpp"
#include "kinds/shared.hpp"
#include "net/enlisting.hpp"
#include "support/redis_cluster.hpp"

// A real Cluster: three masters, three replicas.

namespace holdfast::test {
namespace {

class cluster : public ::testing::Test {
  protected:
    /// Not in SetUpTestSuite(): what throws there makes a test skipped, not failed.
    void SetUp() override {
        if (!shared_) shared_ = std::make_unique<redis_cluster>();
    }
    static void TearDownTestSuite() { shared_.reset(); }

    redis_cluster& servers() { return *shared_; }

    /// Without the guard: a new Cluster would be in quarantine.
    static options unguarded(const redis_cluster& of) {
        auto settings = settings_for(of.url());
        settings.restart_guard = false;
        return settings;
    }
    options unguarded() { return unguarded(servers()); }

  private:
    static std::unique_ptr<redis_cluster> shared_;
};

std::unique_ptr<redis_cluster> cluster::shared_;

TEST_F(cluster, locks_of_every_shard_are_held_where_their_slot_is) {
    client one(unguarded());
    const auto keys = key_in_each_shard(servers(), "everywhere:");
    std::vector<lease> held;
    for (const auto& key : keys) held.push_back(one.acquire(key, with_ttl(10s)));
    for (std::size_t shard = 0; shard < keys.size(); ++shard) {
        EXPECT_TRUE(servers().master(shard).exists(keys[shard]));
        EXPECT_TRUE(held[shard].verify());
        EXPECT_GT(held[shard].token(), 0U);
    }
    client another(unguarded());
    for (const auto& key : keys) {
        EXPECT_FALSE(another.try_acquire(key, with_ttl(10s)).has_value()) << key;
    }
    held.clear();
    for (const auto& key : keys) {
        EXPECT_TRUE(another.try_acquire(key, with_ttl(10s)).has_value()) << key;
    }
}

TEST_F(cluster, keys_with_a_tag_are_locked_where_the_tag_is) {
    client one(unguarded());
    const auto lease = one.acquire("{tag}:of:many", with_ttl(10s));
    EXPECT_EQ(servers().slot_of("{tag}:of:many"), servers().slot_of("tag"));
    EXPECT_TRUE(servers().first_owner_of("tag").exists("{tag}:of:many"));
    EXPECT_TRUE(servers().first_owner_of("tag").exists("holdfast:fence:{tag}:of:many"));
}

TEST_F(cluster, keys_whose_helpers_would_be_elsewhere_are_refused) {
    client one(unguarded());
    for (const auto* key : {"a}b", "{}x"}) {
        EXPECT_EQ(error_of([&] { (void)one.acquire(key); }).code, errc::invalid_key) << key;
    }
}

void expect_connections(redis_cluster& servers, options settings, std::size_t of_each_shard) {
    settings.client_name = "many-keys-" + std::to_string(of_each_shard);
    client one(settings);
    std::vector<lease> held;
    for (int n = 0; n < 10'000; ++n) {
        held.push_back(one.acquire("many:" + std::to_string(n), with_ttl(60s)));
    }
    for (std::size_t shard = 0; shard < redis_cluster::shards; ++shard) {
        EXPECT_EQ(connections_named(servers.master(shard), settings.client_name).size(),
                  of_each_shard)
            << shard;
        EXPECT_EQ(connections_named(servers.replica(shard), settings.client_name).size(), 0U)
            << shard;
    }
}

TEST_F(cluster, one_connection_per_shard_serves_ten_thousand_keys) {
    auto settings = unguarded();
    settings.replica_acks = replicas::none();
    expect_connections(servers(), settings, 1);
}

TEST_F(cluster, two_connections_per_shard_serve_ten_thousand_keys_with_acknowledgement) {
    expect_connections(servers(), unguarded(), 2);
}

TEST_F(cluster, any_server_of_it_is_a_seed_also_by_another_name) {
    auto settings = unguarded();
    settings.client_name = "by-name";
    settings.urls = {
        "redis+cluster://127.0.0.1:1,localhost:" + std::to_string(servers().replica(1).port()) +
        ",localhost:" + std::to_string(servers().master(1).port())};
    client one(settings);
    const auto keys = key_in_each_shard(servers(), "seeds:");
    for (const auto& key : keys) EXPECT_TRUE(one.try_acquire(key, with_ttl(5s)).has_value());
    for (std::size_t shard = 0; shard < redis_cluster::shards; ++shard) {
        EXPECT_LE(connections_named(servers().master(shard), "by-name").size(), 2U) << shard;
    }
    EXPECT_TRUE(eventually(
        surely, [&] { return connections_named(servers().replica(1), "by-name").empty(); }));
}

TEST_F(cluster, a_waiter_gets_the_lock_when_its_holder_lets_go) {
    client one(unguarded());
    client another(unguarded());
    for (const auto& key : key_in_each_shard(servers(), "waited:")) {
        auto held = one.acquire(key, with_ttl(30s));
        auto waits = std::async(std::launch::async,
                                [&] { return another.acquire(key, with_ttl(30s)).token(); });
        ASSERT_TRUE(eventually(
            surely, [&] { return servers().first_owner_of(key).exists(kinds::queue_key(key)); }));
        const auto line =
            servers().first_owner_of(key).command({"LRANGE", kinds::queue_key(key), "0", "-1"});
        EXPECT_TRUE(line.starts_with("holdfast:client:")) << line;
        EXPECT_NE(line.find(":{"), std::string::npos) << "a channel in the slot: " << line;
        const auto before = held.token();
        held.release();
        EXPECT_GT(waits.get(), before);
    }
}

TEST_F(cluster, a_waiter_is_called_at_a_release) {
    client one(unguarded());
    client another(unguarded());
    const std::string key = "called";
    std::vector<milliseconds> took;
    for (int n = 0; n < 5; ++n) {
        auto held = one.acquire(key, with_ttl(30s));
        auto waits = std::async(std::launch::async, [&] {
            const auto lease = another.acquire(key, with_ttl(30s));
            return clock::now();
        });
        ASSERT_TRUE(eventually(
            surely, [&] { return servers().first_owner_of(key).exists(kinds::queue_key(key)); }));
        const auto released = clock::now();
        held.release();
        took.push_back(std::chrono::duration_cast<milliseconds>(waits.get() - released));
    }
    std::sort(took.begin(), took.end());
    EXPECT_LT(took[2], promptly) << "a look comes after up to a second";
    const auto counts = servers().first_owner_of(key).command({"INFO", "commandstats"});
    EXPECT_NE(counts.find("cmdstat_spublish:"), std::string::npos);
    EXPECT_EQ(counts.find("cmdstat_publish:"), std::string::npos) << "over the whole bus";
}

TEST_F(cluster, who_waits_for_a_permit_is_called_in_the_order_of_arrival) {
    const std::string key = "permits";
    auto& home = servers().first_owner_of(key);
    const auto in_line = [&](std::size_t count) {
        return eventually(surely, [&] {
            return home.command({"LLEN", kinds::queue_key(key)}) == std::to_string(count);
        });
    };
    std::vector<std::unique_ptr<client>> clients;
    for (int n = 0; n < 4; ++n) clients.push_back(std::make_unique<client>(unguarded()));
    auto held = semaphore(*clients[0], key, 1, with_ttl(30s)).acquire();
    std::mutex guard;
    std::vector<std::size_t> served;
    std::vector<std::future<void>> waiters;
    for (std::size_t n = 1; n < clients.size(); ++n) {
        waiters.push_back(std::async(std::launch::async, [&, n] {
            auto permit = semaphore(*clients[n], key, 1, with_ttl(30s)).acquire();
            const std::scoped_lock lock(guard);
            served.push_back(n);
        }));
        ASSERT_TRUE(in_line(n));
    }
    const auto released = clock::now();
    held.release();
    for (auto& each : waiters) each.get();
    EXPECT_LT(clock::now() - released, promptly) << "a look comes after up to a second";
    EXPECT_EQ(served, (std::vector<std::size_t>{1, 2, 3}));
}

TEST_F(cluster, many_read_and_who_writes_waits_for_its_turn) {
    client one(unguarded());
    client another(unguarded());
    client third(unguarded());
    for (const auto& key : key_in_each_shard(servers(), "read:")) {
        auto& home = servers().first_owner_of(key);
        shared_mutex here(one, key);
        shared_mutex there(another, key);
        auto first = here.acquire_shared(with_ttl(30s));
        auto second = there.acquire_shared(with_ttl(30s));
        EXPECT_TRUE(home.exists(kinds::readers_key(key))) << "in the same slot";
        auto waits = std::async(std::launch::async,
                                [&] { return third.acquire(key, with_ttl(30s)).token(); });
        ASSERT_TRUE(eventually(surely, [&] { return home.exists(kinds::queue_key(key)); }));
        EXPECT_FALSE(here.try_acquire_shared()) << "somebody waits to write";
        const auto before = second.token();
        first.release();
        EXPECT_TRUE(second.verify());
        second.release();
        EXPECT_GT(waits.get(), before);
    }
}

TEST_F(cluster, readers_in_line_are_called_together) {
    client one(unguarded());
    client another(unguarded());
    client third(unguarded());
    const std::string key = "read together";
    auto& home = servers().first_owner_of(key);
    auto held = one.acquire(key, with_ttl(30s));
    const auto read_by = [&](client& who) {
        shared_mutex lock(who, key);
        auto lease = lock.acquire_shared(with_ttl(30s));
        return std::pair(std::move(lease), clock::now());
    };
    auto first = std::async(std::launch::async, [&] { return read_by(another); });
    auto second = std::async(std::launch::async, [&] { return read_by(third); });
    ASSERT_TRUE(eventually(surely, [&] {
        return home.command({"LLEN", kinds::queue_key(key)}) == "2";
    }));
    const auto released = clock::now();
    held.release();
    const auto [one_reads, since] = first.get();
    const auto [other_reads, also_since] = second.get();
    EXPECT_LT(std::max(since, also_since) - released, promptly) << "a look comes after a second";
    EXPECT_TRUE(one_reads.verify() && other_reads.verify());
    const auto counts = home.command({"INFO", "commandstats"});
    EXPECT_EQ(counts.find("cmdstat_publish:"), std::string::npos) << "over the whole bus";
}

TEST_F(cluster, a_lease_is_renewed) {
    client one(unguarded());
    const auto lease = one.acquire("renewed", with_ttl(600ms));
    const auto first = lease.valid_until();
    EXPECT_TRUE(eventually(surely, [&] { return lease.valid_until() > first + 600ms; }));
    EXPECT_TRUE(lease.verify());
}

TEST_F(cluster, a_node_given_as_a_server_is_refused_with_what_to_write) {
    client one(settings_for(servers().master(0).url()));
    const auto error = error_of([&] { (void)one.try_acquire("k"); });
    EXPECT_EQ(error.code, errc::unsafe_server);
    EXPECT_NE(error.what.find("redis+cluster://"), std::string::npos) << error.what;
}

TEST_F(cluster, a_server_that_is_in_none_is_refused_as_a_seed) {
    const redis_server alone;
    auto settings = settings_for("redis+cluster://127.0.0.1:" + std::to_string(alone.port()));
    settings.patience = 0ms;
    client one(settings);
    const auto error = error_of([&] { (void)one.try_acquire("k"); });
    EXPECT_NE(error.what.find("no node of a Redis Cluster"), std::string::npos) << error.what;
}

TEST_F(cluster, slots_that_nobody_enlisted_are_in_quarantine_with_the_guard) {
    auto settings = settings_for(servers().url());
    settings.max_ttl = 2s;
    client one(settings);
    const auto denied = one.try_acquire("guarded", with_ttl(1s));
    ASSERT_FALSE(denied.has_value());
    EXPECT_TRUE(denied.held_by() && denied.held_by()->quarantine);
    const stopwatch since;
    const auto lease = one.acquire("guarded", with_ttl(1s));
    EXPECT_GT(since.elapsed(), 1s);
    EXPECT_LT(since.elapsed(), 4s * slowness);
    EXPECT_TRUE(one.try_acquire("{guarded}:too", with_ttl(1s)).has_value()) << "the same slot";
}

class moving : public cluster {
  protected:
    moving() : servers_(std::make_unique<redis_cluster>()) {}
    redis_cluster& servers() { return *servers_; }
    options unguarded() { return cluster::unguarded(servers()); }
    redis_server& other_than(redis_server& one) {
        return &one == &servers().master(0) ? servers().master(1) : servers().master(0);
    }

  private:
    std::unique_ptr<redis_cluster> servers_;
};

TEST_F(moving, a_slot_that_was_moved_is_followed) {
    client one(unguarded());
    auto held = one.acquire("moved", with_ttl(1500ms));
    auto& from = servers().first_owner_of("moved");
    auto& to = other_than(from);
    servers().move(servers().slot_of("moved"), from, to);
    EXPECT_TRUE(to.exists("moved"));
    EXPECT_TRUE(held.verify());
    const auto then = held.valid_until();
    EXPECT_TRUE(eventually(surely, [&] { return held.valid_until() > then + 1s; })) << "renewed";
    EXPECT_FALSE(held.lost());
    const auto before = held.token();
    held.release();
    EXPECT_FALSE(to.exists("moved"));
    EXPECT_GT(one.acquire("moved", with_ttl(5s)).token(), before);
}

TEST_F(moving, a_lock_is_held_renewed_and_waited_for_while_its_slot_is_being_moved) {
    client one(unguarded());
    client another(unguarded());
    auto held = one.acquire("moving", with_ttl(900ms));
    auto& from = servers().first_owner_of("moving");
    auto& to = other_than(from);
    const auto slot = servers().slot_of("moving");
    servers().begin_moving(slot, from, to);
    auto waits = std::async(std::launch::async,
                            [&] { return another.acquire("moving", with_ttl(5s)).token(); });
    auto then = held.valid_until();
    EXPECT_TRUE(eventually(surely, [&] { return held.valid_until() > then + 900ms; }))
        << "renewed where it is";
    redis_cluster::move_keys(slot, from, to);
    then = held.valid_until();
    EXPECT_TRUE(eventually(surely, [&] { return held.valid_until() > then + 900ms; }))
        << "renewed where it goes";
    EXPECT_FALSE(held.lost());
    EXPECT_FALSE(another.try_acquire("moving", with_ttl(5s)).has_value()) << "it is contended";
    servers().finish_moving(slot, to);
    then = held.valid_until();
    EXPECT_TRUE(eventually(surely, [&] { return held.valid_until() > then + 900ms; }))
        << "renewed where it is now";
    const auto before = held.token();
    held.release();
    EXPECT_GT(waits.get(), before);
}

TEST_F(moving, a_lock_can_be_released_while_its_slot_is_being_moved) {
    client one(unguarded());
    auto held = one.acquire("let go", with_ttl(20s));
    auto& from = servers().first_owner_of("let go");
    auto& to = other_than(from);
    const auto slot = servers().slot_of("let go");
    servers().begin_moving(slot, from, to);
    redis_cluster::move_keys(slot, from, to);
    held.release();
    servers().finish_moving(slot, to);
    EXPECT_FALSE(to.exists("let go"));
    EXPECT_TRUE(one.try_acquire("let go", with_ttl(5s)).has_value());
}

TEST_F(moving, waiting_for_a_slot_that_is_being_moved_does_not_use_up_patience) {
    auto settings = unguarded();
    settings.patience = 100ms;
    client one(settings);
    { const auto first = one.acquire("patient", with_ttl(5s)); }  // its counter stays
    auto& from = servers().first_owner_of("patient");
    auto& to = other_than(from);
    const auto slot = servers().slot_of("patient");
    servers().begin_moving(slot, from, to);
    auto waits = std::async(std::launch::async,
                            [&] { return one.acquire("patient", with_ttl(5s)).token(); });
    EXPECT_EQ(waits.wait_for(600ms), std::future_status::timeout);
    redis_cluster::move_keys(slot, from, to);
    servers().finish_moving(slot, to);
    EXPECT_GT(waits.get(), 0U);
}

TEST_F(moving, a_slot_that_arrives_from_another_shard_is_in_quarantine_where_guarded) {
    auto settings = settings_for(servers().url());
    settings.max_ttl = 2s;
    client one(settings);
    { const auto first = one.acquire("guarded", with_ttl(1s)); }  // after its first quarantine
    EXPECT_TRUE(one.try_acquire("guarded", with_ttl(1s)).has_value());
    auto& from = servers().first_owner_of("guarded");
    servers().move(servers().slot_of("guarded"), from, other_than(from));
    const auto denied = one.try_acquire("guarded", with_ttl(1s));
    ASSERT_FALSE(denied.has_value());
    EXPECT_TRUE(denied.held_by() && denied.held_by()->quarantine);
    EXPECT_TRUE(one.acquire("guarded", with_ttl(1s)).verify());
}

// Nobody of this client asked while the slot was away: what is known of it is out of date all the
// same, and the server said so.
TEST_F(moving, a_slot_that_went_away_and_came_back_is_in_quarantine_where_guarded) {
    auto settings = settings_for(servers().url());
    settings.max_ttl = 2s;
    client one(settings);
    { const auto first = one.acquire("guarded", with_ttl(1s)); }
    auto& home = servers().first_owner_of("guarded");
    auto& abroad = other_than(home);
    const auto slot = servers().slot_of("guarded");
    servers().move(slot, home, abroad);
    client other(settings);
    EXPECT_FALSE(other.try_acquire("guarded", with_ttl(1s)).has_value());
    ASSERT_TRUE(other.acquire("guarded", with_ttl(1s)).verify()) << "the record is another life's";
    servers().move(slot, abroad, home);
    const auto denied = one.try_acquire("guarded", with_ttl(1s));
    ASSERT_FALSE(denied.has_value());
    EXPECT_TRUE(denied.held_by() && denied.held_by()->quarantine);
}

TEST_F(cluster, the_replica_of_a_shard_has_the_lock_when_it_counts) {
    client one(unguarded());
    for (const auto& key : key_in_each_shard(servers(), "acknowledged:")) {
        const auto shard = redis_cluster::shard_of(servers().slot_of(key));
        const auto slot = std::to_string(servers().slot_of(key));
        for (int n = 0; n < 20; ++n) {
            const auto lease = one.acquire(key, with_ttl(10s));
            const auto known =
                servers().replica(shard).query({"CLUSTER", "GETKEYSINSLOT", slot, "100"}).elements;
            EXPECT_TRUE(std::any_of(known.begin(), known.end(),
                                    [&](const auto& each) { return each.text == key; }));
        }
    }
}

TEST_F(cluster, a_shard_without_its_replica_grants_nothing_and_the_others_do) {
    auto settings = unguarded();
    settings.patience = 0ms;
    client one(settings);
    const auto keys = key_in_each_shard(servers(), "alone:");
    for (const auto& key : keys) (void)one.acquire(key, with_ttl(10s));
    servers().replica(0).pause();
    const auto error = error_of([&] { (void)one.try_acquire(keys[0], with_ttl(10s)); });
    EXPECT_EQ(error.code, errc::unreachable);
    EXPECT_NE(error.what.find("acknowledged by 0 of the 1 replicas"), std::string::npos)
        << error.what;
    EXPECT_TRUE(eventually(surely, [&] { return !servers().master(0).exists(keys[0]); }))
        << "it was released";
    EXPECT_TRUE(one.try_acquire(keys[1], with_ttl(10s)).has_value());
    servers().replica(0).resume();
    EXPECT_TRUE(eventually(surely, [&] {
        return !error_of([&] { (void)one.try_acquire(keys[0], with_ttl(10s)); }).code;
    }));
}

// Unless it is told otherwise, a Cluster with a shard that is down serves no other either; and a
// shard of two servers has no majority left.
TEST(cluster_failover, a_shard_whose_master_dies_is_served_by_its_replica_after_a_quarantine) {
    redis_cluster servers({"cluster-require-full-coverage no"});
    auto settings = settings_for(servers.url());
    settings.max_ttl = 2s;
    settings.patience = 30s;
    settings.replica_acks = replicas::none();
    client one(settings);
    const auto keys = key_in_each_shard(servers, "fails:");
    for (const auto& key : keys) {
        const auto first = one.acquire(key, with_ttl(1s));
    }
    const auto elsewhere = one.acquire(keys[1], with_ttl(1s));
    servers.master(0).kill_hard();
    const stopwatch since_kill;
    const auto lease = one.acquire(keys[0], with_ttl(1s));
    EXPECT_TRUE(servers.replica(0).exists(keys[0]));
    EXPECT_GT(since_kill.elapsed(), 2s) << "its quarantine";
    EXPECT_FALSE(elsewhere.lost()) << "of another shard";
    EXPECT_TRUE(elsewhere.verify());
}

std::string record_of(redis_cluster& servers, const std::string& key) {
    return net::slot_record_key(servers.slot_of(key));
}

/// A shard of three servers has a majority without its master.
TEST(cluster_failover, a_lease_goes_on_and_the_next_one_is_acknowledged_by_who_is_left) {
    redis_cluster servers({"cluster-require-full-coverage no"}, 2);
    auto settings = settings_for(servers.url());
    settings.max_ttl = 8s;
    settings.patience = 30s;
    vouch_for_slots(settings);
    client one(settings);
    const auto keys = key_in_each_shard(servers, "fails:");
    const auto held = one.acquire(keys[0], with_ttl(8s));
    const auto tag = "{" + keys[0] + "}";
    const auto before = one.acquire(tag, with_ttl(1s)).token();
    servers.master(0).kill_hard();
    const stopwatch since_kill;
    const auto next = one.acquire(tag, with_ttl(8s));
    EXPECT_GT(since_kill.elapsed(), 8s) << "the quarantine of what may have been forgotten";
    EXPECT_GT(next.token(), before);
    EXPECT_FALSE(held.lost());
    EXPECT_TRUE(held.verify());
    auto& promoted = servers.await_promotion(0);
    const auto record = promoted.command({"GET", record_of(servers, keys[0])});
    EXPECT_NE(record.find("acks=1 group=3"), std::string::npos)
        << "who is down counts, too: " << record;
    auto& left =
        &promoted == &servers.replica(0, 0) ? servers.replica(0, 1) : servers.replica(0, 0);
    left.kill_hard();
    settings.patience = 0ms;
    client other(settings);
    const auto error = error_of([&] { (void)other.try_acquire(tag + ":2", with_ttl(1s)); });
    EXPECT_EQ(error.code, errc::unreachable) << error.what;
}

// A master that stands still does not know of its fail-over when it goes on.
TEST(cluster_failover, a_master_that_was_frozen_gives_nothing_away_with_the_new_one) {
    redis_cluster servers({"cluster-require-full-coverage no"}, 2);
    auto settings = settings_for(servers.url());
    settings.max_ttl = 2s;
    settings.patience = 30s;
    vouch_for_slots(settings);
    ledger kept(key_in_each_shard(servers, "frozen:"));
    {
        const workers all(settings, kept, 6);
        for (int n = 0; n < 2; ++n) {
            std::this_thread::sleep_for(500ms);
            servers.master(0).pause();
            (void)servers.await_promotion(0);
            std::this_thread::sleep_for(500ms);
            servers.master(0).resume();
            servers.await_replicas(0);
            servers.give_back(0);
        }
        std::this_thread::sleep_for(3s);
    }
    kept.expect_grants_of_each();
}

// Whoever stands in line stands in the line of the new master, too; the old one, when it goes on,
// finds a release in its buffers, and calls the next on its own.
TEST(cluster_failover, who_is_in_line_at_a_master_that_freezes_is_called_by_the_new_one_alone) {
    redis_cluster servers({"cluster-require-full-coverage no"}, 2);
    auto settings = settings_for(servers.url());
    settings.max_ttl = 6s;
    settings.patience = 30s;
    vouch_for_slots(settings);
    ledger kept(key_in_each_shard(servers, "line:"));
    const auto& key = kept.keys()[0];
    client holder(settings);
    client others(settings);
    auto held = std::make_optional(holder.acquire(key, with_ttl(6s)));
    kept.acquired(0, *held, clock::now());
    std::vector<std::future<std::uint64_t>> waiting;
    for (std::size_t n = 0; n < 3; ++n) {
        waiting.push_back(std::async(std::launch::async, [&] {
            const auto asked = clock::now();
            const auto lease = others.acquire(key, with_ttl(6s));
            kept.acquired(0, lease, asked);
            std::this_thread::sleep_for(50ms);
            kept.released(0, lease);
            return lease.token();
        }));
    }
    ASSERT_TRUE(
        eventually(surely, [&] { return servers.master(0).exists(kinds::queue_key(key)); }));
    servers.master(0).pause();
    const auto before = held->token();
    kept.released(0, *held);
    held.reset();  // by which it is let go, as far as that can be said to anybody
    auto& promoted = servers.await_promotion(0);
    servers.master(0).resume();
    for (auto& each : waiting) EXPECT_GT(each.get(), before);
    EXPECT_FALSE(promoted.exists(kinds::queue_key(key)));
    servers.await_replicas(0);
}

// The whole of it: a thousand leases, waiters, slots that move, a master that dies, and others who
// take what they can get meanwhile.
TEST(cluster_failover, a_thousand_leases_go_on_while_slots_move_and_a_master_dies) {
    redis_cluster servers({}, 2);
    auto settings = settings_for(servers.url());
    settings.max_ttl = 10s;
    settings.patience = 60s;
    vouch_for_slots(settings);
    client holder(settings);
    client waiter(settings);
    std::vector<lease> held;
    for (int n = 0; n < 1000; ++n) {
        held.push_back(holder.acquire("many:" + std::to_string(n), with_ttl(10s)));
    }
    std::vector<std::size_t> waited_for;
    std::vector<std::future<std::uint64_t>> waiting;
    for (std::size_t n = 0; n < held.size(); n += 100) {
        waited_for.push_back(n);
        waiting.push_back(std::async(std::launch::async, [&waiter, n] {
            return waiter.acquire("many:" + std::to_string(n), with_ttl(10s)).token();
        }));
    }
    ledger kept(key_in_each_shard(servers, "taken:"));
    {
        const workers all(settings, kept, 6);
        std::set<std::uint16_t> moves;
        for (std::size_t n = 0; n < held.size() && moves.size() < 30; ++n) {
            const auto slot = servers.slot_of("many:" + std::to_string(n));
            if (redis_cluster::shard_of(slot) == 0) moves.insert(slot);
        }
        moves.insert(servers.slot_of(kept.keys()[0]));
        const auto half = std::next(moves.begin(), static_cast<std::ptrdiff_t>(moves.size() / 2));
        for (auto at = moves.begin(); at != half; ++at) {
            servers.move(*at, servers.master(0), servers.master(1));
        }
        servers.master(2).kill_hard();
        (void)servers.await_promotion(2);
        for (auto at = half; at != moves.end(); ++at) {
            servers.move(*at, servers.master(0), servers.master(1));
        }
        const auto then = clock::now();
        EXPECT_TRUE(eventually(surely, [&] {
            return std::all_of(held.begin(), held.end(), [&](const lease& each) {
                return !each.lost() && each.valid_until() > then + 9s;
            });
        })) << std::count_if(held.begin(), held.end(), [](const lease& each) {
            return each.lost();
        }) << " were lost";
        for (std::size_t n = 0; n < waited_for.size(); ++n) {
            const auto before = held[waited_for[n]].token();
            held[waited_for[n]].release();
            EXPECT_GT(waiting[n].get(), before) << waited_for[n];
        }
    }
    kept.expect_grants_of_each();
}

}  // namespace
}  // namespace holdfast::test
