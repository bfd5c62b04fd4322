#include "integration/client_list.hpp"
#include "integration/cluster_work.hpp"
#include "integration/library.hpp"
#include "integration/server_kinds.hpp"
#include "support/certificates.hpp"
#include "support/redis_cluster.hpp"

// Credentials, rights and TLS of a real Cluster.

namespace holdfast::test {
namespace {

std::string with_credentials(std::string url, const std::string& whose) {
    return url.insert(url.find("://") + 3, whose + "@");
}

options unguarded(const std::string& url) {
    auto settings = settings_for(url);
    settings.restart_guard = false;
    settings.connect_timeout = surely / 2;
    return settings;
}

thrown_error failure_of(const options& settings) {
    client through(settings);
    const stopwatch watch;
    auto error = error_of([&] { (void)through.acquire("k", with_ttl(2s)); });
    EXPECT_LT(watch.elapsed(), 3s * slowness) << "asking again changes nothing";
    return error;
}

void expect_locks_of_each_shard(redis_cluster& servers, const options& settings) {
    client one(settings);
    for (const auto& key : key_in_each_shard(servers, "all:")) {
        EXPECT_TRUE(one.acquire(key, with_ttl(5s)).verify()) << key;
    }
}

class cluster_with_password : public testing::Test {
  protected:
    void SetUp() override {
        if (!shared_) {
            shared_ = std::make_unique<redis_cluster>(redis_cluster_options{.password = "of-all"});
        }
    }
    static void TearDownTestSuite() { shared_.reset(); }
    static redis_cluster& servers() { return *shared_; }

    static options as_user(std::vector<std::string> rules) {
        rules.insert(rules.begin(), {"ACL", "SETUSER", "app", "reset", "on", ">pw", "~*", "&*"});
        for (std::size_t n = 0; n < servers().size(); ++n) servers().server(n).command(rules);
        return unguarded(with_credentials(servers().url(), "app:pw"));
    }

  private:
    static std::unique_ptr<redis_cluster> shared_;
};

std::unique_ptr<redis_cluster> cluster_with_password::shared_;

TEST_F(cluster_with_password, it_is_given_to_every_server) {
    expect_locks_of_each_shard(servers(), unguarded(with_credentials(servers().url(), ":of-all")));
}

TEST_F(cluster_with_password, a_wrong_one_is_said_to_be_that_and_is_never_shown) {
    const auto wrong = failure_of(unguarded(with_credentials(servers().url(), ":hunter2")));
    EXPECT_EQ(wrong.code, errc::authentication) << wrong.what;
    EXPECT_TRUE(contains(wrong.what, "127.0.0.1:")) << wrong.what;
    EXPECT_FALSE(contains(wrong.what, "hunter2")) << wrong.what;
    const auto none = failure_of(unguarded(servers().url()));
    EXPECT_EQ(none.code, errc::authentication) << none.what;
}

TEST_F(cluster_with_password, without_the_right_to_the_map_it_is_said_which_one_is_missing) {
    const auto error = failure_of(as_user({"+@all", "-cluster|slots", "-cluster"}));
    EXPECT_EQ(error.code, errc::permission) << error.what;
    EXPECT_TRUE(contains(error.what, "cluster|slots")) << error.what;
}

TEST_F(cluster_with_password, without_scripts_it_is_said_that_these_are_missing) {
    const auto error = failure_of(as_user({"+@all", "-eval", "-evalsha"}));
    EXPECT_EQ(error.code, errc::permission) << error.what;
    EXPECT_TRUE(contains(error.what, "eval")) << error.what;
}

TEST_F(cluster_with_password, a_user_that_may_lock_does) {
    expect_locks_of_each_shard(servers(), as_user({"+@all"}));
}

class cluster_tls : public testing::Test {
  protected:
    void SetUp() override {
        if (major_version() < 7) GTEST_SKIP() << "the map has the plain ports alone";
    }

    scratch_directory directory_{"tls"};
    certificate_authority authority_{directory_.path()};
    certificate_files good_ = authority_.issue_server("good", {"localhost", "127.0.0.1"});
    certificate_files of_servers_ = authority_.issue_client("of-servers");  // to each other
};

TEST_F(cluster_tls, is_spoken_to_all_servers_and_only_to_whom_is_trusted) {
    redis_cluster servers(redis_cluster_options{
        .configuration = {"tls-client-cert-file " + of_servers_.certificate.native(),
                          "tls-client-key-file " + of_servers_.key.native()},
        .tls = tls_files{
            .certificate = good_.certificate, .key = good_.key, .authority = authority_.file()}});
    auto settings = unguarded(servers.url());
    const auto unknown = failure_of(settings);
    EXPECT_EQ(unknown.code, errc::untrusted) << unknown.what;
    settings.tls.ca_file = authority_.file();
    settings.client_name = "encrypted";
    expect_locks_of_each_shard(servers, settings);
    client one(settings);
    const auto keys = key_in_each_shard(servers, "seen:");
    std::vector<lease> held;
    for (const auto& key : keys) held.push_back(one.acquire(key, with_ttl(5s)));
    for (std::size_t shard = 0; shard < keys.size(); ++shard) {
        for (const auto& each : connections_named(servers.master(shard), "encrypted")) {
            EXPECT_TRUE(
                each.at("laddr").ends_with(":" + std::to_string(servers.master(shard).tls_port())))
                << each.at("laddr");
        }
    }
}

}  // namespace
}  // namespace holdfast::test
