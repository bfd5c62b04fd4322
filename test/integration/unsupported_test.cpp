#include "integration/library.hpp"
#include "integration/server_kinds.hpp"

/// Servers that speak the protocol and cannot keep locks. Each is refused when it is met, with what
/// it is and what to give instead; not with whatever it answers to the first script.
namespace holdfast::test {
namespace {

thrown_error failure_at(const std::string& url) {
    client through(settings_for(url));
    const stopwatch watch;
    auto error = error_of([&] { mutex(through, "k").lock(); });
    EXPECT_LT(watch.elapsed(), 2s * slowness) << "asking again changes nothing";
    return error;
}

TEST(unsupported, a_redis_that_is_too_old_is_refused_with_the_oldest_version) {
    const hostile_server server(old_redis("2.8.24"));
    const auto error = failure_at(server.url());
    EXPECT_EQ(error.code, errc::unsafe_server) << error.what;
    EXPECT_TRUE(contains(error.what,
                         "Redis 2.8.24 is too old; Holdfast needs Redis 6.0.6 or later, or Valkey"))
        << error.what;
}

TEST(unsupported, a_sentinel_is_called_one) {
    if (major_version() < 7) GTEST_SKIP() << "a sentinel has no users";
    redis_server master;
    redis_server sentinel(sentinel_of(master));
    const auto error = failure_at(sentinel.url());
    EXPECT_EQ(error.code, errc::unsafe_server) << error.what;
    EXPECT_TRUE(contains(error.what, "is a Sentinel")) << error.what;
    EXPECT_TRUE(contains(error.what, "write redis+sentinel://host:port/<master-name>"))
        << error.what;
}

TEST(unsupported, a_cluster_node_is_called_one_whatever_database_is_asked_for) {
    if (major_version() < 7) GTEST_SKIP() << "the bus port cannot be chosen";
    redis_server node{{.cluster = true}};
    for (const auto& url : {node.url(), node.url() + "/3"}) {
        const auto error = failure_at(url);
        EXPECT_EQ(error.code, errc::unsafe_server) << error.what;
        EXPECT_TRUE(contains(error.what, "is a node of a Redis Cluster")) << error.what;
    }
}

}  // namespace
}  // namespace holdfast::test
