#include <mutex>
#include <thread>

#include "integration/library.hpp"

namespace holdfast::test {
namespace {

class recursive : public testing::Test {
  protected:
    std::int64_t commands() const {
        const auto stats = server_.command({"INFO", "stats"});
        return std::stoll(stats.substr(stats.find("total_commands_processed:") + 25));
    }

    redis_server server_;
    client client_{server_.url()};
};

TEST_F(recursive, the_holding_thread_may_lock_again_and_gives_back_as_often) {
    recursive_mutex one(client_, "k");
    one.lock();
    one.lock();
    EXPECT_TRUE(one.try_lock());
    EXPECT_TRUE(one.try_lock_for(1ms));
    EXPECT_TRUE(one.try_lock_until(std::chrono::steady_clock::now()));
    EXPECT_EQ(one.depth(), 5U);
    for (std::size_t left = 4; left > 0; --left) {
        one.unlock();
        EXPECT_EQ(one.depth(), left);
        EXPECT_TRUE(server_.exists("k"));
    }
    one.unlock();
    EXPECT_EQ(one.depth(), 0U);
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(recursive, locking_again_costs_no_round_trip) {
    recursive_mutex one(client_, "k");
    one.lock();
    const auto before = commands();
    const auto cost_of_asking = commands() - before;
    const auto start = commands();
    for (int n = 0; n < 100; ++n) one.lock();
    for (int n = 0; n < 100; ++n) one.unlock();
    EXPECT_EQ(commands() - start, cost_of_asking);
    one.unlock();
}

TEST_F(recursive, other_threads_are_kept_out_until_the_last_unlock) {
    recursive_mutex one(client_, "k");
    one.lock();
    one.lock();
    const auto refused = [&] {
        std::thread([&] {
            EXPECT_EQ(one.depth(), 0U);
            EXPECT_FALSE(one.try_lock());
        }).join();
    };
    refused();
    one.unlock();
    refused();
    one.unlock();
    std::thread([&] {
        EXPECT_TRUE(one.try_lock());
        one.unlock();
    }).join();
}

TEST_F(recursive, works_with_the_standard_guards) {
    recursive_mutex one(client_, "k");
    recursive_mutex two(client_, "l");
    const std::scoped_lock outer(one, two);
    {
        const std::unique_lock<recursive_mutex> inner(one);
        EXPECT_EQ(one.depth(), 2U);
    }
    EXPECT_EQ(one.depth(), 1U);
    EXPECT_TRUE(server_.exists("k"));
}

TEST_F(recursive, unlocking_what_this_thread_does_not_hold_is_an_error) {
    recursive_mutex one(client_, "k");
    std::error_code error;
    one.unlock(error);
    EXPECT_EQ(error, errc::not_held);
    one.lock();
    std::thread([&] {
        std::error_code from_another;
        one.unlock(from_another);
        EXPECT_EQ(from_another, errc::not_held);
    }).join();
    EXPECT_EQ(one.depth(), 1U);
    EXPECT_TRUE(server_.exists("k"));
    one.unlock(error);
    EXPECT_FALSE(error);
}

TEST_F(recursive, the_error_code_overloads_report_failures) {
    auto settings = settings_for("redis://127.0.0.1:1");
    settings.patience = 0ms;
    client nowhere(settings);
    recursive_mutex one(nowhere, "k");
    std::error_code error;
    one.lock(error);
    EXPECT_EQ(error, errc::unreachable);
    EXPECT_FALSE(one.try_lock(error));
    EXPECT_EQ(error, errc::unreachable);
    EXPECT_FALSE(one.try_lock_for(10ms, error));
    EXPECT_EQ(error, errc::unreachable);
    EXPECT_EQ(one.depth(), 0U);
}

TEST_F(recursive, current_shows_whether_what_was_entered_again_is_still_valid) {
    recursive_mutex one(client_, "k", with_ttl(300ms));
    one.lock();
    server_.command({"DEL", "k"});
    EXPECT_TRUE(eventually(surely, [&] { return one.current()->lost(); }));
    one.lock();
    EXPECT_TRUE(one.current()->lost());
    one.unlock();
    one.unlock();
    one.lock();
    EXPECT_FALSE(one.current()->lost());
    one.unlock();
}

}  // namespace
}  // namespace holdfast::test
