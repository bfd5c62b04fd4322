#include <signal.h>

#include "support/fault_proxy.hpp"
#include "tool.hpp"

namespace holdfast::test {
namespace {

using clock = std::chrono::steady_clock;

/// A command and its grandchildren, all of which ignore TERM.
class loss : public tool_test {
  protected:
    ~loss() override {
        for (const file_descriptor& each : handles_) kill_by(each);
    }

    words stubborn_command(const std::string& url) const {
        const std::string file = (scratch_ / "pid").native();
        const std::string loop = "while :; do sleep 0.02; done";
        return {"run",
                "--url",
                url,
                "--ttl",
                "3s",
                "--kill-after",
                "800ms",
                "key",
                "--",
                "sh",
                "-c",
                "trap 'echo >>" + file + ".term' TERM; (trap '' TERM; sh -c 'echo $$ >" + file +
                    ".grandchild; " + loop + "') & echo $$ >" + file + "; " + loop};
    }

    void start_stubborn(const std::string& url) {
        holder_.emplace(start(stubborn_command(url)));
        command_ = process_in(scratch_ / "pid");
        grandchild_ = process_in(scratch_ / "pid.grandchild");
        for (const pid_t each : {command_, grandchild_}) handles_.push_back(handle_of(each));
    }

    /// Returns right after a renewal, so that no other comes in the next second: the time at which
    /// the server itself will let the next one in.
    clock::time_point expiry_after_a_renewal() const {
        auto last = server_.pttl("key");
        EXPECT_TRUE(eventually(10s, [&] {
            const auto now = server_.pttl("key");
            return std::exchange(last, now) < now;
        }));
        const auto asked = clock::now();
        return asked + std::chrono::milliseconds(server_.pttl("key"));
    }

    bool anybody_alive() const { return alive(command_) || alive(grandchild_); }

    void expect_dead_before(clock::time_point expiry) {
        EXPECT_TRUE(eventually(10s, [&] { return !anybody_alive(); }));
        EXPECT_LT(clock::now(), expiry);
        EXPECT_EQ(holder_->wait(10s).code, 79) << holder_->error_output();
        EXPECT_NE(holder_->error_output().find("'key'"), std::string::npos);
        EXPECT_TRUE(std::filesystem::exists(scratch_ / "pid.term")) << "there was no TERM first";
    }

    std::optional<process> holder_;
    pid_t command_ = 0;
    pid_t grandchild_ = 0;
    std::vector<file_descriptor> handles_;
};

TEST_F(loss, of_a_stopped_server_kills_before_anybody_else_can_hold_the_lock) {
    start_stubborn(server_.url());
    const auto expiry = expiry_after_a_renewal();
    server_.pause();
    expect_dead_before(expiry);
    server_.resume();
}

TEST_F(loss, of_a_killed_server_kills_before_anybody_else_can_hold_the_lock) {
    start_stubborn(server_.url());
    const auto expiry = expiry_after_a_renewal();
    server_.kill_hard();
    expect_dead_before(expiry);
}

TEST_F(loss, of_a_silent_network_kills_while_the_server_still_holds_the_lock_for_us) {
    fault_proxy proxy(server_.port());
    start_stubborn(proxy.url());
    const auto owner = server_.get("key");
    const auto expiry = expiry_after_a_renewal();
    proxy.silence();
    EXPECT_TRUE(eventually(10s, [&] { return !anybody_alive(); }));
    EXPECT_EQ(server_.get("key"), owner);
    EXPECT_GT(server_.pttl("key"), 0);
    expect_dead_before(expiry);
}

TEST_F(loss, asks_before_it_kills_and_not_before_it_must) {
    start_stubborn(server_.url());
    const auto expiry = expiry_after_a_renewal();
    server_.pause();
    ASSERT_TRUE(eventually(10s, [&] { return std::filesystem::exists(scratch_ / "pid.term"); }));
    // TERM at deadline - 800 ms, the deadline 32 ms before the expiry.
    const auto left = expiry - clock::now();
    EXPECT_LT(left, 850ms);
    EXPECT_GT(left, 300ms) << "or this machine is very busy";
    EXPECT_TRUE(anybody_alive());
    server_.resume();
}

TEST_F(loss, of_the_key_itself_kills_soon_after_the_next_renewal) {
    start_stubborn(server_.url());
    server_.command({"DEL", "key"});
    EXPECT_EQ(holder_->wait(5s).code, 79) << holder_->error_output();
    EXPECT_FALSE(anybody_alive());
}

TEST_F(loss, of_the_key_is_told_from_a_silent_server) {
    start_stubborn(server_.url());
    server_.command({"DEL", "key"});
    EXPECT_EQ(holder_->wait(5s).code, 79);
    const auto said = holder_->error_output();
    EXPECT_TRUE(contains(said, "its key is gone: somebody removed it, or the server forgot it"))
        << said;
}

TEST_F(loss, to_another_owner_names_who_holds_the_lock_now) {
    start_stubborn(server_.url());
    server_.command({"SET", "key", "somebody-else"});
    EXPECT_EQ(holder_->wait(5s).code, 79);
    const auto said = holder_->error_output();
    EXPECT_TRUE(contains(said,
                         "somebody removed or took it; it is held by another library, as "
                         "'somebody-else' now"))
        << said;
}

TEST_F(loss, of_a_server_says_that_no_renewal_was_confirmed) {
    start_stubborn(server_.url());
    server_.kill_hard();
    EXPECT_EQ(holder_->wait(10s).code, 79);
    const auto said = holder_->error_output();
    EXPECT_TRUE(contains(said, "no renewal was confirmed in time by the server")) << said;
    EXPECT_FALSE(contains(said, "somebody")) << said;
}

TEST_F(loss, that_the_command_did_not_live_to_see_is_told_all_the_same) {
    const auto result = holdfast({"run", "key", "redis-cli", "-p", std::to_string(server_.port()),
                                  "set", "key", "somebody-else"});
    EXPECT_EQ(result.exit_code, 79);
    EXPECT_TRUE(contains(result.err, "somebody removed or took it")) << result.err;
    EXPECT_EQ(server_.get("key"), "somebody-else");
}

TEST_F(loss, is_reported_to_the_status_descriptor) {
    const auto result = shell("\"$HOLDFAST\" run --status-fd 5 key -- redis-cli -p " +
                              std::to_string(server_.port()) + " del key 5>\"$DIR/report\"");
    EXPECT_EQ(result.exit_code, 79);
    EXPECT_EQ(json_of(contents_of(scratch_ / "report")).at("outcome"), "lost");
}

TEST_F(loss, does_not_happen_when_the_server_is_silent_for_a_moment_only) {
    auto holder = start({"run", "--ttl", "3s", "--kill-after", "500ms", "key", "sleep", "4"});
    wait_until_held("key");
    server_.pause();
    EXPECT_FALSE(holder.wait_for(1200ms));
    server_.resume();
    EXPECT_EQ(holder.wait(10s).code, 0) << holder.error_output();
}

}  // namespace
}  // namespace holdfast::test
