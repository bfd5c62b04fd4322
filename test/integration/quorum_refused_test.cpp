#include "integration/quorum.hpp"

namespace holdfast::test {
namespace {

thrown_error refused(std::vector<std::string> urls) {
    return error_of([&] { client through(std::move(urls)); });
}

std::vector<std::string> urls(std::size_t count) {
    std::vector<std::string> result;
    for (std::size_t n = 0; n < count; ++n) {
        result.push_back("redis://127.0.0.1:" + std::to_string(1000 + n));
    }
    return result;
}

TEST(quorum_refused, an_even_number_of_servers) {
    for (const std::size_t count : {2U, 4U, 14U}) {
        const auto error = refused(urls(count));
        EXPECT_EQ(error.code, errc::invalid_option);
        EXPECT_TRUE(contains(error.what, "odd")) << error.what;
    }
}

TEST(quorum_refused, more_than_fifteen_servers) {
    EXPECT_EQ(refused(urls(15)).code, std::error_code{});
    EXPECT_EQ(refused(urls(17)).code, errc::invalid_option);
}

TEST(quorum_refused, an_endpoint_that_is_given_twice) {
    auto twice = urls(3);
    twice[2] = twice[0];
    const auto error = refused(twice);
    EXPECT_EQ(error.code, errc::invalid_option);
    EXPECT_TRUE(contains(error.what, "twice")) << error.what;
}

TEST(quorum_refused, urls_that_disagree_about_a_setting) {
    auto three = urls(3);
    three[0] += "?node_timeout=50ms";
    three[1] += "?node_timeout=60ms";
    const auto error = refused(three);
    EXPECT_EQ(error.code, errc::invalid_url);
    EXPECT_TRUE(contains(error.what, "node_timeout")) << error.what;
}

TEST(quorum_refused, settings_travel_in_the_url) {
    auto three = urls(3);
    three[0] += "?node_timeout=50ms&guard_time=100ms&restart_guard=off&max_ttl=20s&drift=20";
    const client through(three);
    EXPECT_EQ(through.settings().node_timeout, 50ms);
    EXPECT_EQ(through.settings().guard_time, 100ms);
    EXPECT_EQ(through.settings().restart_guard, false);
    EXPECT_EQ(through.settings().max_ttl, 20s);
    EXPECT_EQ(through.settings().drift_per_mille, 20U);
}

TEST(quorum_refused, the_restart_guard_is_on_by_default_for_a_quorum_only) {
    EXPECT_EQ(client(urls(3)).settings().restart_guard, true);
    EXPECT_EQ(client(urls(1)).settings().restart_guard, false);
}

// Two addresses, one server: its two votes would be one.
TEST(quorum_refused, two_urls_that_reach_the_same_server) {
    redis_server first;
    redis_server second;
    options settings;
    settings.urls = {first.url(), first.unix_url(), second.url()};
    client through(settings);
    ASSERT_NO_THROW(enlist(through, true));
    const auto error = error_of([&] { (void)mutex(through, "k").try_acquire(); });
    EXPECT_EQ(error.code, errc::unsafe_server);
    EXPECT_TRUE(contains(error.what, "same server")) << error.what;
}

TEST(quorum_refused, a_master_and_its_replica) {
    redis_server master;
    redis_server replica;
    redis_server third;
    replica.command({"REPLICAOF", "127.0.0.1", std::to_string(master.port())});
    ASSERT_TRUE(eventually(surely, [&] {
        return contains(replica.command({"INFO", "replication"}), "master_link_status:up");
    }));
    options settings;
    settings.urls = {master.url(), replica.url(), third.url()};
    settings.restart_guard = false;  // a replica cannot be enlisted; this is about its vote
    client through(settings);
    through.connect();
    const auto error = error_of([&] { (void)mutex(through, "k").try_acquire(); });
    EXPECT_EQ(error.code, errc::unsafe_server);
    EXPECT_TRUE(contains(error.what, "replicate")) << error.what;
}

}  // namespace
}  // namespace holdfast::test
