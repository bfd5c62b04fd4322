#include <atomic>
#include <boost/asio/use_future.hpp>
#include <thread>

#include "holdfast/asio.hpp"
#include "integration/quorum.hpp"

namespace holdfast::test {
namespace {

/// Three servers, of which the last takes connections and says nothing. The first acquire of a
/// client waits for every server, for as long as for its vote, before it asks anybody to vote.
class first_acquire : public testing::Test {
  protected:
    first_acquire() {
        servers_.proxy(2).silence();
        settings_ = servers_.settings();
        settings_.node_timeout = node_timeout;
    }

    static constexpr milliseconds node_timeout = 600ms;
    /// As long as that, but for the rounding.
    static constexpr milliseconds waited = node_timeout - 1ms;

    quorum servers_{3};
    options settings_;
};

TEST_F(first_acquire, waits_a_node_timeout_for_a_silent_server_and_only_once) {
    client through(settings_);
    const stopwatch first;
    EXPECT_TRUE(mutex(through, "k").try_acquire());
    EXPECT_GE(first.elapsed(), waited) << "somebody voted before all were known";
    EXPECT_LT(first.elapsed(), node_timeout + promptly);
    const stopwatch second;
    EXPECT_TRUE(mutex(through, "l").try_acquire());
    EXPECT_LT(second.elapsed(), promptly);
}

TEST_F(first_acquire, does_not_wait_for_a_server_that_is_down) {
    servers_.proxy(2).heal();
    servers_.proxy(2).refuse(true);
    settings_.node_timeout = 20s;
    client through(settings_);
    const stopwatch watch;
    EXPECT_TRUE(mutex(through, "k").try_acquire());
    EXPECT_LT(watch.elapsed(), 10s);
}

// Who was reached before is known.
TEST_F(first_acquire, does_not_wait_where_every_server_was_tried_before) {
    settings_.connect_timeout = 300ms;
    settings_.node_timeout = 20s;
    client through(settings_);
    (void)inspect(through, "k");
    const stopwatch watch;
    EXPECT_TRUE(mutex(through, "k").try_acquire());
    EXPECT_LT(watch.elapsed(), 10s);
}

TEST_F(first_acquire, fails_for_none_of_those_who_ask_while_all_are_being_tried) {
    client through(settings_);
    std::vector<std::thread> callers;
    std::atomic<int> held = 0;
    for (int n = 0; n < 16; ++n) {
        callers.emplace_back([&, n] {
            std::this_thread::sleep_for(milliseconds(40 * n));
            if (mutex(through, "k" + std::to_string(n)).try_acquire()) ++held;
        });
    }
    for (auto& caller : callers) caller.join();
    EXPECT_EQ(held, 16);
}

// Its time runs from when it is asked for, and that is after the wait.
TEST_F(first_acquire, may_be_for_less_time_than_it_waits) {
    client through(settings_);
    EXPECT_TRUE(mutex(through, "k").try_acquire(with_ttl(node_timeout / 2)));
}

TEST_F(first_acquire, ends_when_its_caller_gives_up_and_names_who_is_silent) {
    settings_.node_timeout = 20s;
    client through(settings_);
    const stopwatch watch;
    const auto error = error_of([&] { (void)mutex(through, "k").try_acquire_for(300ms); });
    EXPECT_LT(watch.elapsed(), 300ms + promptly);
    EXPECT_EQ(error.code, errc::unreachable);
    EXPECT_TRUE(contains(error.what, servers_.names()[2] + ": no answer yet")) << error.what;
    EXPECT_TRUE(contains(error.what, servers_.names()[0] + ": not asked before")) << error.what;
    EXPECT_EQ(servers_.holders_of("k"), 0U);
}

TEST_F(first_acquire, that_was_given_up_does_not_let_the_next_wait_all_over) {
    client through(settings_);
    const stopwatch watch;
    EXPECT_EQ(error_of([&] { (void)mutex(through, "k").try_acquire_for(200ms); }).code,
              errc::unreachable);
    EXPECT_TRUE(mutex(through, "k").try_acquire());
    EXPECT_GE(watch.elapsed(), waited);
    EXPECT_LT(watch.elapsed(), node_timeout + promptly);
}

TEST_F(first_acquire, waits_in_the_background_for_an_asynchronous_caller) {
    client through(settings_);
    const stopwatch watch;
    mutex lock(through, "k");
    auto won = lock.async_acquire({}, boost::asio::use_future);
    EXPECT_TRUE(won.get());
    EXPECT_GE(watch.elapsed(), waited);
    EXPECT_LT(watch.elapsed(), node_timeout + promptly);
}

TEST_F(first_acquire, that_does_not_wait_is_ended_by_the_end_of_its_client) {
    settings_.node_timeout = 20s;
    std::optional<client> through(settings_);
    mutex lock(*through, "k");
    mutex another(*through, "l");
    auto soon = lock.async_try_acquire_for(0s, boost::asio::use_future);
    auto other = std::async(std::launch::async,
                            [&] { return error_of([&] { (void)another.try_acquire(); }).code; });
    std::this_thread::sleep_for(50ms);  // for the other thread to ask
    const stopwatch watch;
    through.reset();
    EXPECT_EQ(error_of([&] { (void)soon.get(); }).code, errc::closed);
    EXPECT_EQ(other.get(), errc::closed);
    EXPECT_LT(watch.elapsed(), 10s);
}

TEST_F(first_acquire, is_ended_by_the_end_of_its_client) {
    settings_.node_timeout = 20s;
    std::optional<client> through(settings_);
    mutex lock(*through, "k");
    auto won = lock.async_acquire({}, boost::asio::use_future);
    const stopwatch watch;
    through.reset();
    EXPECT_EQ(error_of([&] { (void)won.get(); }).code, errc::closed);
    EXPECT_LT(watch.elapsed(), 10s);
}

}  // namespace
}  // namespace holdfast::test
