#include "net/handshake.hpp"

#include <gtest/gtest.h>

namespace holdfast::net {
namespace {

using namespace std::chrono_literals;

constexpr auto hello_reply = "%1\r\n$5\r\nproto\r\n:3\r\n";
constexpr auto info_reply =
    "$69\r\nrun_id:abc\r\nrole:master\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n\r\n";

class conversation {
  public:
    explicit conversation(introduction who) : machine(std::move(who)) {
        machine.start(sent);
        newest = sent;
    }
    conversation& hear(std::string_view frame) {
        newest.clear();
        machine.step(resp::view(frame), newest);
        sent += newest;
        return *this;
    }
    /// Answers whatever else is asked, until the facts are known.
    conversation& hear_the_rest() {
        while (machine.current() == handshake::state::facts) hear("+OK\r\n");
        return *this;
    }
    [[nodiscard]] bool asked(std::string_view what) const {
        return newest.find(what) != std::string::npos;
    }

    handshake machine;
    std::string sent;
    std::string newest;
};

introduction plain() { return {.user = {}, .password = {}, .client_name = "me"}; }

TEST(handshake, speaks_version_three_and_asks_for_everything_in_one_write) {
    auto who = plain();
    who.database = 5;
    conversation with(who);
    EXPECT_TRUE(with.asked("HELLO"));
    EXPECT_FALSE(with.asked("AUTH"));
    with.hear(hello_reply);
    for (const auto* what : {"SETNAME", "SELECT", "TRACKING", "INFO", "appendfsync"}) {
        EXPECT_TRUE(with.asked(what)) << what;
    }
    with.hear("+OK\r\n").hear("+OK\r\n").hear("+OK\r\n").hear(info_reply);
    with.hear("%1\r\n$11\r\nappendfsync\r\n$6\r\nalways\r\n").hear_the_rest();
    ASSERT_EQ(with.machine.current(), handshake::state::enlisting);
    EXPECT_TRUE(with.asked(core::life_key));
    EXPECT_FALSE(with.asked(core::marker_key));
    with.hear("*2\r\n:0\r\n:-2\r\n");
    ASSERT_EQ(with.machine.current(), handshake::state::done);
    EXPECT_FALSE(with.machine.result().enlisted);
    EXPECT_EQ(with.machine.result().protocol, 3);
    EXPECT_TRUE(with.machine.result().tracking);
    const auto facts = with.machine.result().facts();
    EXPECT_EQ(facts.run_id, "abc");
    EXPECT_EQ(facts.eviction_policy, "noeviction");
    EXPECT_TRUE(facts.fsync_always);
    EXPECT_FALSE(facts.is_replica);
}

TEST(handshake, falls_back_to_version_two_with_a_password) {
    auto who = plain();
    who.user = "bob";
    who.password = "secret";
    conversation with(who);
    EXPECT_TRUE(with.asked("bob"));
    with.hear("-ERR unknown command `HELLO`, with args beginning with: \r\n");
    EXPECT_TRUE(with.asked("AUTH"));
    EXPECT_FALSE(with.asked("HELLO"));
    with.hear("+OK\r\n");
    EXPECT_FALSE(with.asked("TRACKING")) << "no pushes in version two";
    with.hear("+OK\r\n").hear(info_reply).hear("*0\r\n").hear_the_rest();
    with.hear("*2\r\n:0\r\n:-2\r\n");
    EXPECT_EQ(with.machine.current(), handshake::state::done);
    EXPECT_EQ(with.machine.result().protocol, 2);
}

TEST(handshake, a_refused_password_is_final) {
    auto who = plain();
    who.password = "wrong";
    conversation with(who);
    with.hear("-WRONGPASS invalid username-password pair\r\n");
    ASSERT_EQ(with.machine.current(), handshake::state::failed);
    EXPECT_EQ(with.machine.why().code, errc::authentication);
    EXPECT_TRUE(with.machine.why().hopeless);
}

TEST(handshake, a_restricted_user_may_lock_without_info) {
    conversation with(plain());
    with.hear(hello_reply).hear("+OK\r\n").hear("-NOPERM client\r\n").hear("-NOPERM info\r\n");
    with.hear("-NOPERM config\r\n").hear_the_rest();
    EXPECT_EQ(with.machine.current(), handshake::state::done);
    EXPECT_FALSE(with.machine.result().tracking);
}

TEST(handshake, a_database_that_does_not_exist_is_fatal) {
    auto who = plain();
    who.database = 99;
    conversation with(who);
    with.hear(hello_reply).hear("+OK\r\n").hear("-ERR DB index is out of range\r\n");
    EXPECT_EQ(with.machine.current(), handshake::state::failed);
}

TEST(handshake, with_the_restart_guard_nothing_comes_before_the_marker_was_compared) {
    auto who = plain();
    who.policy.restart_guard = true;
    who.policy.max_ttl = 60s;
    conversation with(who);
    with.hear(hello_reply).hear("+OK\r\n").hear("+OK\r\n").hear(info_reply);
    with.hear("%1\r\n$11\r\nappendfsync\r\n$8\r\neverysec\r\n").hear_the_rest();
    ASSERT_EQ(with.machine.current(), handshake::state::enlisting);
    EXPECT_TRUE(with.asked("EVAL"));
    const auto quarantine = core::judge(who.policy).quarantine() / 1ms;
    EXPECT_TRUE(with.asked(std::to_string(quarantine)));
    with.hear("*2\r\n:1\r\n:60000\r\n");
    ASSERT_EQ(with.machine.current(), handshake::state::done);
    EXPECT_TRUE(with.machine.result().enlisted);
    EXPECT_EQ(with.machine.result().quarantine, 60s);
}

TEST(handshake, a_user_who_may_not_write_can_still_look_where_nothing_is_guarded) {
    conversation with(plain());
    with.hear(hello_reply).hear("+OK\r\n").hear("+OK\r\n").hear(info_reply);
    with.hear("-NOPERM\r\n").hear_the_rest();
    ASSERT_EQ(with.machine.current(), handshake::state::enlisting);
    with.hear("-NOPERM this user has no permissions to run the 'eval' command\r\n");
    EXPECT_EQ(with.machine.current(), handshake::state::done);
}

TEST(handshake, what_is_no_redis_is_called_so) {
    conversation with(plain());
    with.hear("+OK\r\n");
    ASSERT_EQ(with.machine.current(), handshake::state::failed);
    EXPECT_EQ(with.machine.why().code, errc::protocol);
}

}  // namespace
}  // namespace holdfast::net
