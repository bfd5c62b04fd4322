#include <boost/asio/use_future.hpp>
#include <csignal>
#include <future>
#include <thread>

#include "holdfast/asio.hpp"
#include "holdfast/operate.hpp"
#include "integration/library.hpp"
#include "support/fault_proxy.hpp"
#include "support/lock_process.hpp"

/// Who watches an election, on one real server.
namespace holdfast::test {
namespace {

/// A thread that waits for the next change, and how long it took from when it was expected.
class awaited {
  public:
    explicit awaited(election_observer& by)
        : told_(std::async(std::launch::async, [&by] { return by.next(); })) {}

    /// For a moment, so that it waits, and does not find it at once.
    awaited& settle() {
        EXPECT_EQ(told_.wait_for(100ms), std::future_status::timeout) << "told of no change";
        return *this;
    }
    leader get() { return told_.get(); }

  private:
    std::future<leader> told_;
};

class observers : public testing::Test {
  protected:
    redis_server server_;
    client client_{server_.url()};
    client other_{server_.url()};
    election candidate_{client_, "k", "one"};
    election_observer observer_{other_, "k"};
};

TEST_F(observers, begin_with_who_leads_now) {
    EXPECT_FALSE(observer_.next());
    const auto held = candidate_.campaign();
    election_observer late(other_, "k");
    const auto now = late.next();
    EXPECT_EQ(now.value, "one");
    EXPECT_EQ(now.term, held.token());
    EXPECT_EQ(now.who.owner, held.owner());
}

TEST_F(observers, are_told_of_elections_and_resignations_at_once) {
    EXPECT_FALSE(observer_.next());
    awaited first(observer_);
    first.settle();
    stopwatch since;
    const auto held = candidate_.campaign();
    const auto now = first.get();
    EXPECT_LT(since.elapsed(), promptly);
    EXPECT_EQ(now.term, held.token());
    awaited second(observer_);
    second.settle();
    since = {};
    candidate_.resign();
    EXPECT_FALSE(second.get());
    EXPECT_LT(since.elapsed(), promptly);
}

TEST_F(observers, are_told_of_the_next_leader_when_one_resigns) {
    const auto held = candidate_.campaign();
    EXPECT_EQ(observer_.next().value, "one");
    election second(other_, "k", "two");
    auto next = std::async(std::launch::async, [&] { return second.campaign(); });
    ASSERT_TRUE(eventually(surely, [&] { return inspect(client_, "k").waiting == 1U; }));
    awaited change(observer_);
    change.settle();
    candidate_.resign();
    auto now = change.get();
    if (!now) now = observer_.next();  // nobody led in between
    EXPECT_EQ(now.value, "two");
    EXPECT_EQ(now.term, next.get().token());
}

TEST_F(observers, are_not_told_of_renewals) {
    election brief(client_, "k", "v", {.ttl = 300ms});
    const auto held = brief.campaign();
    EXPECT_EQ(observer_.next().value, "v");
    EXPECT_FALSE(observer_.try_next_for(1200ms));
    EXPECT_GE(client_.statistics().renewed, 5U);
}

TEST_F(observers, of_the_leader_s_own_client_are_told_as_well) {
    election_observer own(client_, "k");
    EXPECT_FALSE(own.next());
    awaited first(own);
    first.settle();
    stopwatch since;
    const auto held = candidate_.campaign();
    EXPECT_EQ(first.get().value, "one");
    awaited second(own);
    second.settle();
    candidate_.resign();
    EXPECT_FALSE(second.get());
    EXPECT_LT(since.elapsed(), 100ms + 2 * promptly);
}

TEST_F(observers, are_told_that_a_leader_crashed_when_its_lease_is_over) {
    lock_process process(server_.url());
    process.expect("lead k 600 process", "held");
    EXPECT_EQ(observer_.next().value, "process");
    std::this_thread::sleep_for(300ms);  // it has renewed since
    process.child().kill(SIGKILL);
    const stopwatch since;
    EXPECT_FALSE(observer_.next());
    EXPECT_LT(since.elapsed(), 600ms + promptly);
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(observers, in_another_process_are_told_as_well) {
    lock_process process(server_.url());
    EXPECT_EQ(process.ask("next k"), "nobody");
    process.tell("next k");
    const auto held = candidate_.campaign();
    EXPECT_EQ(process.listen(), std::to_string(held.token()) + " one");
    process.tell("next k");
    candidate_.resign();
    EXPECT_EQ(process.listen(), "nobody");
}

TEST_F(observers, can_wait_for_a_time_and_be_cancelled) {
    EXPECT_FALSE(*observer_.try_next_for(1s));
    const stopwatch since;
    EXPECT_FALSE(observer_.try_next_for(50ms));
    EXPECT_GE(since.elapsed(), 50ms);
    EXPECT_FALSE(observer_.try_next_until(clock::now() + 10ms));
    EXPECT_FALSE(observer_.try_next_for(0s)) << "one look";
    std::stop_source stop;
    auto waits = std::async(std::launch::async, [&] {
        return error_of([&] { (void)observer_.next(stop.get_token()); });
    });
    EXPECT_EQ(waits.wait_for(50ms), std::future_status::timeout);
    stop.request_stop();
    EXPECT_EQ(waits.get().code, errc::cancelled);
    std::error_code error;
    (void)observer_.try_next_for(10ms, stop.get_token(), error);
    EXPECT_EQ(error, errc::cancelled);
    const auto held = candidate_.campaign();
    EXPECT_EQ(observer_.next().value, "one") << "it goes on";
}

TEST_F(observers, can_be_asynchronous) {
    EXPECT_FALSE(observer_.async_next(boost::asio::use_future).get());
    EXPECT_FALSE(observer_.async_try_next_for(20ms, boost::asio::use_future).get());
    auto change = observer_.async_next(boost::asio::use_future);
    const auto held = candidate_.campaign();
    EXPECT_EQ(change.get().term, held.token());
    auto last = observer_.async_next(boost::asio::use_future);
    other_ = client(server_.url());
    EXPECT_EQ(error_of([&] { (void)last.get(); }).code, errc::closed);
}

TEST_F(observers, look_again_after_a_reconnect) {
    fault_proxy proxy(server_.port());
    client through(proxy.url());
    election_observer remote(through, "k");
    EXPECT_FALSE(remote.next());
    awaited change(remote);
    change.settle();
    proxy.refuse(true);
    proxy.reset_connections();
    const auto held = candidate_.campaign();
    proxy.refuse(false);
    EXPECT_EQ(change.get().value, "one");
}

TEST_F(observers, fail_when_nobody_answers_for_too_long_and_go_on_afterwards) {
    fault_proxy proxy(server_.port());
    auto settings = settings_for(proxy.url());
    settings.patience = 300ms;
    client through(settings);
    election_observer remote(through, "k");
    EXPECT_FALSE(remote.next());
    proxy.refuse(true);
    proxy.reset_connections();
    EXPECT_EQ(error_of([&] { (void)remote.next(); }).code, errc::unreachable);
    const auto held = candidate_.campaign();
    proxy.refuse(false);
    EXPECT_EQ(remote.next().value, "one");
}

TEST_F(observers, are_told_when_the_server_was_emptied) {
    const auto held = candidate_.campaign();
    EXPECT_EQ(observer_.next().value, "one");
    awaited change(observer_);
    change.settle();
    const stopwatch since;
    server_.command({"FLUSHALL"});
    EXPECT_FALSE(change.get());
    EXPECT_LT(since.elapsed(), promptly);
}

TEST_F(observers, are_told_when_the_server_restarted_without_its_data) {
    const auto held = candidate_.campaign();
    EXPECT_EQ(observer_.next().value, "one");
    awaited change(observer_);
    change.settle();
    server_.restart(data::lost);
    EXPECT_FALSE(change.get());
}

TEST_F(observers, are_told_when_the_lead_is_taken_by_force) {
    const auto held = candidate_.campaign();
    EXPECT_EQ(observer_.next().value, "one");
    awaited change(observer_);
    change.settle();
    const stopwatch since;
    (void)force_unlock(client_, "k", held.owner(), "test");
    EXPECT_FALSE(change.get());
    EXPECT_LT(since.elapsed(), promptly);
}

TEST_F(observers, find_out_within_five_seconds_that_a_lock_was_deleted_by_hand) {
    const auto held = candidate_.campaign();
    EXPECT_EQ(observer_.next().value, "one");
    awaited change(observer_);
    change.settle();
    const stopwatch since;
    server_.command({"DEL", "k"});
    EXPECT_FALSE(change.get());
    EXPECT_LT(since.elapsed(), 5s + promptly);
}

TEST_F(observers, poll_where_the_server_cannot_tell) {
    server_.command({"ACL", "SETUSER", "default", "-client|tracking", "-client|caching"});
    client through(server_.url());
    election_observer blind(through, "k");
    EXPECT_FALSE(blind.next());
    awaited change(blind);
    change.settle();
    const stopwatch since;
    const auto held = candidate_.campaign();
    EXPECT_EQ(change.get().value, "one");
    EXPECT_LT(since.elapsed(), 500ms + promptly);
}

TEST_F(observers, end_with_their_client) {
    EXPECT_FALSE(observer_.next());
    auto waits =
        std::async(std::launch::async, [&] { return error_of([&] { (void)observer_.next(); }); });
    EXPECT_EQ(waits.wait_for(50ms), std::future_status::timeout);
    other_ = client(server_.url());
    EXPECT_EQ(waits.get().code, errc::closed);
    EXPECT_EQ(error_of([&] { (void)observer_.next(); }).code, errc::closed);
}

TEST_F(observers, cost_the_server_nothing_while_nothing_changes) {
    const auto held = candidate_.campaign();
    EXPECT_EQ(observer_.next().value, "one");
    const auto reads = [&] {
        const auto text = server_.command({"INFO", "commandstats"});
        const auto at = text.find("cmdstat_getrange:calls=");
        return std::stoi(text.substr(at + 23));
    };
    awaited change(observer_);
    change.settle();
    const auto before = reads();
    change.settle().settle().settle();
    EXPECT_EQ(reads(), before);
    candidate_.resign();
    (void)change.get();
}

}  // namespace
}  // namespace holdfast::test
