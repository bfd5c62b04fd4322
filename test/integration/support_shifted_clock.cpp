#include "support/shifted_clock.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>

#include "support/eventually.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;

// Newer servers look at the clock once in a while, not at every command.
constexpr auto soon = 2s;

class support_shifted_clock : public testing::Test {
  protected:
    static seconds true_time() {
        return std::chrono::floor<seconds>(std::chrono::system_clock::now().time_since_epoch());
    }
    static seconds time_of(const redis_server& server) {
        return seconds{std::stoll(server.query({"TIME"}).elements.at(0).text)};
    }
    seconds server_ahead() const { return time_of(server_) - true_time(); }

    shifted_clock clock_;
    redis_server server_{{.environment = clock_.environment()}};
};

TEST_F(support_shifted_clock, is_true_at_first_and_jumps_while_the_server_runs) {
    EXPECT_LE(abs(server_ahead()), 2s);
    clock_.jump(1h);
    EXPECT_TRUE(eventually(soon, [&] { return abs(server_ahead() - 1h) <= 2s; }));
    clock_.jump(-3h);
    EXPECT_TRUE(eventually(soon, [&] { return abs(server_ahead() + 2h) <= 2s; }));
    EXPECT_EQ(clock_.offset(), -2h);
    clock_.set_offset(0s);
    EXPECT_TRUE(eventually(soon, [&] { return abs(server_ahead()) <= 2s; }));
}

TEST_F(support_shifted_clock, keys_expire_early_when_it_jumps_forward) {
    server_.command({"SET", "key", "value", "PX", "60000"});
    clock_.jump(40s);
    EXPECT_TRUE(server_.exists("key"));
    EXPECT_TRUE(eventually(soon, [&] { return server_.pttl("key") <= 20'000; }));
    clock_.jump(21s);
    EXPECT_TRUE(eventually(soon, [&] { return !server_.exists("key"); }));
}

TEST_F(support_shifted_clock, keys_expire_late_when_it_jumps_back) {
    server_.command({"SET", "key", "value", "PX", "500"});
    clock_.jump(-60s);
    EXPECT_FALSE(eventually(700ms, [&] { return !server_.exists("key"); }));
    EXPECT_GT(server_.pttl("key"), 50'000);
    clock_.jump(60s);
    EXPECT_TRUE(eventually(soon, [&] { return !server_.exists("key"); }));
}

TEST_F(support_shifted_clock, is_shared_by_all_who_were_given_it) {
    redis_server other{{.environment = clock_.environment()}};
    clock_.jump(10h);
    EXPECT_TRUE(eventually(soon, [&] { return time_of(other) - true_time() > 9h; }));
    EXPECT_TRUE(eventually(soon, [&] { return server_ahead() > 9h; }));
}

std::chrono::nanoseconds read_clock(decltype(&::clock_gettime) reader, clockid_t which) {
    timespec time{};
    EXPECT_EQ(reader(which, &time), 0);
    return seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

TEST_F(support_shifted_clock, moves_the_wall_clock_and_no_other) {
    const auto variables = clock_.environment();
    ::setenv("HOLDFAST_CLOCK_SHIM", variables.at("HOLDFAST_CLOCK_SHIM").c_str(), 1);
    void* shim = ::dlopen(variables.at("LD_PRELOAD").c_str(), RTLD_NOW | RTLD_LOCAL);
    ::unsetenv("HOLDFAST_CLOCK_SHIM");
    ASSERT_NE(shim, nullptr) << ::dlerror();
    const auto shifted =
        reinterpret_cast<decltype(&::clock_gettime)>(::dlsym(shim, "clock_gettime"));
    clock_.set_offset(-1h);
    for (const clockid_t which : {CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_MONOTONIC_RAW})
        EXPECT_LE(abs(read_clock(shifted, which) - read_clock(&::clock_gettime, which)), 10s);
    for (const clockid_t which : {CLOCK_REALTIME, CLOCK_REALTIME_COARSE})
        EXPECT_LE(abs(read_clock(shifted, which) - read_clock(&::clock_gettime, which) + 1h), 10s);
    ::dlclose(shim);
}

}  // namespace
}  // namespace holdfast::test
