#include <thread>

#include "integration/library.hpp"
#include "support/lock_process.hpp"

namespace holdfast::test {
namespace {

class lock_timed : public testing::Test {
  protected:
    redis_server server_;
    client client_{server_.url()};
    client other_{server_.url()};
};

TEST_F(lock_timed, try_lock_for_gives_up_when_its_time_is_over) {
    const auto theirs = mutex(other_, "k").acquire();
    mutex mine(client_, "k");
    const stopwatch watch;
    EXPECT_FALSE(mine.try_lock_for(100ms));
    EXPECT_GE(watch.elapsed(), 100ms);
    EXPECT_LT(watch.elapsed(), 100ms + promptly);
}

TEST_F(lock_timed, try_lock_for_gets_a_lock_that_becomes_free_in_time) {
    auto theirs = mutex(other_, "k").acquire();
    std::thread later([&] {
        EXPECT_TRUE(eventually(surely, [&] { return client_.statistics().denied > 0; }));
        theirs.release();
    });
    mutex mine(client_, "k");
    EXPECT_TRUE(mine.try_lock_for(surely));
    later.join();
    mine.unlock();
}

TEST_F(lock_timed, giving_up_in_the_local_line_keeps_the_time_and_tells_who) {
    const auto theirs = mutex(client_, "k").acquire();
    const stopwatch watch;
    const auto mine = mutex(client_, "k").try_acquire_for(50ms);
    EXPECT_FALSE(mine);
    EXPECT_GE(watch.elapsed(), 50ms);
    EXPECT_LT(watch.elapsed(), 50ms + promptly);
    ASSERT_TRUE(mine.held_by().has_value());
    EXPECT_EQ(mine.held_by()->owner, theirs.owner());
    EXPECT_GT(mine.held_by()->remaining.value_or(0ms), 5s);
}

TEST_F(lock_timed, giving_up_after_waiting_tells_who_holds_it) {
    const auto theirs = mutex(other_, "k").acquire();
    const auto mine = mutex(client_, "k").try_acquire_for(50ms);
    ASSERT_TRUE(mine.held_by().has_value());
    EXPECT_EQ(mine.held_by()->owner, theirs.owner());
}

TEST_F(lock_timed, zero_and_negative_times_still_make_one_attempt) {
    mutex mine(client_, "k");
    EXPECT_TRUE(mine.try_lock_for(0ms));
    mine.unlock();
    EXPECT_TRUE(mine.try_lock_for(-1h));
    mine.unlock();
    EXPECT_TRUE(mine.try_lock_until(std::chrono::steady_clock::now() - 1h));
    mine.unlock();
    const auto theirs = mutex(other_, "k").acquire();
    EXPECT_FALSE(mine.try_lock_for(0ms));
}

TEST_F(lock_timed, until_works_with_every_clock) {
    const auto theirs = mutex(other_, "k").acquire();
    client_.connect();
    mutex mine(client_, "k");
    const stopwatch watch;
    EXPECT_FALSE(mine.try_lock_until(std::chrono::steady_clock::now() + 100ms));
    EXPECT_FALSE(mine.try_lock_until(std::chrono::system_clock::now() + 100ms));
    EXPECT_FALSE(mine.try_lock_until(clock::now() + 100ms));
    EXPECT_GE(watch.elapsed(), 295ms);
    EXPECT_LT(watch.elapsed(), 300ms + 3 * promptly);
}

TEST_F(lock_timed, until_needs_no_options) {
    mutex mine(client_, "k", with_ttl(40s));
    {
        const auto won = mine.try_acquire_until(clock::now() + surely);
        ASSERT_TRUE(won);
        EXPECT_GT(server_.pttl("k"), 35'000);
    }
    const auto theirs = mutex(other_, "k").acquire();
    const stopwatch watch;
    const auto lost = mine.try_acquire_until(std::chrono::steady_clock::now() + 50ms);
    EXPECT_GE(watch.elapsed(), 45ms);
    EXPECT_LT(watch.elapsed(), 50ms + promptly);
    ASSERT_TRUE(lost.held_by().has_value());
    EXPECT_EQ(lost.held_by()->owner, theirs.owner());
    std::stop_source source;
    source.request_stop();
    const auto stopped = [&] {
        (void)mine.try_acquire_until(clock::now() + surely, source.get_token());
    };
    EXPECT_EQ(error_of(stopped).code, errc::cancelled);
}

TEST_F(lock_timed, empty_braces_are_the_default_options) {
    mutex mine(client_, "k", with_ttl(5s));
    const auto has_the_default_ttl = [&](const lease& held) {
        EXPECT_GT(server_.pttl(held.key()), 25'000);
    };
    has_the_default_ttl(mine.acquire({}));
    has_the_default_ttl(*mine.try_acquire({}));
    has_the_default_ttl(*mine.try_acquire_for(surely, {}));
    has_the_default_ttl(*mine.try_acquire_until(clock::now() + surely, {}));
}

TEST_F(lock_timed, an_error_code_needs_no_options) {
    mutex mine(client_, "k", with_ttl(40s));
    const auto is_won = [&](const acquisition& won, const std::error_code& error) {
        EXPECT_FALSE(error);
        ASSERT_TRUE(won);
        EXPECT_GT(server_.pttl("k"), 35'000);
    };
    std::error_code error;
    is_won(mine.acquire(error), error);
    is_won(mine.try_acquire(error), error);
    is_won(mine.try_acquire_for(surely, error), error);
    is_won(mine.try_acquire_until(clock::now() + surely, error), error);
    server_.stop();
    EXPECT_FALSE(mine.try_acquire(error));
    EXPECT_EQ(error, errc::unreachable);
}

TEST_F(lock_timed, the_longest_times_that_the_types_can_say_do_not_overflow) {
    mutex mine(client_, "k");
    EXPECT_TRUE(mine.try_lock_for(std::chrono::hours::max()));
    mine.unlock();
    EXPECT_TRUE(mine.try_lock_for(std::chrono::nanoseconds::max()));
    mine.unlock();
    EXPECT_TRUE(mine.try_lock_for(std::chrono::hours::min()));
    mine.unlock();
    EXPECT_TRUE(mine.try_lock_for(std::chrono::duration<double>::max()));
    mine.unlock();
    EXPECT_TRUE(mine.try_lock_until(std::chrono::system_clock::time_point::max()));
    mine.unlock();
    EXPECT_TRUE(mine.try_lock_until(std::chrono::system_clock::time_point::min()));
    mine.unlock();
    EXPECT_TRUE(mine.try_lock_until(clock::time_point::max()));
    mine.unlock();
    EXPECT_TRUE(mine.try_acquire_for(std::chrono::hours::max()));
}

TEST_F(lock_timed, a_stop_token_ends_the_wait) {
    const auto theirs = mutex(other_, "k").acquire();
    std::stop_source source;
    std::thread later([&] {
        EXPECT_TRUE(eventually(surely, [&] { return client_.statistics().denied > 0; }));
        source.request_stop();
    });
    mutex mine(client_, "k");
    EXPECT_EQ(error_of([&] { (void)mine.acquire(source.get_token()); }).code, errc::cancelled);
    later.join();
    EXPECT_EQ(error_of([&] { (void)client_.acquire("k", {}, source.get_token()); }).code,
              errc::cancelled);
    std::error_code error;
    EXPECT_FALSE(mine.acquire({}, source.get_token(), error));
    EXPECT_EQ(error, errc::cancelled);
}

TEST_F(lock_timed, options_a_stop_token_and_an_error_code_may_each_be_left_out) {
    mutex mine(client_, "k");
    std::stop_source source;
    source.request_stop();
    const auto stop = source.get_token();
    const auto is_cancelled = [](const acquisition& none, const std::error_code& error) {
        return !none && error == errc::cancelled;
    };
    std::error_code error;
    EXPECT_TRUE(is_cancelled(mine.acquire(stop, error), error));
    EXPECT_TRUE(is_cancelled(mine.try_acquire_for(surely, stop, error), error));
    EXPECT_TRUE(is_cancelled(mine.try_acquire_until(clock::now() + surely, stop, error), error));
    EXPECT_TRUE(mine.acquire(with_ttl(5s), error)) << error.message();
    EXPECT_TRUE(mine.try_acquire_for(surely, with_ttl(5s), error)) << error.message();
    EXPECT_TRUE(mine.try_acquire_until(clock::now() + surely, with_ttl(5s), error));
}

TEST_F(lock_timed, a_client_waits_without_a_mutex) {
    auto theirs = other_.acquire("k");
    const stopwatch watch;
    const auto late = client_.try_acquire_for("k", 50ms);
    EXPECT_GE(watch.elapsed(), 50ms);
    ASSERT_TRUE(late.held_by().has_value());
    EXPECT_EQ(late.held_by()->owner, theirs.owner());
    EXPECT_FALSE(client_.try_acquire_until("k", std::chrono::steady_clock::now() + 50ms));
    std::stop_source source;
    source.request_stop();
    const auto stopped = [&] {
        (void)client_.try_acquire_for("k", surely, {}, source.get_token());
    };
    EXPECT_EQ(error_of(stopped).code, errc::cancelled);
    theirs.release();
    EXPECT_TRUE(client_.try_acquire_for("k", surely, with_ttl(5s)));
    EXPECT_TRUE(client_.try_acquire_until("k", clock::now() + surely, with_ttl(5s)));
}

TEST_F(lock_timed, a_stop_token_that_fired_before_leaves_nothing_behind) {
    std::stop_source source;
    source.request_stop();
    mutex mine(client_, "k");
    EXPECT_EQ(error_of([&] { (void)mine.acquire(source.get_token()); }).code, errc::cancelled);
    EXPECT_TRUE(eventually(promptly, [&] { return !server_.exists("k"); }));
}

TEST_F(lock_timed, giving_up_in_the_middle_of_the_line_lets_the_others_through) {
    auto theirs = mutex(other_, "k").acquire();
    std::stop_source source;
    std::thread first([&] {
        EXPECT_EQ(error_of([&] { (void)mutex(client_, "k").acquire(source.get_token()); }).code,
                  errc::cancelled);
    });
    EXPECT_TRUE(eventually(surely, [&] { return client_.statistics().denied > 0; }));
    std::thread second([&] { EXPECT_TRUE(mutex(client_, "k").try_acquire_for(surely)); });
    source.request_stop();
    first.join();
    theirs.release();
    second.join();
}

}  // namespace
}  // namespace holdfast::test
