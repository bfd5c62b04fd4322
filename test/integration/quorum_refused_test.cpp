#include <future>
#include <utility>

#include "holdfast/asio.hpp"
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

/// As often as a new user might try: what is refused in time is refused always.
constexpr int many_times = 40;

/// What the first acquire of a new client says, which is the first that it asks of anybody.
thrown_error first_acquire(const std::vector<std::string>& urls) {
    client through(urls);
    return error_of([&] { (void)mutex(through, "k").try_acquire(); });
}

void expect_unsafe(const thrown_error& error, const std::string& because) {
    EXPECT_EQ(error.code, errc::unsafe_server) << error.what;
    EXPECT_TRUE(contains(error.what, because)) << error.what;
}

/// Two addresses, one server: its two votes would be one.
class one_server_twice : public testing::Test {
  protected:
    one_server_twice() {
        client through(urls_);
        (void)enlist(through, true);
    }

    redis_server first_;
    redis_server second_;
    std::vector<std::string> urls_ = {first_.url(), first_.unix_url(), second_.url()};
};

TEST_F(one_server_twice, is_refused_by_every_first_acquire) {
    for (int turn = 0; turn < many_times; ++turn)
        expect_unsafe(first_acquire(urls_), "same server");
}

TEST_F(one_server_twice, is_refused_by_every_first_acquire_that_waits_for_a_while) {
    for (int turn = 0; turn < many_times; ++turn) {
        client through(urls_);
        const auto error = error_of([&] { (void)mutex(through, "k").try_acquire_for(surely); });
        expect_unsafe(error, "same server");
    }
}

TEST_F(one_server_twice, is_refused_by_every_first_acquire_that_is_asynchronous) {
    for (int turn = 0; turn < many_times; ++turn) {
        client through(urls_);
        mutex lock(through, "k");
        // Looked at where it arrives: the thread sanitizer does not see how exceptions are counted.
        std::promise<thrown_error> ended;
        lock.async_acquire({}, [&](std::exception_ptr why, const acquisition&) {
            ended.set_value(error_of([&] {
                if (why) std::rethrow_exception(std::exchange(why, nullptr));
            }));
        });
        expect_unsafe(ended.get_future().get(), "same server");
    }
}

// What was seen of an address is true until it is seen to be another's.
TEST_F(one_server_twice, is_refused_while_one_of_its_addresses_cannot_be_reached) {
    fault_proxy another_way(first_.port());
    client through(std::vector{first_.url(), another_way.url(), second_.url()});
    const auto acquire = [&] { (void)mutex(through, "k").try_acquire(); };
    expect_unsafe(error_of(acquire), "same server");
    another_way.refuse(true);
    (void)first_.command({"CLIENT", "KILL", "TYPE", "normal"});
    ASSERT_TRUE(eventually(surely, [&] {
        (void)error_of(acquire);
        return through.statistics().connected == 4;
    }));
    const auto error = error_of(acquire);
    EXPECT_TRUE(contains(error.what, "same server")) << error.what;
}

TEST(quorum_refused, a_master_and_its_replica) {
    redis_server master;
    redis_server replica;
    redis_server third;
    for (const auto* each : {&master, &third}) {
        client through(std::vector{each->url()});
        ASSERT_NO_THROW((void)enlist(through, true));
    }
    replica.command({"REPLICAOF", "127.0.0.1", std::to_string(master.port())});
    ASSERT_TRUE(eventually(surely, [&] {
        return contains(replica.command({"INFO", "replication"}), "master_link_status:up");
    }));
    for (int turn = 0; turn < many_times; ++turn) {
        expect_unsafe(first_acquire({master.url(), replica.url(), third.url()}), "replicate");
        expect_unsafe(first_acquire({master.url(), third.url(), replica.url()}), "replicate");
    }
}

}  // namespace
}  // namespace holdfast::test
