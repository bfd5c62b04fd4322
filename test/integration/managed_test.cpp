#include <memory>
#include <thread>

#include "holdfast/operate.hpp"
#include "integration/library.hpp"
#include "integration/server_kinds.hpp"
#include "support/sentinel_group.hpp"

/// Commands that hosts of servers keep from their users: what still works, and what is said. The
/// table is in doc/acl.md.
namespace holdfast::test {
namespace {

using words = std::vector<std::string>;

/// A user who may do everything else.
void make_user(const redis_server& at, const words& kept) {
    words command{"ACL", "SETUSER", "app", "reset", "on", ">pw", "~*", "&*", "+@all"};
    command.insert(command.end(), kept.begin(), kept.end());
    const auto said = at.query(command);
    ASSERT_FALSE(said.is_error()) << to_string(said);
}

/// What keeps a lock from such a user; empty: it was acquired, renewed and released.
std::string refusal_at(const std::string& url) {
    auto settings = settings_for(url);
    settings.max_ttl = 20s;
    settings.patience = 0ms;
    client through(settings);
    const auto error = error_of([&] {
        auto lease = mutex(through, "k").try_acquire(with_ttl(10s));
        ASSERT_TRUE(lease) << "nobody holds it";
        lease->extend(10s);
        EXPECT_EQ(lease->release(), release_result::released);
    });
    return error.code ? error.what : "";
}

class managed : public testing::Test {
  protected:
    void SetUp() override {
        if (major_version() < 7) GTEST_SKIP() << "no rights to subcommands";
    }

    std::string refusal(const words& kept, const std::string& query = "") {
        make_user(server, kept);
        return refusal_at(url(query));
    }
    [[nodiscard]] std::string url(const std::string& query = "") const {
        return "redis://app:pw@127.0.0.1:" + std::to_string(server.port()) + query;
    }
    void vouch() const {
        auto settings = settings_for(server.url());
        settings.restart_guard = true;
        settings.max_ttl = 20s;
        client operators(settings);
        (void)enlist(operators, true);
    }

    redis_server server;
};

TEST_F(managed, one_server_needs_neither_info_nor_config_nor_client) {
    for (const auto* kept : {"-info", "-config", "-client", "-subscribe", "-script"}) {
        EXPECT_EQ(refusal({kept}), "") << kept;
    }
    EXPECT_EQ(refusal({"-info", "-config", "-client", "-subscribe", "-script"}), "");
}

TEST_F(managed, a_waiter_gets_its_turn_without_client_and_channels) {
    make_user(server, {"-client", "-subscribe", "-publish"});
    client one(settings_for(url()));
    client two(settings_for(url()));
    auto held = one.acquire("k", with_ttl(10s));
    std::thread releases([&] {
        std::this_thread::sleep_for(100ms);
        (void)held.release();
    });
    EXPECT_TRUE(mutex(two, "k").try_acquire_for(surely, with_ttl(10s)));
    releases.join();
}

TEST_F(managed, the_guard_says_what_it_needs) {
    vouch();
    EXPECT_EQ(refusal({"-config"}, "?restart_guard=on"), "");
    EXPECT_TRUE(contains(refusal({"-info"}, "?restart_guard=on"),
                         "the restart guard needs INFO, which the ACL refuses"));
    EXPECT_TRUE(contains(refusal({"-client"}, "?restart_guard=on"),
                         "does not tell when it is emptied (CLIENT TRACKING with RESP3), which the "
                         "restart guard needs"));
}

TEST_F(managed, a_replica_is_called_one_though_it_may_not_say_so_in_info) {
    redis_server replica{{.configuration = {"repl-diskless-sync-delay 0"}}};
    replica.command({"REPLICAOF", "127.0.0.1", std::to_string(server.port())});
    make_user(replica, {"-info"});
    const auto said = refusal_at("redis://app:pw@127.0.0.1:" + std::to_string(replica.port()));
    EXPECT_TRUE(contains(said,
                         "is a replica; give the master's address, or write "
                         "redis+sentinel://host:port/<master-name>"))
        << said;
}

TEST_F(managed, a_sentinel_and_a_node_of_a_cluster_are_called_what_they_are) {
    const redis_server sentinel(sentinel_of(server));
    make_user(sentinel, {"-info"});
    auto said = refusal_at("redis://app:pw@127.0.0.1:" + std::to_string(sentinel.port()));
    EXPECT_TRUE(contains(said, "is a Sentinel")) << said;
    const redis_server node{{.cluster = true}};
    make_user(node, {"-info"});
    said = refusal_at("redis://app:pw@127.0.0.1:" + std::to_string(node.port()));
    EXPECT_TRUE(contains(said, "is a node of a Redis Cluster")) << said;
}

class managed_group : public testing::Test {
  protected:
    void SetUp() override {
        if (major_version() < 7) GTEST_SKIP() << "no rights to subcommands";
        group =
            std::make_unique<sentinel_group>(sentinel_group_options{.replicas = 1, .sentinels = 1});
        auto settings = settings_for(group->url());
        settings.max_ttl = 20s;
        client operators(settings);
        (void)enlist(operators, true);
    }

    std::string refusal(const words& kept, const std::string& query = "") {
        make_user(group->server(0), kept);
        auto url = group->url() + query;
        url.insert(url.find("://") + 3, "app:pw@");
        return refusal_at(url);
    }
    std::string refusal_by_sentinel(const words& kept) {
        make_user(group->sentinel(0), kept);
        return refusal_at(group->url() + "?sentinel_user=app&sentinel_password=pw");
    }

    std::unique_ptr<sentinel_group> group;
};

TEST_F(managed_group, needs_what_the_guard_and_the_acknowledgement_need_and_says_so) {
    EXPECT_EQ(refusal({"-config"}), "");
    EXPECT_TRUE(
        contains(refusal({"-info"}), "the restart guard needs INFO, which the ACL refuses"));
    EXPECT_TRUE(contains(refusal({"-info"}, "?restart_guard=off"),
                         "replica_acks need INFO, which the ACL refuses"));
    EXPECT_TRUE(contains(refusal({"-client"}), "CLIENT TRACKING with RESP3"));
    const auto waits = refusal({"-wait"});
    EXPECT_TRUE(contains(waits, "not acknowledged by its replicas")) << waits;
    EXPECT_TRUE(contains(waits, "wait")) << waits;
}

TEST_F(managed_group, does_without_them_where_neither_is_asked_for) {
    EXPECT_EQ(refusal({"-client"}, "?restart_guard=off"), "");
    EXPECT_EQ(refusal({"-wait"}, "?replica_acks=none"), "");
    EXPECT_EQ(
        refusal({"-info", "-client", "-config", "-wait"}, "?restart_guard=off&replica_acks=none"),
        "")
        << "HELLO says that it is a master";
}

TEST_F(managed_group, says_what_the_sentinels_keep_from_us) {
    EXPECT_EQ(refusal_by_sentinel({"-subscribe", "-info", "-client"}), "");
    EXPECT_EQ(refusal_by_sentinel({"-@all", "resetchannels", "&+switch-master", "+subscribe",
                                   "+sentinel|get-master-addr-by-name", "+sentinel|master"}),
              "");
    const auto size = refusal_by_sentinel({"-sentinel|master"});
    EXPECT_TRUE(
        contains(size, "allow SENTINEL MASTER at the Sentinels, or CLUSTER SHARDS in a Cluster"))
        << size;
    const auto address = refusal_by_sentinel({"-sentinel|get-master-addr-by-name"});
    EXPECT_TRUE(contains(address, "no Sentinel names the master")) << address;
    EXPECT_TRUE(contains(address, "NOPERM")) << address;
}

}  // namespace
}  // namespace holdfast::test
