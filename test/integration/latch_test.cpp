#include <atomic>
#include <boost/asio/use_future.hpp>
#include <future>
#include <thread>

#include "holdfast/asio.hpp"
#include "holdfast/operate.hpp"
#include "integration/quorum.hpp"
#include "support/fault_proxy.hpp"
#include "support/lock_process.hpp"

/// Counted down by many, waited for by many, on one real server.
namespace holdfast::test {
namespace {

constexpr auto beside_k = "holdfast:{k}:latch";

class latches : public testing::Test {
  protected:
    /// Waits in a thread of its own, and is known to wait when this returns.
    static std::future<thrown_error> waits_for(latch& which) {
        auto waiting =
            std::async(std::launch::async, [&which] { return error_of([&] { which.wait(); }); });
        EXPECT_EQ(waiting.wait_for(100ms), std::future_status::timeout);
        return waiting;
    }

    redis_server server_;
    client client_{server_.url()};
    client other_{server_.url()};
    latch here_{client_, "k", 3};
    latch there_{other_, "k", 3};
};

TEST_F(latches, open_when_all_have_counted_down_and_stay_open) {
    EXPECT_FALSE(here_.try_wait());
    here_.count_down();
    there_.count_down();
    EXPECT_FALSE(here_.try_wait());
    EXPECT_FALSE(there_.try_wait());
    here_.count_down();
    EXPECT_TRUE(here_.try_wait());
    EXPECT_TRUE(there_.try_wait());
    there_.wait();
    there_.count_down();
    EXPECT_TRUE(here_.try_wait());
}

TEST_F(latches, tell_all_who_wait_at_once) {
    auto one = waits_for(here_);
    auto two = waits_for(there_);
    here_.count_down();
    there_.count_down();
    EXPECT_EQ(one.wait_for(50ms), std::future_status::timeout);
    const stopwatch since;
    there_.count_down();
    EXPECT_FALSE(one.get().code);
    EXPECT_FALSE(two.get().code) << "of the client that opened it";
    EXPECT_LT(since.elapsed(), promptly);
}

TEST_F(latches, that_were_made_to_stay_tell_those_who_wait) {
    latch one(client_, "one", 1);
    EXPECT_FALSE(one.try_wait());
    auto waiting = waits_for(one);
    server_.command({"PERSIST", "one"});
    const auto before = clock::now();
    latch(other_, "one", 1).count_down();
    EXPECT_FALSE(waiting.get().code);
    EXPECT_LT(clock::now() - before, promptly);
}

TEST_F(latches, who_waits_asks_for_nothing_while_others_count_down) {
    latch large(client_, "k", 50);
    latch other(other_, "k", 50);
    const auto scripts = [&] { return quorum::commands_of(server_, "eval"); };
    EXPECT_FALSE(other.try_wait());
    auto waiting = waits_for(large);
    const auto before = scripts();
    for (int n = 0; n < 49; ++n) other.count_down();
    EXPECT_EQ(scripts(), before + 49);
    other.count_down();
    EXPECT_FALSE(waiting.get().code);
    EXPECT_EQ(scripts(), before + 51) << "and one look when it was told";
}

TEST_F(latches, a_participant_counts_once_however_often_and_wherever) {
    here_.count_down("shard-1");
    here_.count_down("shard-1");
    there_.count_down("shard-1");
    here_.count_down("shard-2");
    EXPECT_FALSE(here_.try_wait());
    EXPECT_EQ(inspect(client_, "k").latch->left, 1U);
    there_.count_down("shard-3");
    EXPECT_TRUE(here_.try_wait());
}

TEST_F(latches, a_count_whose_answer_was_lost_is_repeated_and_counts_once) {
    fault_proxy proxy(server_.port());
    client through(proxy.url());
    latch remote(through, "k", 3);
    (void)remote.try_wait();
    for (int n = 0; n < 2; ++n) {
        proxy.cut_after(direction::to_client, 0);
        remote.count_down();
    }
    EXPECT_GE(quorum::commands_of(server_, "eval"), 5) << "two of them twice, and a look";
    EXPECT_EQ(server_.command({"HLEN", "k"}), "4");
    EXPECT_FALSE(here_.try_wait());
    here_.count_down();
    EXPECT_TRUE(remote.try_wait());
}

TEST_F(latches, missing_is_not_open) {
    EXPECT_FALSE(here_.try_wait());
    EXPECT_FALSE(server_.exists("k")) << "to look sets nothing";
    EXPECT_FALSE(here_.try_wait_for(50ms));
    EXPECT_TRUE(server_.exists("k")) << "to wait does";
    EXPECT_GT(server_.pttl("k"), 3'500'000);
    EXPECT_EQ(server_.get(beside_k), "0");
}

TEST_F(latches, that_expire_before_they_open_are_lost_for_those_who_wait) {
    latch brief(client_, "k", 2, {.ttl = 400ms});
    auto waiting = waits_for(brief);
    brief.count_down();
    const auto error = waiting.get();
    EXPECT_EQ(error.code, errc::lost) << error.what;
    EXPECT_FALSE(server_.exists("k"));
    EXPECT_FALSE(server_.exists(beside_k));
    brief.count_down();
    EXPECT_FALSE(brief.try_wait()) << "a new one, with one counted";
}

TEST_F(latches, live_for_their_ttl_whoever_counts_down) {
    latch brief(client_, "k", 2, {.ttl = 500ms});
    brief.count_down();
    here_ = latch(client_, "k", 2);
    std::this_thread::sleep_for(200ms);
    here_.count_down();
    EXPECT_LT(server_.pttl("k"), 400);
    EXPECT_LT(server_.pttl(beside_k), 400);
    EXPECT_TRUE(here_.try_wait());
    EXPECT_TRUE(eventually(surely, [&] { return !server_.exists("k"); }));
    EXPECT_FALSE(here_.try_wait()) << "open no more: it is gone";
}

TEST_F(latches, that_are_deleted_or_emptied_away_are_lost_and_not_open) {
    auto waiting = waits_for(here_);
    server_.command({"FLUSHALL"});
    EXPECT_EQ(waiting.get().code, errc::lost);
    auto again = waits_for(here_);
    server_.command({"DEL", "k", beside_k});
    const stopwatch since;
    EXPECT_EQ(again.get().code, errc::lost);
    EXPECT_LT(since.elapsed(), promptly);
}

TEST_F(latches, that_were_set_anew_are_others) {
    there_.count_down();
    auto waiting = waits_for(here_);
    // In one step, so that who waits never sees it missing.
    server_.command({"EVAL",
                     "redis.call('HDEL', KEYS[1], unpack(redis.call('HKEYS', KEYS[1]))) "
                     "redis.call('HSET', KEYS[1], 'latch', '3', 'set', 'another') "
                     "redis.call('SET', KEYS[2], '0')",
                     "2", "k", beside_k});
    EXPECT_EQ(waiting.get().code, errc::lost) << "who counted down before is forgotten";
}

TEST_F(latches, survive_a_restart_with_their_data) {
    here_.count_down();
    auto waiting = waits_for(there_);
    server_.restart(data::kept);
    here_.count_down();
    here_.count_down();
    EXPECT_FALSE(waiting.get().code);
}

TEST_F(latches, are_lost_by_a_restart_without_data) {
    here_.count_down();
    auto waiting = waits_for(there_);
    server_.restart(data::lost);
    EXPECT_EQ(waiting.get().code, errc::lost);
}

TEST_F(latches, who_waits_looks_again_after_a_reconnect) {
    fault_proxy proxy(server_.port());
    client through(proxy.url());
    latch remote(through, "k", 1);
    auto waiting = waits_for(remote);
    proxy.refuse(true);
    proxy.reset_connections();
    latch(client_, "k", 1).count_down();
    proxy.refuse(false);
    EXPECT_FALSE(waiting.get().code);
}

TEST_F(latches, with_another_count_are_refused_and_nothing_is_changed) {
    here_.count_down();
    latch other(other_, "k", 4);
    for (const auto& error :
         {error_of([&] { other.count_down(); }), error_of([&] { other.wait(); }),
          error_of([&] { (void)other.try_wait(); })}) {
        EXPECT_EQ(error.code, errc::invalid_option) << error.what;
        EXPECT_TRUE(contains(error.what, "a count of 3")) << error.what;
    }
    EXPECT_EQ(inspect(client_, "k").latch->left, 2U);
}

TEST_F(latches, something_else_at_the_key_is_an_error_and_nothing_is_changed) {
    const auto held = mutex(client_, "k").acquire();
    for (const auto& error :
         {error_of([&] { here_.count_down(); }), error_of([&] { here_.wait(); }),
          error_of([&] { (void)here_.try_wait(); })}) {
        EXPECT_EQ(error.code, errc::wrong_type) << error.what;
        EXPECT_TRUE(contains(error.what, "no latch")) << error.what;
    }
    EXPECT_TRUE(held.verify());
    EXPECT_FALSE(server_.exists(beside_k));
    server_.command({"HSET", "hash", "a", "b"});
    EXPECT_EQ(error_of([&] { latch(client_, "hash", 1).count_down(); }).code, errc::wrong_type);
    EXPECT_EQ(server_.command({"HLEN", "hash"}), "1");
    server_.command({"RPUSH", "holdfast:{l}:latch", "theirs"});
    EXPECT_EQ(error_of([&] { latch(client_, "l", 1).count_down(); }).code, errc::wrong_type);
    EXPECT_FALSE(server_.exists("l"));
}

TEST_F(latches, keep_locks_out_with_an_error) {
    here_.count_down();
    EXPECT_EQ(error_of([&] { (void)mutex(client_, "k").try_acquire(); }).code, errc::wrong_type);
    EXPECT_EQ(error_of([&] { (void)election(client_, "k").try_campaign(); }).code,
              errc::wrong_type);
    EXPECT_EQ(error_of([&] { (void)shared_mutex(client_, "k").try_acquire_shared(); }).code,
              errc::wrong_type);
    EXPECT_EQ(inspect(client_, "k").latch->left, 2U);
}

TEST_F(latches, are_refused_on_a_quorum_with_a_reason) {
    quorum servers(3);
    client through(servers.settings());
    const auto error = error_of([&] { latch(through, "k", 1); });
    EXPECT_EQ(error.code, errc::invalid_option);
    EXPECT_TRUE(contains(error.what, "several servers")) << error.what;
}

TEST_F(latches, are_checked_when_they_are_made) {
    for (const auto& error : {error_of([&] { latch(client_, "k", 0); }),
                              error_of([&] { latch(client_, "k", 1'000'001); }),
                              error_of([&] { latch(client_, "k", 1, {.ttl = 0ms}); }),
                              error_of([&] { here_.count_down(""); }),
                              error_of([&] { here_.count_down(std::string(257, 'x')); })}) {
        EXPECT_EQ(error.code, errc::invalid_option) << error.what;
    }
    EXPECT_EQ(error_of([&] { latch(client_, "", 1); }).code, errc::invalid_key);
    EXPECT_EQ(error_of([&] { latch(client_, "holdfast:x", 1); }).code, errc::invalid_key);
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(latches, names_have_the_prefix_of_the_client) {
    auto settings = settings_for(server_.url());
    settings.prefix = "app:";
    client through(settings);
    latch one(through, "k", 1);
    one.count_down();
    EXPECT_TRUE(server_.exists("app:k"));
    EXPECT_TRUE(server_.exists("holdfast:{app:k}:latch"));
    EXPECT_FALSE(here_.try_wait());
    std::vector<std::string> listed;
    list(through, "k*", [&](const lock_status& each) { listed.push_back(each.key); });
    EXPECT_EQ(listed, std::vector<std::string>{"k"});
}

TEST_F(latches, waits_can_be_timed_and_cancelled) {
    const stopwatch since;
    EXPECT_FALSE(here_.try_wait_for(50ms));
    EXPECT_GE(since.elapsed(), 50ms);
    EXPECT_FALSE(here_.try_wait_until(clock::now() + 10ms));
    std::stop_source stop;
    auto waiting = std::async(std::launch::async,
                              [&] { return error_of([&] { here_.wait(stop.get_token()); }); });
    EXPECT_EQ(waiting.wait_for(50ms), std::future_status::timeout);
    stop.request_stop();
    EXPECT_EQ(waiting.get().code, errc::cancelled);
    std::error_code error;
    here_.wait(stop.get_token(), error);
    EXPECT_EQ(error, errc::cancelled);
}

TEST_F(latches, can_be_asynchronous) {
    auto open = there_.async_wait(boost::asio::use_future);
    EXPECT_FALSE(there_.async_try_wait_for(20ms, boost::asio::use_future).get());
    for (int n = 0; n < 3; ++n) here_.async_count_down(boost::asio::use_future).get();
    open.get();
    EXPECT_TRUE(there_.async_try_wait_for(20ms, boost::asio::use_future).get());
    latch other(other_, "k", 4);
    EXPECT_EQ(error_of([&] { other.async_wait(boost::asio::use_future).get(); }).code,
              errc::invalid_option);
}

TEST_F(latches, let_threads_arrive_and_wait_for_each_other) {
    std::atomic<int> arrived = 0;
    std::vector<std::jthread> threads;
    for (int n = 0; n < 3; ++n) {
        threads.emplace_back([&, n] {
            ++arrived;
            (n % 2 == 0 ? here_ : there_).arrive_and_wait();
            EXPECT_EQ(arrived, 3);
        });
    }
}

TEST_F(latches, status_and_list_show_them) {
    here_.count_down();
    const auto closed = inspect(client_, "k");
    ASSERT_TRUE(closed.latch);
    EXPECT_EQ(closed.latch->count, 3U);
    EXPECT_EQ(closed.latch->left, 2U);
    EXPECT_GT(closed.latch->remaining.value_or(0ms), 3500s);
    EXPECT_FALSE(closed.held_by);
    const auto held = mutex(client_, "lock").acquire();
    latch(client_, "{tagged}:l", 1).count_down();
    std::size_t locks = 0;
    std::size_t found = 0;
    list(client_, "*", [&](const lock_status& each) { ++(each.latch ? found : locks); });
    EXPECT_EQ(locks, 1U);
    EXPECT_EQ(found, 2U);
    list(client_, "x*", [&](const lock_status&) { ADD_FAILURE(); });
}

TEST_F(latches, end_with_their_client) {
    auto waiting = waits_for(here_);
    client_ = client(server_.url());
    EXPECT_EQ(waiting.get().code, errc::closed);
    EXPECT_EQ(error_of([&] { here_.count_down(); }).code, errc::closed);
}

}  // namespace
}  // namespace holdfast::test
