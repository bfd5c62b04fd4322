#include <future>
#include <stop_token>

#include "integration/cluster_work.hpp"
#include "integration/library.hpp"
#include "integration/server_kinds.hpp"
#include "kinds/keys.hpp"
#include "support/redis_cluster.hpp"

// A real Cluster of three shards of three servers whose network is cut: the master of a shard is
// left with clients, and is replaced on the other side.

namespace holdfast::test {
namespace {

class cluster_cut : public testing::Test {
  protected:
    static constexpr std::size_t old_master = 0;
    static constexpr std::size_t its_replica = 3;

    void SetUp() override {
        if (major_version() < 7) GTEST_SKIP() << "a server does not choose the address it comes by";
        servers_ = std::make_unique<redis_cluster>(
            redis_cluster_options{.configuration = {"cluster-require-full-coverage no"},
                                  .replicas = 2,
                                  .separable = true});
        vouch_for_slots(outside());
        keys_ = key_in_each_shard(servers(), "cut:");
    }

    redis_cluster& servers() { return *servers_; }
    [[nodiscard]] const std::vector<std::string>& keys() const { return keys_; }

    options by(const std::string& url) {
        auto settings = settings_for(url);
        settings.max_ttl = 2s;
        settings.patience = 30s;
        return settings;
    }
    options outside() { return by(servers().url()); }
    options inside() { return by(servers().url_of_other_side()); }

    /// A server that does not notice that it is cut off, and goes on serving.
    void make_trustful(std::size_t server) {
        servers().server(server).command({"CONFIG", "SET", "cluster-node-timeout", "60000"});
    }
    void make_watchful(std::size_t server) {
        servers().server(server).command({"CONFIG", "SET", "cluster-node-timeout", "1000"});
    }

    bool says(std::size_t server, const std::vector<std::string>& question,
              const std::string& text) {
        return contains(servers().server(server).command(question), text);
    }
    bool still_serves(std::size_t server) {
        return says(server, {"ROLE"}, "master") &&
               says(server, {"CLUSTER", "INFO"}, "cluster_state:ok");
    }

    void mend() {
        servers().heal();
        ASSERT_TRUE(eventually(surely, [&] { return servers().settled(); }));
    }

    struct given {
        std::uint64_t token;
        clock::time_point at;
    };
    static std::future<given> wait_for(client& through, const std::string& key) {
        return std::async(std::launch::async, [&through, key] {
            const auto lease = through.acquire(key, with_ttl(2s));
            return given{lease.token(), clock::now()};
        });
    }
    void await_line(const std::string& key) {
        ASSERT_TRUE(eventually(
            surely, [&] { return servers().first_owner_of(key).exists(kinds::queue_key(key)); }));
    }

  private:
    std::unique_ptr<redis_cluster> servers_;
    std::vector<std::string> keys_;
};

TEST_F(cluster_cut, what_who_is_left_with_the_old_master_holds_is_over_before_another_has_it) {
    client within(inside());
    client without(outside());
    const auto held = within.acquire(keys()[0], with_ttl(2s));
    clock::time_point told{};
    const std::stop_callback on_loss(held.stop_token(), [&] { told = clock::now(); });
    auto waits = wait_for(without, keys()[0]);
    await_line(keys()[0]);
    make_trustful(old_master);
    servers().cut_off({old_master});
    (void)servers().await_promotion(0);
    const auto next = waits.get();
    EXPECT_TRUE(held.lost());
    EXPECT_LE(told, held.valid_until()) << "announced in time";
    EXPECT_GE(next.at, held.valid_until());
    EXPECT_GT(next.token, held.token());
    EXPECT_TRUE(still_serves(old_master)) << "else nothing was tried";
    auto impatient = inside();
    impatient.patience = 0ms;
    client another(impatient);
    const auto error =
        error_of([&] { (void)another.try_acquire("{" + keys()[0] + "}:2", with_ttl(2s)); });
    EXPECT_EQ(error.code, errc::unreachable);
    EXPECT_TRUE(contains(error.what, "acknowledged by 0 of the 1 replicas")) << error.what;
    mend();
    EXPECT_GT(within.acquire(keys()[0], with_ttl(2s)).token(), next.token) << "it found the others";
}

// That it is the acknowledgement which keeps both sides apart, and that there is something to keep
// apart: what guarantees.md says of a Cluster without it.
TEST_F(cluster_cut, without_acknowledgement_a_lock_is_valid_on_both_sides) {
    auto settings = inside();
    settings.replica_acks = replicas::none();
    client within(settings);
    settings.urls = outside().urls;
    vouch_for_slots(settings);
    client without(settings);
    const auto held = within.acquire(keys()[0], with_ttl(2s));
    auto waits = wait_for(without, keys()[0]);
    await_line(keys()[0]);
    make_trustful(old_master);
    servers().cut_off({old_master});
    (void)servers().await_promotion(0);
    const auto next = waits.get();
    EXPECT_GT(held.valid_until(), next.at);
    EXPECT_FALSE(held.lost());
}

// A majority of the shard is with the old master: there leases go on, and the new one has nobody
// who would acknowledge anything.
TEST_F(cluster_cut, the_side_with_a_majority_of_a_shard_goes_on_and_the_other_gives_nothing) {
    client within(inside());
    client without(outside());
    const auto held = within.acquire(keys()[0], with_ttl(2s));
    for (const auto each : {old_master, its_replica}) make_trustful(each);
    servers().cut_off({old_master, its_replica});
    auto& promoted = servers().await_promotion(0);
    EXPECT_EQ(&promoted, &servers().replica(0, 1));
    const auto cut = clock::now();
    auto waits = wait_for(without, keys()[0]);
    EXPECT_TRUE(eventually(surely, [&] { return held.valid_until() > cut + 5s; })) << "renewed";
    EXPECT_TRUE(within.try_acquire("{" + keys()[0] + "}:2", with_ttl(2s)).has_value());
    EXPECT_FALSE(held.lost());
    EXPECT_EQ(waits.wait_for(0s), std::future_status::timeout);
    mend();
    const auto next = waits.get();
    EXPECT_TRUE(held.lost()) << "who was not a majority became the master of all";
    EXPECT_GE(next.at, held.valid_until());
    EXPECT_GT(next.token, held.token());
}

/// On both sides there are clients who take the locks of all shards, some for a moment and some
/// for longer than their ttl.
class both_sides : public cluster_cut {
  protected:
    void cut_twice(const std::set<std::size_t>& servers_inside, bool trustful) {
        ledger kept(keys());
        {
            const workers brisk_inside(inside(), kept, 3);
            const workers slow_inside(inside(), kept, 2, 3s);
            const workers brisk_outside(outside(), kept, 3);
            const workers slow_outside(outside(), kept, 2, 3s);
            for (int n = 0; n < 2; ++n) {
                if (trustful) {
                    for (const auto each : servers_inside) make_trustful(each);
                }
                servers().cut_off(servers_inside);
                (void)servers().await_promotion(0);
                const auto before = brisk_outside.grants_of(0) + slow_outside.grants_of(0);
                EXPECT_TRUE(eventually(surely, [&] {
                    return brisk_outside.grants_of(0) + slow_outside.grants_of(0) > before + 3;
                })) << "the new master serves";
                EXPECT_EQ(still_serves(old_master), trustful);
                mend();
                for (const auto each : servers_inside) make_watchful(each);
                servers().give_back(0);
            }
            const auto back = brisk_inside.grants_of(0) + slow_inside.grants_of(0);
            EXPECT_TRUE(eventually(surely, [&] {
                return brisk_inside.grants_of(0) + slow_inside.grants_of(0) > back;
            })) << "who was cut off is back";
        }
        kept.expect_grants_of_each();
    }
};

TEST_F(both_sides, a_lock_is_never_valid_on_both) { cut_twice({old_master}, false); }

TEST_F(both_sides, a_lock_is_never_valid_on_both_though_the_old_master_notices_nothing) {
    cut_twice({old_master}, true);
}

/// Nobody who locks is cut off: only the servers are from each other.
class reached_by_all : public cluster_cut {
  protected:
    void expect_followed() {
        client one(outside());
        const auto first = one.acquire(keys()[0], with_ttl(2s)).token();
        servers().cut_off({old_master}, cluster_network::clients::reach_all);
        (void)servers().await_promotion(0);
        const stopwatch since;
        EXPECT_GT(one.acquire(keys()[0], with_ttl(2s)).token(), first);
        record("found", since.elapsed());
        client another(outside());
        EXPECT_GT(another.acquire(keys()[0], with_ttl(2s)).token(), first);
        EXPECT_TRUE(says(old_master, {"ROLE"}, "master")) << "else nothing was tried";
        EXPECT_LT(since.elapsed(), surely);
    }
};

TEST_F(reached_by_all, an_old_master_that_serves_nothing_any_more_is_not_believed) {
    expect_followed();
}

TEST_F(reached_by_all, an_old_master_that_notices_nothing_is_not_believed) {
    make_trustful(old_master);
    expect_followed();
    EXPECT_TRUE(still_serves(old_master)) << "else nothing was tried";
}

}  // namespace
}  // namespace holdfast::test
