#include <thread>

#include "holdfast/operate.hpp"
#include "integration/fake_redis.hpp"
#include "integration/library.hpp"
#include "integration/server_kinds.hpp"
#include "support/replication_group.hpp"
#include "support/sentinel_group.hpp"

// What real replicas, and those who name them, do to an acknowledgement.

namespace holdfast::test {
namespace {

options short_lived(const std::string& url) {
    auto settings = settings_for(url);
    settings.max_ttl = 2s;
    settings.patience = 0ms;
    return settings;
}

void vouch_for(const options& settings) {
    client operators(settings);
    for (const auto left : enlist(operators, true)) ASSERT_EQ(left, 0ms);
}

thrown_error refusal_of(client& through) {
    return error_of([&] { (void)through.try_acquire("k", with_ttl(1s)); });
}

bool grants(client& through) {
    std::error_code error;
    return mutex(through, "k", with_ttl(1s)).try_acquire(with_ttl(1s), error).has_value();
}

TEST(group_faults, a_replica_beyond_the_group_does_not_acknowledge_for_it) {
    replication_group group(2);
    const hostile_server sentinel(sentinel_naming(group.master().port(), 1));
    const auto settings =
        short_lived("redis+sentinel://127.0.0.1:" + std::to_string(sentinel.port()) + "/main");
    vouch_for(settings);
    client one(settings);
    EXPECT_TRUE(grants(one)) << "both acknowledge, so one of the group does";
    group.server(1).pause();
    const auto error = refusal_of(one);
    group.server(1).resume();
    EXPECT_EQ(error.code, errc::unreachable);
    EXPECT_TRUE(contains(error.what, "granted, but acknowledged by 1 of the 1 replicas"))
        << error.what;
    EXPECT_TRUE(contains(error.what, "1 more follow it than its group has")) << error.what;
    EXPECT_TRUE(eventually(surely, [&] { return !group.master().exists("k"); }));
}

// WAIT would speak of the write before, which everybody has.
TEST(group_faults, a_master_that_refuses_writes_for_want_of_replicas_says_so_and_nothing_counts) {
    replication_group group(2);
    auto settings = short_lived(group.master().url());
    settings.replica_acks = replicas::exactly(1);
    vouch_for(settings);
    client one(settings);
    const auto lease = one.acquire("held", with_ttl(1s));
    group.master().command({"CONFIG", "SET", "min-replicas-to-write", "3"});
    const auto error = refusal_of(one);
    EXPECT_TRUE(contains(error.what, "NOREPLICAS")) << error.what;
    EXPECT_TRUE(eventually(surely, [&] { return lease.lost(); })) << "nor is it renewed";
    group.master().command({"CONFIG", "SET", "min-replicas-to-write", "0"});
    EXPECT_TRUE(eventually(surely, [&] { return grants(one); }));
}

bool is_loading(const redis_server& which) {
    try {
        return contains(which.command({"INFO", "persistence"}), "\r\nloading:1");
    } catch (const std::runtime_error&) {
        return false;
    }
}

TEST(group_faults, a_replica_that_still_loads_what_it_was_sent_does_not_acknowledge) {
    redis_server master{{.configuration = {"repl-diskless-sync yes", "repl-diskless-sync-delay 0",
                                           "enable-debug-command yes"}}};
    master.command({"DEBUG", "POPULATE", "2000"});
    redis_server replica{{.configuration = {"repl-diskless-load swapdb", "key-load-delay 5000",
                                            "loading-process-events-interval-bytes 1024"}}};
    auto settings = short_lived(master.url());
    vouch_for(settings);
    settings.replica_acks = replicas::exactly(1);
    replica.command({"REPLICAOF", "127.0.0.1", std::to_string(master.port())});
    const auto loads = [&] { return is_loading(replica); };
    ASSERT_TRUE(eventually(surely, loads));
    client one(settings);
    const auto error = refusal_of(one);
    ASSERT_TRUE(loads()) << "it was too quick to be tried";
    EXPECT_TRUE(contains(error.what, "acknowledged by 0 of the 1 replicas")) << error.what;
    EXPECT_TRUE(eventually(60s, [&] { return grants(one); })) << "when it is done it does";
    EXPECT_FALSE(loads());
}

class growing_group : public testing::Test {
  protected:
    void SetUp() override {
        if (major_version() < 7) GTEST_SKIP() << "a sentinel has no users";
        group = std::make_unique<sentinel_group>();
        settings = short_lived(group->url());
        settings.patience = surely;
        vouch_for(settings);
    }

    std::unique_ptr<sentinel_group> group;
    options settings;
};

TEST_F(growing_group, replicas_that_are_added_keep_nobody_from_locking) {
    client before(settings);
    const auto lease = before.acquire("held", with_ttl(1500ms));
    group->add_replica();
    group->add_replica();
    client after(settings);
    EXPECT_TRUE(grants(after)) << "no operator had to do anything";
    EXPECT_TRUE(grants(before));
    EXPECT_FALSE(lease.lost());
}

// Three of five may miss two of three: four have to know.
TEST_F(growing_group, as_many_have_to_know_as_meet_every_majority_of_what_it_was) {
    settings.patience = 0ms;
    client before(settings);
    ASSERT_TRUE(grants(before));
    group->add_replica();
    group->add_replica();
    client after(settings);
    ASSERT_TRUE(grants(after));
    group->server(1).pause();
    group->server(2).pause();
    const bool refused_before = eventually(3s, [&] { return !grants(before); });
    const auto error = refusal_of(after);
    group->server(1).resume();
    group->server(2).resume();
    EXPECT_TRUE(contains(error.what, "of the 3 replicas that replica_acks asks for")) << error.what;
    EXPECT_TRUE(refused_before) << "who was connected before knows it, too";
}

TEST_F(growing_group, an_operator_who_notes_its_size_makes_a_majority_of_it_enough) {
    group->add_replica();
    group->add_replica();
    vouch_for(settings);
    client one(settings);
    group->server(1).pause();
    group->server(2).pause();
    EXPECT_TRUE(grants(one));
    group->server(1).resume();
    group->server(2).resume();
}

}  // namespace
}  // namespace holdfast::test
