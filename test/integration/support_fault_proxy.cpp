#include "support/fault_proxy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "support/eventually.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
using std::chrono::duration_cast;
using std::chrono::microseconds;
using testing::HasSubstr;

class support_fault_proxy : public testing::Test {
  protected:
    raw_client connect(std::chrono::milliseconds timeout = 5s) const {
        return raw_client::connect_tcp(proxy_.port(), timeout);
    }

    /// Round trips in rising order.
    static std::vector<microseconds> round_trips(raw_client& client, int count) {
        std::vector<microseconds> times;
        for (int i = 0; i < count; ++i) {
            const auto start = clock::now();
            client.command({"PING"});
            times.push_back(duration_cast<microseconds>(clock::now() - start));
        }
        std::sort(times.begin(), times.end());
        return times;
    }

    redis_server server_;
    fault_proxy proxy_{server_.port()};
};

TEST_F(support_fault_proxy, passes_everything_on) {
    raw_client client = connect();
    const std::string large(3'000'000, 'x');
    EXPECT_EQ(to_string(client.command({"SET", "key", large})), "OK");
    EXPECT_EQ(client.command({"GET", "key"}).text, large);
    EXPECT_EQ(server_.get("key"), large);

    const proxy_counters counters = proxy_.counters();
    EXPECT_EQ(counters.connections, 1U);
    EXPECT_EQ(counters.open, 1U);
    EXPECT_GT(counters.bytes_to_server, large.size());
    EXPECT_GT(counters.bytes_to_client, large.size());
}

TEST_F(support_fault_proxy, passes_on_the_end_of_a_connection_in_both_directions) {
    connect().command({"PING"});
    EXPECT_TRUE(eventually(5s, [&] { return proxy_.counters().open == 0; }));

    raw_client client = connect();
    EXPECT_EQ(client.command({"QUIT"}).text, "OK");
    EXPECT_THROW(client.read_reply(), std::runtime_error);
    EXPECT_TRUE(eventually(5s, [&] { return proxy_.counters().open == 1; }));
}

TEST_F(support_fault_proxy, delays_each_direction_by_the_time_asked) {
    raw_client client = connect();
    for (const direction which : {direction::to_server, direction::to_client}) {
        // Never too early; and the best of many is not late, though the machine may be busy.
        const auto exact = [&] {
            proxy_.delay(which, 0ms);
            const auto plain = round_trips(client, 50);
            proxy_.delay(which, 1ms);
            const auto delayed = round_trips(client, 50);
            std::cout << "round trip: plain " << plain[25].count() << " us, delayed by 1 ms "
                      << delayed[0].count() << " / " << delayed[25].count() << " / "
                      << delayed[47].count() << " us (minimum, median, 95%)\n";
            EXPECT_GE(delayed.front(), 1ms);
            return delayed.front() < 1ms + plain[25] + 200us;
        };
        EXPECT_TRUE(eventually(10s, exact));
        proxy_.heal();
    }
}

TEST_F(support_fault_proxy, adds_the_delays_of_both_directions) {
    raw_client client = connect();
    proxy_.delay(direction::to_server, 20ms);
    proxy_.delay(direction::to_client, 10ms);
    const auto delayed = round_trips(client, 5);
    EXPECT_GE(delayed.front(), 30ms);
    EXPECT_LT(delayed.front(), 40ms);
}

TEST_F(support_fault_proxy, jitter_spreads_the_delay_and_keeps_the_order) {
    raw_client client = connect();
    proxy_.delay(direction::to_client, 1ms, 4ms);
    const auto delayed = round_trips(client, 50);
    EXPECT_GE(delayed.front(), 1ms);
    EXPECT_GT(delayed.back() - delayed.front(), 1ms);
    for (int i = 0; i < 20; ++i) client.send({"ECHO", std::to_string(i)});
    for (int i = 0; i < 20; ++i) EXPECT_EQ(client.read_reply().text, std::to_string(i));
}

TEST_F(support_fault_proxy, a_server_that_is_not_heard_still_hears) {
    raw_client client = connect(100ms);
    client.command({"PING"});
    proxy_.silence(direction::to_client);
    client.send({"SET", "key", "value"});
    EXPECT_THROW(client.read_reply(), std::runtime_error);
    EXPECT_TRUE(eventually(5s, [&] { return server_.exists("key"); }));
    proxy_.heal();
    EXPECT_TRUE(eventually(5s, [&] { return client.read_reply().text == "OK"; }));
}

TEST_F(support_fault_proxy, a_server_that_is_not_spoken_to_hears_late_or_never) {
    raw_client late = connect(100ms);
    late.command({"PING"});
    proxy_.silence(direction::to_server);
    late.send({"SET", "late", "value"});
    EXPECT_THROW(late.read_reply(), std::runtime_error);
    EXPECT_FALSE(server_.exists("late"));
    proxy_.heal();
    EXPECT_TRUE(eventually(5s, [&] { return server_.exists("late"); }));

    raw_client never = connect(100ms);
    proxy_.silence();
    never.send({"SET", "never", "value"});
    EXPECT_THROW(never.read_reply(), std::runtime_error);
    proxy_.reset_connections();
    proxy_.heal();
    connect().command({"PING"});
    EXPECT_FALSE(server_.exists("never"));
}

std::string error_of_reading(raw_client& client) {
    try {
        return "read: " + to_string(client.read_reply());
    } catch (const std::runtime_error& error) {
        return error.what();
    }
}

TEST_F(support_fault_proxy, silence_hides_that_the_server_has_gone) {
    raw_client client = connect(100ms);
    client.command({"PING"});
    proxy_.silence(direction::to_client);
    server_.kill_hard();
    client.send({"PING"});
    EXPECT_THAT(error_of_reading(client), HasSubstr("no reply within"));
    proxy_.heal();
    EXPECT_THAT(error_of_reading(client), HasSubstr("closed the connection"));
    server_.start();
    EXPECT_EQ(to_string(connect().command({"PING"})), "PONG");
}

TEST_F(support_fault_proxy, silence_hides_that_the_client_has_gone) {
    const auto count_clients = [&] {
        const std::string list = server_.command({"CLIENT", "LIST", "TYPE", "normal"});
        return std::count(list.begin(), list.end(), '\n') - 1;  // one of them asks
    };
    {
        raw_client client = connect();
        client.command({"PING"});
        proxy_.silence(direction::to_server);
    }
    std::this_thread::sleep_for(50ms);  // time enough to be wrong
    EXPECT_EQ(count_clients(), 1);
    proxy_.heal();
    EXPECT_TRUE(eventually(5s, [&] { return count_clients() == 0; }));
}

TEST_F(support_fault_proxy, refuses_new_connections_and_keeps_old_ones) {
    raw_client old = connect();
    old.command({"PING"});
    proxy_.refuse(true);
    EXPECT_THROW(connect(), std::runtime_error);
    EXPECT_EQ(to_string(old.command({"PING"})), "PONG");
    proxy_.refuse(false);
    EXPECT_EQ(to_string(connect().command({"PING"})), "PONG");
}

TEST_F(support_fault_proxy, resets_all_connections) {
    raw_client one = connect(), two = connect();
    one.command({"PING"});
    proxy_.reset_connections();
    EXPECT_THAT(error_of_reading(one), HasSubstr("reset"));
    EXPECT_THAT(error_of_reading(two), HasSubstr("reset"));
    EXPECT_EQ(proxy_.counters().open, 0U);
    EXPECT_EQ(proxy_.counters().connections, 2U);
    EXPECT_EQ(to_string(connect().command({"PING"})), "PONG");
}

TEST_F(support_fault_proxy, splits_into_single_bytes) {
    raw_client client = connect();
    proxy_.split(true);
    const std::string value(2000, 'v');
    EXPECT_EQ(to_string(client.command({"SET", "key", value})), "OK");
    EXPECT_EQ(client.command({"GET", "key"}).text, value);
}

TEST_F(support_fault_proxy, cuts_a_reply_in_the_middle_once) {
    server_.command({"SET", "key", "0123456789"});
    raw_client client = connect();
    const std::size_t before = proxy_.counters().bytes_to_client;
    proxy_.cut_after(direction::to_client, 8);  // $10\r\n012
    EXPECT_THROW(client.command({"GET", "key"}), std::runtime_error);
    EXPECT_EQ(proxy_.counters().bytes_to_client - before, 8U);
    EXPECT_EQ(connect().command({"GET", "key"}).text, "0123456789");
}

TEST_F(support_fault_proxy, cuts_a_request_before_its_first_byte) {
    raw_client client = connect();
    proxy_.cut_after(direction::to_server, 0);
    EXPECT_THROW(client.command({"SET", "key", "value"}), std::runtime_error);
    EXPECT_EQ(proxy_.counters().bytes_to_server, 0U);
    EXPECT_FALSE(server_.exists("key"));
}

TEST_F(support_fault_proxy, a_client_of_a_server_that_is_down_is_reset) {
    server_.kill_hard();
    raw_client client = connect();
    EXPECT_THROW(client.read_reply(), std::runtime_error);
    EXPECT_TRUE(eventually(5s, [&] { return proxy_.counters().open == 0; }));
}

TEST_F(support_fault_proxy, settings_change_while_many_clients_talk) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&, key = std::to_string(i)] {
            raw_client client = connect();
            for (int n = 1; n <= 200; ++n) EXPECT_EQ(client.command({"INCR", key}).integer, n);
        });
    }
    for (int i = 0; i < 50; ++i) {
        proxy_.delay(direction::to_client, microseconds{i % 3 * 100}, 100us);
        proxy_.split(i % 2 == 0);
        proxy_.silence();
        proxy_.heal();
    }
    for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace holdfast::test
