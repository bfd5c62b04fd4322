#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <boost/system/system_error.hpp>
#include <boost/throw_exception.hpp>
#include <deque>
#include <fstream>
#include <thread>

#include "integration/client_list.hpp"
#include "integration/fake_redis.hpp"
#include "integration/library.hpp"
#include "support/fault_proxy.hpp"
#include "support/file_descriptor.hpp"

/// How the library reaches a server and introduces itself.
namespace holdfast::test {
namespace {

void expect_locks(const options& settings) {
    client through(settings);
    mutex one(through, "k");
    EXPECT_TRUE(one.try_lock());
    EXPECT_FALSE(mutex(through, "k").try_acquire());
    one.unlock();
}

/// What a single attempt throws.
thrown_error failure_of(const options& settings) {
    client through(settings);
    return error_of([&] { (void)mutex(through, "k").try_acquire(); });
}

/// The version of the protocol. Redis 6 does not tell: the expected one then.
std::string version_of(const std::map<std::string, std::string>& connection,
                       const std::string& expected) {
    const auto told = connection.find("resp");
    return told == connection.end() ? expected : told->second;
}

TEST(connection, uses_version_3_and_gives_itself_a_name) {
    const redis_server server;
    client through(server.url());
    through.connect();
    const auto found = connections_named(server, "holdfast");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(version_of(found[0], "3"), "3");
    EXPECT_TRUE(contains(found[0].at("flags"), "t")) << "tracking";
}

TEST(connection, takes_the_name_that_it_is_given) {
    const redis_server server;
    auto settings = settings_for(server.url());
    settings.client_name = "billing";
    client through(settings);
    through.connect();
    EXPECT_EQ(connections_named(server, "billing").size(), 1U);
    EXPECT_EQ(connections_named(server, "holdfast").size(), 0U);
}

TEST(connection, falls_back_to_version_2_where_hello_is_unknown) {
    const redis_server server({.configuration = {"rename-command HELLO \"\""}});
    client through(server.url());
    client other(server.url());
    auto theirs = mutex(other, "k").acquire();
    const auto found = connections_named(server, "holdfast");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(version_of(found[0], "2"), "2");
    std::thread waiter([&] { EXPECT_TRUE(mutex(through, "k").try_acquire_for(surely)); });
    EXPECT_TRUE(eventually(surely, [&] { return through.statistics().denied > 3; })) << "polls";
    theirs.release();
    waiter.join();
}

TEST(connection, falls_back_to_version_2_where_version_3_is_refused) {
    const hostile_server server(fake_redis([](std::string_view command) -> std::string {
        return asks(command, "3") ? "*2\r\n:1\r\n:7\r\n" : ":1\r\n";  // acquire has three keys
    }));
    client through(server.url());
    auto held = mutex(through, "k").acquire();
    EXPECT_EQ(held.token(), 7U);
    EXPECT_EQ(held.release(), release_result::released);
}

TEST(connection, authenticates_with_the_password_of_the_url_or_the_options) {
    const redis_server server({.password = "s3cret"});
    expect_locks(settings_for("redis://:s3cret@127.0.0.1:" + std::to_string(server.port())));
    auto settings = settings_for(server.url());
    settings.password = "s3cret";
    expect_locks(settings);
}

TEST(connection, authenticates_as_a_user) {
    const redis_server server;
    server.command({"ACL", "SETUSER", "alice", "on", ">pa ss/w@rd", "~*", "+@all"});
    expect_locks(
        settings_for("redis://alice:pa%20ss%2Fw%40rd@127.0.0.1:" + std::to_string(server.port())));
    auto settings = settings_for(server.url());
    settings.user = "alice";
    settings.password = "pa ss/w@rd";
    expect_locks(settings);
}

TEST(connection, authenticates_without_hello_too) {
    const redis_server server(
        {.configuration = {"rename-command HELLO \"\""}, .password = "s3cret"});
    expect_locks(settings_for("redis://:s3cret@127.0.0.1:" + std::to_string(server.port())));
    server.command({"ACL", "SETUSER", "alice", "on", ">pw", "~*", "+@all"});
    expect_locks(settings_for("redis://alice:pw@127.0.0.1:" + std::to_string(server.port())));
    const auto error =
        failure_of(settings_for("redis://:wrong-one@127.0.0.1:" + std::to_string(server.port())));
    EXPECT_EQ(error.code, errc::authentication);
    EXPECT_FALSE(contains(error.what, "wrong-one")) << error.what;
}

TEST(connection, a_wrong_or_missing_password_is_an_error_at_once_that_names_the_node) {
    const redis_server server({.password = "s3cret"});
    const auto port = std::to_string(server.port());
    for (const auto& url : {"redis://127.0.0.1:" + port, "redis://:wrong-one@127.0.0.1:" + port,
                            "redis://bob:wrong-one@127.0.0.1:" + port}) {
        client through(settings_for(url));
        const stopwatch watch;
        const auto error = error_of([&] { mutex(through, "k").lock(); });
        EXPECT_LT(watch.elapsed(), 1s * slowness) << "asking again changes nothing";
        EXPECT_EQ(error.code, errc::authentication) << error.what;
        EXPECT_TRUE(contains(error.what, "127.0.0.1:" + port)) << error.what;
        EXPECT_FALSE(contains(error.what, "wrong-one")) << error.what;
    }
}

TEST(connection, a_password_is_not_shown_even_if_the_server_repeats_it) {
    const hostile_server server(
        hostile::always("-ERR unknown command `AUTH`, with args beginning with: `hunter2`, \r\n"));
    const auto error =
        failure_of(settings_for("redis://:hunter2@127.0.0.1:" + std::to_string(server.port())));
    EXPECT_TRUE(error.code);
    EXPECT_FALSE(contains(error.what, "hunter2")) << error.what;
}

TEST(connection, selects_the_database_of_the_url) {
    const redis_server server;
    client through(server.url() + "/3");
    const auto held = mutex(through, "k").acquire();
    auto plain = raw_client::connect_tcp(server.port());
    EXPECT_EQ(plain.command({"EXISTS", "k"}).integer, 0);
    plain.command({"SELECT", "3"});
    EXPECT_EQ(plain.command({"EXISTS", "k"}).integer, 1);
    client elsewhere(server.url());
    EXPECT_TRUE(mutex(elsewhere, "k").try_acquire());
}

TEST(connection, a_database_that_does_not_exist_is_an_error) {
    const redis_server server;
    const auto error = failure_of(settings_for(server.url() + "/99"));
    EXPECT_EQ(error.code, errc::server_error);
    EXPECT_TRUE(contains(error.what, "DB index")) << error.what;
}

TEST(connection, works_over_a_unix_socket) {
    const redis_server server;
    expect_locks(settings_for(server.unix_url()));
    const auto error = failure_of(settings_for("unix:///nowhere/redis.sock"));
    EXPECT_EQ(error.code, errc::unreachable);
    EXPECT_TRUE(contains(error.what, "unix:/nowhere/redis.sock")) << error.what;
}

TEST(connection, resolves_names) {
    const redis_server server;
    expect_locks(settings_for("redis://localhost:" + std::to_string(server.port())));
    const auto error = failure_of(settings_for("redis://no-such-host.invalid:6379"));
    EXPECT_EQ(error.code, errc::unreachable);
    EXPECT_TRUE(contains(error.what, "no-such-host.invalid:6379")) << error.what;
}

TEST(connection, a_refused_connection_says_where) {
    const port_reservation nobody;
    const auto name = "127.0.0.1:" + std::to_string(nobody.port());
    auto settings = settings_for("redis://" + name);
    const auto error = failure_of(settings);
    EXPECT_EQ(error.code, errc::unreachable);
    EXPECT_TRUE(contains(error.what, name)) << error.what;
    EXPECT_TRUE(contains(error.what, "refused")) << error.what;
    client through(settings);
    EXPECT_EQ(error_of([&] { through.connect(); }).code, errc::unreachable);
}

TEST(connection, a_waiting_lock_is_patient_with_a_server_that_is_down) {
    const port_reservation nobody;
    auto settings = settings_for("redis://127.0.0.1:" + std::to_string(nobody.port()));
    settings.patience = 300ms;
    client through(settings);
    const stopwatch watch;
    EXPECT_EQ(error_of([&] { mutex(through, "k").lock(); }).code, errc::unreachable);
    EXPECT_GE(watch.elapsed(), 300ms);
    EXPECT_LT(watch.elapsed(), 300ms + promptly);
}

TEST(connection, is_shared_by_all_threads) {
    const redis_server server;
    client through(server.url());
    std::vector<std::thread> workers;
    for (int n = 0; n < 8; ++n) {
        workers.emplace_back([&, n] {
            for (int round = 0; round < 20; ++round) {
                const auto held = mutex(through, std::to_string(n)).acquire();
            }
        });
    }
    for (auto& worker : workers) worker.join();
    EXPECT_EQ(connections_named(server, "holdfast").size(), 1U);
    EXPECT_EQ(through.statistics().connected, 1U);
}

TEST(connection, a_request_past_its_deadline_does_not_break_it) {
    const redis_server server;
    fault_proxy network(server.port());
    auto settings = settings_for(network.url());
    settings.node_timeout = 100ms * slowness;
    client through(settings);
    through.connect();
    network.delay(direction::to_client, 150ms * slowness);
    const auto error = error_of([&] { (void)mutex(through, "k").try_acquire(); });
    EXPECT_EQ(error.code, errc::unreachable);
    EXPECT_TRUE(contains(error.what, "no answer in time")) << error.what;
    network.heal();
    EXPECT_TRUE(mutex(through, "other").try_acquire_for(surely));
    EXPECT_EQ(through.statistics().connected, 1U);
    EXPECT_TRUE(eventually(surely, [&] { return !server.exists("k"); })) << "cleaned up";
}

TEST(connection, is_given_up_when_the_server_stays_silent) {
    const redis_server server;
    fault_proxy network(server.port());
    auto settings = settings_for(network.url());
    settings.node_timeout = 50ms * slowness;
    client through(settings);
    through.connect();
    network.silence();
    EXPECT_EQ(error_of([&] { (void)mutex(through, "k").try_acquire(); }).code, errc::unreachable);
    EXPECT_TRUE(eventually(surely, [&] { return network.counters().connections > 1; }));
    network.heal();
    EXPECT_TRUE(mutex(through, "k").try_acquire_for(surely));
}

TEST(connection, takes_no_longer_to_fail_than_the_connect_timeout) {
    const redis_server server;
    fault_proxy network(server.port());
    network.silence();
    auto settings = settings_for(network.url());
    settings.connect_timeout = 100ms;
    client through(settings);
    const stopwatch watch;
    const auto error = error_of([&] { through.connect(); });
    EXPECT_EQ(error.code, errc::unreachable) << error.what;
    EXPECT_GE(watch.elapsed(), 100ms);
    EXPECT_LT(watch.elapsed(), 100ms + promptly);
}

TEST(connection, a_request_times_out_in_time_behind_one_that_waited_for_the_connection) {
    const hostile_server server(fake_redis(std::string{}));  // greets, and says no more
    auto settings = settings_for(server.url());
    settings.connect_timeout = surely;
    settings.node_timeout = 500ms * slowness;
    client through(settings);
    std::thread first([&] { (void)error_of([&] { (void)mutex(through, "a").try_acquire(); }); });
    EXPECT_TRUE(eventually(surely, [&] { return contains(server.received(), "EVALSHA"); }));
    const stopwatch watch;
    EXPECT_EQ(error_of([&] { (void)mutex(through, "b").try_acquire(); }).code, errc::unreachable);
    record("until_it_failed", watch.elapsed());
    EXPECT_LT(watch.elapsed(), 1000ms * slowness) << "a silent connection ends after 1500";
    first.join();
}

// The first request is given the time to connect as well, and one server after the other is silent.
TEST(connection, a_request_of_a_quorum_times_out_in_time_behind_one_that_waited_for_connections) {
    constexpr auto own_time = 200ms * slowness;
    std::deque<hostile_server> servers;
    std::deque<fault_proxy> networks;
    options settings;
    for (int n = 0; n < 3; ++n) {
        servers.emplace_back(fake_redis(std::string{}));  // greets, and says no more
        networks.emplace_back(servers.back().port());
        networks.back().delay(direction::to_client, own_time);  // the membership check ends before
        settings.urls.push_back(networks.back().url());
    }
    settings.restart_guard = false;
    settings.connect_timeout = surely;
    settings.node_timeout = own_time;
    client through(settings);
    std::thread first([&] { (void)error_of([&] { (void)mutex(through, "a").try_acquire(); }); });
    for (const auto& server : servers) {
        EXPECT_TRUE(eventually(surely, [&] { return contains(server.received(), "EVALSHA"); }));
    }
    const stopwatch watch;
    EXPECT_EQ(error_of([&] { (void)mutex(through, "b").try_acquire(); }).code, errc::unreachable);
    const auto elapsed = watch.elapsed();
    record("until_it_failed", elapsed);
    EXPECT_GE(elapsed, own_time) << "it was not asked at all";
    EXPECT_LT(elapsed, 2 * own_time) << "silent connections end after three times as long";
    first.join();
}

TEST(connection, a_request_that_is_repeated_with_its_script_keeps_its_deadline) {
    const hostile_server server(fake_redis([](std::string_view command) -> std::string {
        if (asks(command, "PING")) return "+PONG\r\n";
        return asks(command, "EVALSHA") ? "-NOSCRIPT No matching script.\r\n" : "";
    }));
    fault_proxy network(server.port());
    auto settings = settings_for(network.url());
    settings.node_timeout = 500ms * slowness;
    client through(settings);
    through.connect();
    network.delay(direction::to_client, settings.node_timeout * 3 / 5);
    const stopwatch watch;
    EXPECT_EQ(error_of([&] { (void)mutex(through, "k").try_acquire(); }).code, errc::unreachable);
    const auto elapsed = watch.elapsed();
    record("until_it_failed", elapsed);
    EXPECT_TRUE(asks(server.received(), "EVAL")) << "it was not repeated";
    EXPECT_GE(elapsed, settings.node_timeout);
    EXPECT_LT(elapsed, settings.node_timeout * 3 / 2) << "it was given its time once more";
}

TEST(connection, is_made_again_with_growing_pauses) {
    const hostile_server server(hostile::closes_at_once());
    client through(server.url());
    EXPECT_EQ(error_of([&] { through.connect(); }).code, errc::unreachable);
    EXPECT_TRUE(eventually(surely, [&] { return server.connections() >= 3; }));
    std::this_thread::sleep_for(1s);
    EXPECT_LE(server.connections(), 12U) << "20 ms, 40, 80, 160, ... in a second";
}

TEST(connection, works_when_every_byte_comes_alone) {
    const redis_server server;
    fault_proxy network(server.port());
    network.split(true);
    auto settings = settings_for(network.url());
    settings.connect_timeout = 5s * slowness;  // the scripts of all kinds are loaded, byte by byte
    client through(settings);
    for (int round = 0; round < 5; ++round) {
        auto held = mutex(through, "k").acquire();
        EXPECT_EQ(held.release(), release_result::released);
    }
}

/// While it lives this process can open no more than so many descriptors.
class few_descriptors {
  public:
    explicit few_descriptors(std::size_t left) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        rlimit few = before_;
        few.rlim_cur = 200;
        ::setrlimit(RLIMIT_NOFILE, &few);
        for (file_descriptor one(::dup(0)); one; one = file_descriptor(::dup(0))) {
            taken_.push_back(std::move(one));
        }
        taken_.resize(taken_.size() - left);
    }
    ~few_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    few_descriptors(const few_descriptors&) = delete;
    few_descriptors& operator=(const few_descriptors&) = delete;

  private:
    rlimit before_{};
    std::vector<file_descriptor> taken_;
};

TEST(connection, without_file_descriptors_fails_and_recovers) {
    // The sanitizers need a descriptor to look at the first object of a type: let them look now.
    const auto at_first = error_of([] {
        client nobody("redis://127.0.0.1:1");
        (void)mutex(nobody, "k").try_acquire();
    });
    ASSERT_EQ(at_first.code, errc::unreachable);
    const redis_server server;
    client through(server.url());
    {
        const few_descriptors none(0);
        const auto error = error_of([&] { (void)mutex(through, "k").try_acquire(); });
        EXPECT_EQ(error.code, errc::unreachable);
        EXPECT_TRUE(contains(error.what, "Too many open files")) << error.what;
    }
    EXPECT_TRUE(mutex(through, "k").try_acquire_for(surely));
}

// The sanitizers need descriptors to look at the first object of a type: so it is fewer and fewer,
// and errors of Boost's are thrown before.
TEST(connection, a_client_that_cannot_be_made_for_want_of_descriptors_says_so) {
    client("redis://127.0.0.1:1");
    try {
        boost::throw_exception(boost::system::system_error(boost::system::error_code()));
    } catch (const boost::system::system_error& looked_at) {
        EXPECT_FALSE(looked_at.code());
    }
    int made = 0;
    int refused = 0;
    for (std::size_t left = 13; left-- > 0;) {
        const few_descriptors few(left);
        try {
            client("redis://127.0.0.1:1");
            ++made;
        } catch (const std::system_error& failed) {
            ++refused;
            EXPECT_EQ(failed.code(), std::errc::too_many_files_open) << failed.what();
        }
    }
    EXPECT_GT(made, 0);
    EXPECT_GT(refused, 1);
}

TEST(connection, is_not_inherited_by_programs_that_are_executed) {
    const redis_server server;
    client through(server.url());
    through.connect();
    int without = 0;
    for (int number = 3; number < 256; ++number) {
        const int flags = ::fcntl(number, F_GETFD);
        sockaddr_storage peer{};
        socklen_t size = sizeof peer;
        const bool connected =
            flags >= 0 && ::getpeername(number, reinterpret_cast<sockaddr*>(&peer), &size) == 0;
        if (connected && (flags & FD_CLOEXEC) == 0) ++without;
    }
    EXPECT_EQ(without, 0);
}

}  // namespace
}  // namespace holdfast::test
