#include <algorithm>

#include "support/redis_cluster.hpp"
#include "tool.hpp"

// What looks after locks looks at all shards of a Cluster.

namespace holdfast::test {
namespace {

class cluster : public testing::Test {
  protected:
    /// Not in SetUpTestSuite(): what throws there makes a test skipped, not failed.
    void SetUp() override {
        if (!shared_) shared_ = std::make_unique<redis_cluster>();
    }
    static void TearDownTestSuite() { shared_.reset(); }

    redis_cluster& servers() { return *shared_; }

    command_result holdfast(const words& arguments, const std::string& parameters = {}) {
        words all{arguments.front(), "--url", servers().url() + parameters};
        all.insert(all.end(), arguments.begin() + 1, arguments.end());
        return run_command(holdfast_with(all));
    }

    void vouch() {
        const auto result = holdfast({"enlist", "--fresh", "--yes"});
        ASSERT_EQ(result.exit_code, 0) << result.err << result.out;
        EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 3) << result.out;
    }

  private:
    static std::unique_ptr<redis_cluster> shared_;
};

std::unique_ptr<redis_cluster> cluster::shared_;

TEST_F(cluster, is_in_quarantine_until_somebody_vouches_for_all_of_its_slots) {
    const auto before = holdfast({"run", "-n", "new", "true"});
    EXPECT_EQ(before.exit_code, 69) << before.err;
    EXPECT_TRUE(contains(before.err, "quarantine")) << before.err;
    const auto examined = holdfast({"doctor"});
    EXPECT_EQ(examined.exit_code, 69) << examined.out;
    EXPECT_TRUE(contains(examined.out, "restart")) << examined.out;
    vouch();
    EXPECT_EQ(holdfast({"doctor"}).exit_code, 0);
    const auto longer = holdfast({"doctor"}, "?max_ttl=2m");
    EXPECT_EQ(longer.exit_code, 78) << longer.out;
    EXPECT_TRUE(contains(longer.out, "max_ttl")) << longer.out;
    for (const auto* key : {"new", "another", "third", "fourth", "fifth"}) {
        const auto after = holdfast({"run", "-n", key, "true"});
        EXPECT_EQ(after.exit_code, 0) << key << ": " << after.err;
    }
    for (std::size_t shard = 0; shard < redis_cluster::shards; ++shard) {
        EXPECT_GE(std::stoul(servers().master(shard).command({"DBSIZE"})), 5461U)
            << "a record each";
    }
}

TEST_F(cluster, its_locks_are_listed_whichever_shard_has_them) {
    vouch();
    words keys;
    for (int n = 0; n < 12; ++n) keys.push_back("listed:" + std::to_string(n));
    for (const auto& key : keys) ASSERT_EQ(holdfast({"lock", "--ttl", "1m", key}).exit_code, 0);
    const auto result = holdfast({"ls", "listed:*"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    for (const auto& key : keys) EXPECT_TRUE(contains(result.out, key)) << key << result.out;
    const auto status = holdfast({"status", keys[0]});
    EXPECT_TRUE(contains(status.out, keys[0])) << status.out << status.err;
}

TEST_F(cluster, to_list_its_locks_writes_nothing) {
    const auto keys = [&] {
        std::string counts;
        for (std::size_t n = 0; n < redis_cluster::shards; ++n) {
            counts += servers().master(n).command({"DBSIZE"}) + " ";
        }
        return counts;
    };
    const auto before = keys();
    const auto result = holdfast({"ls"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(keys(), before) << "no slot is put into quarantine by that";
}

TEST_F(cluster, a_shard_that_grants_nothing_can_be_looked_at) {
    redis_cluster alone;
    const auto at = [&](words arguments) {
        arguments.insert(arguments.begin() + 1, {"--url", alone.url()});
        return run_command(holdfast_with(arguments));
    };
    ASSERT_EQ(at({"enlist", "--fresh", "--yes"}).exit_code, 0);
    words keys;
    for (int n = 0; n < 6; ++n) keys.push_back("k" + std::to_string(n));
    for (const auto& key : keys) ASSERT_EQ(at({"lock", "--ttl", "1m", key}).exit_code, 0);
    for (std::size_t n = 0; n < redis_cluster::shards; ++n) alone.replica(n).kill_hard();

    EXPECT_TRUE(eventually(20s, [&] {
        const auto examined = at({"doctor"});
        return examined.exit_code == 69 && contains(examined.out, "none is granted");
    })) << at({"doctor"}).out;
    EXPECT_EQ(at({"run", "-n", "another", "true"}).exit_code, 69);
    const auto status = at({"status", keys[0]});
    EXPECT_EQ(status.exit_code, 0) << status.err;
    EXPECT_TRUE(contains(status.out, "held")) << status.out;
    const auto listed = at({"ls"});
    EXPECT_EQ(listed.exit_code, 0) << listed.err;
    for (const auto& key : keys) EXPECT_TRUE(contains(listed.out, key)) << key << listed.out;
}

TEST_F(cluster, the_doctor_examines_every_master) {
    vouch();
    const auto result = holdfast({"doctor"});
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
    for (std::size_t shard = 0; shard < redis_cluster::shards; ++shard) {
        EXPECT_TRUE(
            contains(result.out, "127.0.0.1:" + std::to_string(servers().master(shard).port())))
            << result.out;
    }
    EXPECT_TRUE(contains(result.out, " of 16384 slots, 1 replica: when one of the 2 servers fails"))
        << result.out;
    EXPECT_FALSE(contains(holdfast({"doctor"}, "?replica_acks=none").out, "servers fails"));
    EXPECT_FALSE(contains(result.out, "FAIL")) << result.out;
}

/// The least that is needed to lock, but for what calls the next in line (doc/acl.md).
const words least_rights{"resetkeys",
                         "resetchannels",
                         "-@all",
                         "~*",
                         "&holdfast:*",
                         "+eval",
                         "+evalsha",
                         "+set",
                         "+get",
                         "+mget",
                         "+del",
                         "+pttl",
                         "+pexpire",
                         "+time",
                         "+info",
                         "+client|tracking",
                         "+client|caching",
                         "+lpop",
                         "+rpush",
                         "+lrem",
                         "+llen",
                         "+lpos",
                         "+wait",
                         "+asking",
                         "+cluster|slots",
                         "+cluster|shards",
                         "+cluster|myid"};

TEST_F(cluster, the_doctor_finds_the_rights_that_calls_in_a_slot_need) {
    vouch();
    const auto let = [&](const words& more) {
        words rule{"ACL", "SETUSER", "app", "on", "nopass"};
        rule.insert(rule.end(), least_rights.begin(), least_rights.end());
        rule.insert(rule.end(), more.begin(), more.end());
        for (std::size_t shard = 0; shard < redis_cluster::shards; ++shard) {
            servers().master(shard).command(rule);
            servers().replica(shard).command(rule);
        }
    };
    auto url = servers().url();
    url.insert(url.find("://") + 3, "app@");
    const auto as_app = [&](words arguments) {
        arguments.insert(arguments.begin() + 1, {"--url", url});
        return run_command(holdfast_with(arguments));
    };
    let({});
    const auto lacking = as_app({"doctor"});
    EXPECT_TRUE(contains(lacking.out, "+spublish +ssubscribe")) << lacking.out << lacking.err;
    EXPECT_FALSE(contains(lacking.out, "+publish")) << lacking.out;
    EXPECT_FALSE(contains(lacking.out, "+wait")) << lacking.out;
    let({"+spublish", "+ssubscribe", "-wait", "-cluster|shards"});
    const auto others = as_app({"doctor"});
    EXPECT_FALSE(contains(others.out, "+spublish")) << others.out;
    EXPECT_TRUE(contains(others.out, "+wait")) << others.out;
    EXPECT_TRUE(contains(others.out, "+cluster|shards")) << others.out;
    let({"+spublish", "+ssubscribe"});
    const auto all = as_app({"run", "-n", "by rights", "true"});
    EXPECT_EQ(all.exit_code, 0) << all.err;
}

/// Of three shards one is down, all of its servers.
class cluster_without_a_shard : public testing::Test {
  protected:
    static constexpr std::size_t down = 1;

    void SetUp() override {
        ASSERT_EQ(holdfast({"enlist", "--fresh", "--yes"}).exit_code, 0);
        for (int n = 0; keys[0].empty() || keys[down].empty(); ++n) {
            const auto key = "key:" + std::to_string(n);
            keys[redis_cluster::shard_of(servers.slot_of(key))] = key;
        }
        ASSERT_EQ(holdfast({"lock", "--ttl", "1m", keys[0]}).exit_code, 0);
        address = "127.0.0.1:" + std::to_string(servers.master(down).port());
        servers.master(down).kill_hard();
        servers.replica(down).kill_hard();
    }

    command_result holdfast(const words& arguments) {
        words all{arguments.front(), "--url", servers.url()};
        all.insert(all.end(), arguments.begin() + 1, arguments.end());
        return run_command(holdfast_with(all));
    }

    redis_cluster servers{{"cluster-require-full-coverage no"}};
    words keys = words(redis_cluster::shards);
    std::string address;
};

TEST_F(cluster_without_a_shard,
       what_others_have_is_shown_and_what_it_has_is_an_error_that_names_it) {
    const auto there = holdfast({"status", keys[0]});
    EXPECT_EQ(there.exit_code, 0) << there.err;
    EXPECT_TRUE(contains(there.out, keys[0])) << there.out;
    const auto gone = holdfast({"status", keys[down]});
    EXPECT_EQ(gone.exit_code, 69) << gone.out << gone.err;
    EXPECT_TRUE(contains(gone.err, address)) << gone.err;
    const auto run = holdfast({"run", "-n", keys[down], "true"});
    EXPECT_EQ(run.exit_code, 69) << run.err;
    EXPECT_TRUE(contains(run.err, address)) << run.err;
    const auto all = holdfast({"ls"});
    EXPECT_EQ(all.exit_code, 69) << all.out;
    EXPECT_TRUE(contains(all.err, address)) << all.err;
    const auto doctor = holdfast({"doctor"});
    EXPECT_NE(doctor.exit_code, 0) << doctor.out;
    EXPECT_TRUE(contains(doctor.out, address)) << doctor.out << doctor.err;
    for (const auto other : {0U, 2U}) {
        EXPECT_TRUE(
            contains(doctor.out, "127.0.0.1:" + std::to_string(servers.master(other).port())))
            << doctor.out;
    }
    const auto enlist = holdfast({"enlist"});
    EXPECT_EQ(enlist.exit_code, 69) << enlist.out;
    EXPECT_TRUE(contains(enlist.err, address)) << enlist.err;
}

TEST_F(cluster, a_node_of_it_given_as_a_server_is_answered_with_what_to_write) {
    const auto result =
        run_command(holdfast_with({"run", "--url", servers().master(0).url(), "key", "true"}));
    EXPECT_EQ(result.exit_code, 78) << result.err;
    EXPECT_TRUE(contains(result.err, "redis+cluster://")) << result.err;
}

TEST_F(cluster, cannot_be_one_of_a_quorum) {
    const auto result =
        holdfast({"status", "--url", "redis://127.0.0.1:1", "--url", "redis://127.0.0.1:2", "key"});
    EXPECT_NE(result.exit_code, 0);
    EXPECT_TRUE(contains(result.err, "a Cluster cannot be one of several servers")) << result.err;
}

}  // namespace
}  // namespace holdfast::test
