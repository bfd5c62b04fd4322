#include "integration/library.hpp"
#include "support/lock_process.hpp"

/// Processes that are stopped beyond their ttl.
namespace holdfast::test {
namespace {

class sigstop : public testing::Test {
  protected:
    static constexpr milliseconds ttl = 400ms * slowness;

    void hold_and_stop() {
        holder_.expect("acquire k " + std::to_string(ttl.count()), "held");
        holder_.expect("watch " + std::to_string(ttl.count() / 2), "watching");
        holder_.child().pause();
    }

    bool key_expires() {
        return eventually(surely, [&] { return !server_.exists("k"); });
    }

    redis_server server_;
    client client_{server_.url()};
    lock_process holder_{server_.url()};
};

TEST_F(sigstop, the_first_thing_that_a_process_sees_on_waking_is_a_lost_lease) {
    hold_and_stop();
    ASSERT_TRUE(key_expires());
    holder_.child().resume();
    EXPECT_EQ(holder_.listen(), "lost");
    std::string state;
    EXPECT_TRUE(eventually(promptly, [&] {
        state = holder_.ask("state");
        return state == "lost stopped";
    })) << state;
}

TEST_F(sigstop, a_lease_that_another_took_meanwhile_is_not_harmed_by_the_sleeper) {
    hold_and_stop();
    const auto mine = mutex(client_, "k").try_acquire_for(surely);
    ASSERT_TRUE(mine);
    holder_.child().resume();
    EXPECT_EQ(holder_.listen(), "lost");
    EXPECT_EQ(holder_.ask("release"), "already_lost");
    EXPECT_TRUE(mine->verify());
}

TEST_F(sigstop, a_pause_shorter_than_the_lease_is_survived) {
    holder_.expect("acquire k 10000", "held");
    holder_.expect("watch 100", "watching");
    holder_.child().pause();
    const auto until = clock::now() + 200ms;
    EXPECT_TRUE(eventually(surely, [&] { return clock::now() > until; }));
    holder_.child().resume();
    EXPECT_EQ(holder_.listen(), "held");
    EXPECT_EQ(holder_.ask("state"), "held going");
    EXPECT_EQ(holder_.ask("release"), "released");
}

TEST_F(sigstop, a_waiter_that_was_stopped_does_not_believe_an_old_grant) {
    auto mine = mutex(client_, "k", with_ttl(30s)).acquire();
    holder_.tell("acquire k " + std::to_string(ttl.count()));
    const auto waits = [&] {  // it has asked, was denied, and is tracked
        return contains(server_.command({"INFO", "clients"}), "tracking_clients:2");
    };
    EXPECT_TRUE(eventually(surely, waits));
    holder_.child().pause();
    mine.release();
    const auto until = clock::now() + 2 * ttl;
    EXPECT_TRUE(eventually(surely, [&] { return clock::now() > until; }));
    holder_.child().resume();
    EXPECT_TRUE(holder_.listen().starts_with("held"));
    EXPECT_EQ(holder_.ask("state"), "held going");
    EXPECT_EQ(holder_.ask("release"), "released") << "what it believed was what the server held";
}

TEST_F(sigstop, a_fenced_resource_is_safe_from_the_sleeper) {
    const auto stale = holder_.expect("acquire k " + std::to_string(ttl.count()), "held ");
    holder_.child().pause();
    const auto mine = mutex(client_, "k").try_acquire_for(surely);
    ASSERT_TRUE(mine);
    holder_.child().resume();
    EXPECT_GT(mine->token(), std::stoull(stale.substr(5)));
}

}  // namespace
}  // namespace holdfast::test
