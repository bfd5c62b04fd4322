#include <array>
#include <future>
#include <stop_token>

#include "integration/client_list.hpp"
#include "integration/cluster_work.hpp"
#include "integration/library.hpp"
#include "kinds/keys.hpp"
#include "support/redis_cluster.hpp"

// A shard that leaves its Cluster: its slots are moved away, and all others forget its servers.

namespace holdfast::test {
namespace {

class cluster_leaving : public testing::Test {
  protected:
    static constexpr std::size_t leaving = 2;

    cluster_leaving() : keys(key_in_each_shard(servers, "leaving:")) {
        settings = settings_for(servers.url());
        settings.max_ttl = 2s;
        settings.patience = 30s;
        settings.client_name = "goes-on";
        settings.replica_acks = replicas::exactly(1);
    }

    redis_server& heir() { return servers.master(0); }
    redis_server& leaver() { return servers.master(leaving); }

    /// Some key of the shard that leaves, in another slot.
    std::string another_key() {
        for (int n = 0;; ++n) {
            auto key = "dropped:" + std::to_string(n);
            const auto slot = servers.slot_of(key);
            if (redis_cluster::shard_of(slot) == leaving && slot != servers.slot_of(keys[leaving]))
                return key;
        }
    }

    /// As `redis-cli --cluster fix` does: the keys of the slot are lost.
    void take_without_keys(std::uint16_t slot) {
        const auto number = std::to_string(slot);
        const auto id = heir().command({"CLUSTER", "MYID"});
        heir().command(
            {"CLUSTER", "SETSLOT", number, "IMPORTING", leaver().command({"CLUSTER", "MYID"})});
        heir().command({"CLUSTER", "SETSLOT", number, "NODE", id});
        ASSERT_TRUE(eventually(surely, [&] {
            return contains(leaver().command({"CLUSTER", "SLOTS"}), number) &&
                   leaver().command({"CLUSTER", "COUNTKEYSINSLOT", number}) == "0";
        }));
    }

    std::size_t connections_of_ours(redis_server& to) {
        return connections_named(to, settings.client_name).size();
    }

    bool was_asked(redis_server& server) {
        const auto stats = server.command({"INFO", "commandstats"});
        for (const auto* what : {"hello", "evalsha", "eval", "cluster|slots", "wait"}) {
            if (contains(stats, std::string("cmdstat_") + what + ":")) return true;
        }
        return false;
    }

    redis_cluster servers{{"cluster-require-full-coverage no"}};
    std::vector<std::string> keys;
    options settings;
};

TEST_F(cluster_leaving, leases_go_on_waiters_get_their_turn_and_nothing_more_is_asked_of_it) {
    vouch_for_slots(settings);
    client one(settings);
    auto other = settings;
    other.client_name = "waits";
    client another(other);
    std::vector<lease> held;
    for (const auto& key : keys) held.push_back(one.acquire(key, with_ttl(2s)));
    auto waits = std::async(std::launch::async,
                            [&] { return another.acquire(keys[leaving], with_ttl(2s)).token(); });
    ASSERT_TRUE(
        eventually(surely, [&] { return leaver().exists(kinds::queue_key(keys[leaving])); }));
    servers.give_all(leaving, heir());
    servers.forget(leaving);
    for (const auto& each : held) {
        const auto then = each.valid_until();
        EXPECT_TRUE(eventually(surely, [&] { return each.valid_until() > then; })) << "renewed";
        EXPECT_FALSE(each.lost());
        EXPECT_TRUE(each.verify());
    }
    EXPECT_TRUE(eventually(surely, [&] { return connections_of_ours(leaver()) == 0; }));
    leaver().command({"CONFIG", "RESETSTAT"});
    kill_connections(heir(), settings.client_name);  // so that the map is asked for again
    const auto before = held[leaving].token();
    held[leaving].release();
    EXPECT_GT(waits.get(), before);
    for (const auto& key : keys) {
        EXPECT_TRUE(one.acquire("{" + key + "}:2", with_ttl(1s)).verify()) << key;
    }
    EXPECT_FALSE(was_asked(leaver())) << leaver().command({"INFO", "commandstats"});
    client with_the_old_url(settings);
    EXPECT_TRUE(with_the_old_url.acquire(keys[1] + ":new", with_ttl(1s)).verify());
    for (std::size_t n = leaving; n < servers.size(); n += redis_cluster::shards) {
        servers.server(n).kill_hard();
    }
    client with_a_dead_seed(settings);
    EXPECT_TRUE(with_a_dead_seed.acquire(keys[leaving] + ":new", with_ttl(1s)).verify());
}

TEST_F(cluster_leaving, who_is_given_its_address_first_finds_the_cluster_all_the_same) {
    servers.give_all(leaving, heir());
    servers.forget(leaving);
    settings.urls = {"redis+cluster://127.0.0.1:" + std::to_string(leaver().port()) +
                     ",127.0.0.1:" + std::to_string(heir().port())};
    settings.restart_guard = false;
    client one(settings);
    for (const auto& key : keys) EXPECT_TRUE(one.acquire(key, with_ttl(1s)).verify()) << key;
}

TEST_F(cluster_leaving, a_lease_whose_slot_arrives_without_it_is_announced_lost_in_time) {
    vouch_for_slots(settings);
    client one(settings);
    const auto dropped = another_key();
    const auto lost = one.acquire(dropped, with_ttl(2s));
    const auto kept = one.acquire(keys[leaving], with_ttl(2s));
    clock::time_point told{};
    const std::stop_callback on_loss(lost.stop_token(), [&] { told = clock::now(); });
    take_without_keys(servers.slot_of(dropped));
    servers.move(servers.slot_of(keys[leaving]), leaver(), heir());
    ASSERT_TRUE(eventually(surely, [&] { return lost.lost(); }));
    EXPECT_LE(told, lost.valid_until());
    EXPECT_FALSE(kept.lost());
    EXPECT_TRUE(kept.verify());
    const auto next = one.acquire(dropped, with_ttl(1s));
    EXPECT_GE(clock::now(), lost.valid_until()) << "its quarantine";
}

}  // namespace
}  // namespace holdfast::test
