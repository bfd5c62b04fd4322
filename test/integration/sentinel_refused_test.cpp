#include "integration/fake_redis.hpp"
#include "integration/library.hpp"
#include "integration/server_kinds.hpp"
#include "support/sentinel_group.hpp"

// Sentinels that are wrong, or wrongly spoken to: each gets an error that says what to change.

namespace holdfast::test {
namespace {

thrown_error failure_of(const std::string& url, milliseconds patience = 0ms) {
    auto settings = settings_for(url);
    settings.patience = patience;
    client through(settings);
    return error_of([&] { mutex(through, "k").lock(); });
}

std::string address_of(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

TEST(sentinel_refused, a_replica_that_one_names_is_never_asked_for_a_vote) {
    redis_server master;
    redis_server replica{{.configuration = {"repl-diskless-sync-delay 0"}}};
    replica.command({"REPLICAOF", "127.0.0.1", std::to_string(master.port())});
    const hostile_server liar(sentinel_naming(replica.port()));
    const hostile_server honest(sentinel_naming(master.port()));
    const auto only = "redis+sentinel://" + address_of(liar.port()) + "/main";
    const auto error = failure_of(only, 500ms);
    EXPECT_EQ(error.code, errc::unsafe_server) << error.what;
    EXPECT_TRUE(
        contains(error.what, "main at " + address_of(replica.port()) +
                                 ": is a replica, though a Sentinel named it as the master"))
        << error.what;
    auto settings = settings_for("redis+sentinel://" + address_of(liar.port()) + "," +
                                 address_of(honest.port()) + "/main");
    settings.restart_guard = false;
    client through(settings);
    mutex key(through, "k");
    key.lock();
    EXPECT_TRUE(master.exists("k"));
    key.unlock();
}

TEST(sentinel_refused, a_dead_server_that_one_names_is_looked_for_at_another) {
    redis_server master;
    const port_reservation nobody;
    const hostile_server liar(sentinel_naming(nobody.port()));
    const hostile_server honest(sentinel_naming(master.port()));
    auto settings = settings_for("redis+sentinel://" + address_of(liar.port()) + "," +
                                 address_of(honest.port()) + "/main");
    settings.restart_guard = false;
    settings.replica_acks = replicas::none();  // it has none, whatever is said of it
    client through(settings);
    mutex key(through, "k");
    const stopwatch watch;
    key.lock();
    EXPECT_LT(watch.elapsed(), 1s * slowness);
    key.unlock();
}

TEST(sentinel_refused, hostile_sentinels_end_in_an_error_that_names_them) {
    const hostile_server garbage(hostile::garbage());
    const hostile_server web(hostile::web_server());
    const hostile_server closes(hostile::closes_at_once());
    const auto error =
        failure_of("redis+sentinel://" + address_of(garbage.port()) + "," + address_of(web.port()) +
                   "," + address_of(closes.port()) + "/main");
    ASSERT_TRUE(error.code) << "somebody was believed";
    for (const auto port : {garbage.port(), web.port(), closes.port()}) {
        EXPECT_TRUE(contains(error.what, address_of(port) + ": ")) << error.what;
    }
}

TEST(sentinel_refused, one_that_watches_another_master_says_which) {
    if (major_version() < 7) GTEST_SKIP() << "a sentinel has no users";
    redis_server master;
    redis_server sentinel(sentinel_of(master));
    const auto error =
        failure_of("redis+sentinel://" + address_of(sentinel.port()) + "/mymaster", surely);
    EXPECT_EQ(error.code, errc::unreachable) << error.what;
    EXPECT_TRUE(contains(error.what, address_of(sentinel.port()) +
                                         ": knows no master called 'mymaster' (it watches 'main')"))
        << error.what;
}

TEST(sentinel_refused, a_server_given_as_a_sentinel_is_called_one) {
    redis_server server;
    const auto error =
        failure_of("redis+sentinel://" + address_of(server.port()) + "/main", surely);
    EXPECT_TRUE(contains(error.what, "is no Sentinel but a server")) << error.what;
}

class sentinel_with_passwords : public testing::Test {
  protected:
    void SetUp() override {
        if (major_version() < 7) GTEST_SKIP() << "a sentinel has no users";
        group_ = std::make_unique<sentinel_group>(
            sentinel_group_options{.replicas = 1,
                                   .sentinels = 1,
                                   .servers = {.password = "of-the-servers"},
                                   .sentinel_password = "of-the-sentinels"});
    }

    [[nodiscard]] std::string url(const std::string& password, const std::string& query) const {
        auto result = group_->url();
        result.insert(result.find("://") + 3, ":" + password + "@");
        return result + "?" + query;
    }

    std::unique_ptr<sentinel_group> group_;
};

TEST_F(sentinel_with_passwords, both_are_needed_and_both_are_given_in_the_url) {
    auto settings = settings_for(url("of-the-servers", "sentinel_password=of-the-sentinels"));
    settings.restart_guard = false;
    client through(settings);
    EXPECT_TRUE(mutex(through, "k").try_acquire());
}

TEST_F(sentinel_with_passwords, a_wrong_one_of_either_is_said_to_be_that_and_is_never_shown) {
    const auto server = failure_of(url("hunter2", "sentinel_password=of-the-sentinels"), surely);
    EXPECT_EQ(server.code, errc::authentication) << server.what;
    EXPECT_TRUE(contains(server.what, "main at 127.0.0.1:")) << server.what;
    const auto sentinel = failure_of(url("of-the-servers", "sentinel_password=hunter2"), surely);
    EXPECT_EQ(sentinel.code, errc::authentication) << sentinel.what;
    EXPECT_TRUE(contains(sentinel.what, "no Sentinel names the master")) << sentinel.what;
    const auto none = failure_of(url("of-the-servers", "db=0"), surely);
    EXPECT_EQ(none.code, errc::authentication) << none.what;
    for (const auto& each : {server, sentinel, none}) {
        EXPECT_FALSE(contains(each.what, "hunter2")) << each.what;
        EXPECT_FALSE(contains(each.what, "of-the-")) << each.what;
    }
}

}  // namespace
}  // namespace holdfast::test
