#include <algorithm>
#include <deque>

#include "tool.hpp"

namespace holdfast::test {
namespace {

/// Three new servers that nobody has vouched for. They may have forgotten locks, so nobody gets
/// one.
class quarantine : public testing::Test {
  protected:
    command_result holdfast(const words& arguments, const std::string& parameters = {}) const {
        words all{arguments.front()};
        for (const redis_server& server : servers_) {
            all.insert(all.end(), {"--url", server.url() + parameters});
        }
        all.insert(all.end(), arguments.begin() + 1, arguments.end());
        return run_command(holdfast_with(all));
    }

    /// Which is that nobody can have the lock, not that somebody has it.
    static void expect_refused(const command_result& result) {
        EXPECT_EQ(result.exit_code, 69) << result.err;
        EXPECT_EQ(result.out, "");
        EXPECT_TRUE(contains(result.err, "'key' cannot be had: in quarantine for another "))
            << result.err;
        EXPECT_TRUE(contains(result.err, advice)) << result.err;
    }

    static constexpr const char* advice =
        "wait, or 'holdfast enlist --fresh', only for new servers or when every program that locks "
        "here has been stopped";

    /// One server of three still has a lock; the others vouched for would give it to somebody else.
    void hold_and_forget() const {
        vouch();
        ASSERT_EQ(holdfast({"lock", "--label", "night shift", "key"}).exit_code, 0);
        ASSERT_TRUE(eventually(10s, [&] { return servers_[0].exists("key"); }));
        servers_[1].command({"FLUSHALL"});
        servers_[2].command({"FLUSHALL"});
    }

    command_result enlist_on_terminal(const std::string& input) const {
        command_options how;
        for (const redis_server& server : servers_) {
            how.environment["HOLDFAST_URL"] += server.url() + " ";
        }
        how.environment.insert({{"HOLDFAST", HOLDFAST_COMMAND}, {"NO_COLOR", "1"}});
        how.input = input;
        return run_command({"script", "-qec", "\"$HOLDFAST\" enlist --fresh", "/dev/null"}, how);
    }

    void vouch() const {
        const auto result = holdfast({"enlist", "--fresh"});
        EXPECT_EQ(result.exit_code, 0) << result.err;
    }

    std::deque<redis_server> servers_{3};
};

TEST_F(quarantine, is_told_from_a_lock_that_somebody_holds) {
    expect_refused(holdfast({"run", "-n", "key", "echo", "ran"}));
    expect_refused(holdfast({"run", "-n", "-E", "0", "key", "echo", "ran"}));
    expect_refused(holdfast({"lock", "-n", "key"}));
    vouch();
    EXPECT_EQ(holdfast({"run", "-n", "key", "echo", "ran"}).out, "ran\n");
}

TEST_F(quarantine, of_one_server_with_the_guard_is_told_too) {
    const auto guarded = servers_[0].url() + "?restart_guard=on";
    expect_refused(
        run_command(holdfast_with({"run", "-n", "-E", "0", "--url", guarded, "key", "true"})));
}

TEST_F(quarantine, is_named_once_while_it_is_waited_for_and_when_the_wait_runs_out) {
    const auto result = holdfast({"run", "-w", "2s", "-E", "0", "key", "echo", "ran"});
    expect_refused(result);
    EXPECT_TRUE(contains(result.err, "waiting for 'key': in quarantine for another "))
        << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 2) << result.err;
}

TEST_F(quarantine, is_waited_for_to_its_end) {
    const auto result =
        holdfast({"run", "--ttl", "2500ms", "--kill-after", "500ms", "key", "echo", "ran"},
                 "?max_ttl=2500ms");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "ran\n");
    EXPECT_TRUE(contains(result.err, "waiting for 'key': in quarantine for another "))
        << result.err;
}

TEST_F(quarantine, is_shown_by_status) {
    const auto shown = holdfast({"status", "key"}).out;
    EXPECT_TRUE(contains(shown, "nobody can take it  in quarantine for another ")) << shown;
    EXPECT_TRUE(contains(shown, "nothing; in quarantine for another ")) << shown;
    const auto as_json = holdfast({"status", "--json", "key"});
    EXPECT_TRUE(contains(as_json.err, "in quarantine for another ")) << as_json.err;
    const auto left = json_of(as_json.out).at("quarantine_ms");
    EXPECT_GT(left.as_int64(), 30'000);
    EXPECT_LT(left.as_int64(), 70'000);
    vouch();
    EXPECT_FALSE(contains(holdfast({"status", "key"}).out, "quarantine"));
    const auto since = holdfast({"status", "--json", "key"});
    EXPECT_FALSE(json_of(since.out).contains("quarantine_ms"));
    EXPECT_EQ(since.err, "");
}

TEST_F(quarantine, leaves_open_whether_a_lock_is_held) {
    hold_and_forget();
    const auto shown = holdfast({"status", "key"}).out;
    EXPECT_TRUE(contains(shown, "not known during the quarantine\n")) << shown;
    EXPECT_FALSE(contains(shown, " free")) << shown;
    EXPECT_TRUE(contains(shown, "night shift")) << shown;
    const auto quiet = holdfast({"status", "-q", "key"});
    EXPECT_EQ(quiet.exit_code, 69);
    EXPECT_EQ(quiet.out, "");
    EXPECT_TRUE(contains(quiet.err, "whether 'key' is held is not known: in quarantine for "))
        << quiet.err;
    EXPECT_EQ(std::count(quiet.err.begin(), quiet.err.end(), '\n'), 1) << quiet.err;
    EXPECT_EQ(json_of(holdfast({"status", "--json", "key"}).out).at("state"), "free")
        << "with quarantine_ms beside it";
}

TEST_F(quarantine, does_not_hide_a_holder_whom_a_majority_knows) {
    for (const std::size_t n : {0U, 1U}) servers_[n].command({"SET", "key", "x", "PX", "60000"});
    EXPECT_TRUE(contains(holdfast({"status", "key"}).out, "  foreign\n"));
    EXPECT_EQ(holdfast({"status", "-q", "key"}).exit_code, 0);
}

TEST_F(quarantine, is_shown_by_ls) {
    for (const words& arguments : {words{"ls"}, words{"ls", "--json"}}) {
        const auto shown = holdfast(arguments);
        EXPECT_EQ(shown.exit_code, 0) << shown.err;
        EXPECT_TRUE(contains(shown.err, "in quarantine for another ")) << shown.err;
    }
    vouch();
    EXPECT_EQ(holdfast({"ls"}).err, "");
}

TEST_F(quarantine, is_shown_by_doctor) {
    ASSERT_TRUE(contains(holdfast({"ls"}).err, "quarantine")) << "which begins with it";
    const auto shown = holdfast({"doctor"});
    EXPECT_EQ(shown.exit_code, 69) << shown.out;
    EXPECT_TRUE(contains(shown.out, "in quarantine for another ")) << shown.out;
    EXPECT_TRUE(contains(shown.out, advice)) << shown.out;
}

TEST_F(quarantine, is_not_ended_while_a_server_still_has_a_lock) {
    hold_and_forget();
    const auto refused = holdfast({"enlist", "--fresh"});
    EXPECT_EQ(refused.exit_code, 75) << refused.out;
    EXPECT_EQ(refused.out, "");
    EXPECT_TRUE(contains(refused.err, "a lock is held at these servers: 'key' by ")) << refused.err;
    EXPECT_TRUE(contains(refused.err, "(night shift), its lease runs another ")) << refused.err;
    EXPECT_TRUE(contains(refused.err, "--yes")) << refused.err;
    EXPECT_EQ(holdfast({"run", "-n", "key", "true"}).exit_code, 69) << "nobody was let in";
    EXPECT_EQ(holdfast({"enlist", "--fresh", "--yes"}).exit_code, 0);
    EXPECT_EQ(holdfast({"run", "-n", "key", "true"}).exit_code, 0);
}

TEST_F(quarantine, is_ended_while_a_lock_is_held_by_whoever_says_so_on_a_terminal) {
    hold_and_forget();
    const auto refused = enlist_on_terminal("n\n");
    EXPECT_EQ(refused.exit_code, 75) << refused.out;
    EXPECT_TRUE(contains(refused.out, "night shift")) << refused.out;
    EXPECT_TRUE(contains(refused.out, "[y/N]")) << refused.out;
    EXPECT_EQ(enlist_on_terminal("y\n").exit_code, 0);
}

TEST_F(quarantine, names_a_few_of_the_locks_that_keep_it_from_being_ended) {
    vouch();
    for (const char* key : {"a", "b", "c", "d", "e"}) {
        ASSERT_EQ(holdfast({"lock", "--prefix", "app:", key}).exit_code, 0);
    }
    for (const redis_server& server : servers_) server.command({"DEL", "holdfast:record"});
    const auto refused = holdfast({"enlist", "--fresh"});
    EXPECT_EQ(refused.exit_code, 75) << refused.err;
    EXPECT_TRUE(contains(refused.err, "5 locks are held at these servers: 'app:")) << refused.err;
    EXPECT_TRUE(contains(refused.err, "; and 2 more")) << refused.err;
}

TEST_F(quarantine, is_not_ended_while_a_server_cannot_be_looked_at) {
    vouch();
    servers_[0].kill_hard();
    servers_[1].command({"FLUSHALL"});
    const auto refused = holdfast({"enlist", "--fresh"});
    EXPECT_EQ(refused.exit_code, 69) << refused.err;
    EXPECT_TRUE(contains(refused.err, "nothing was done, as it could not be seen")) << refused.err;
    const auto anyway = holdfast({"enlist", "--fresh", "--yes"});
    EXPECT_TRUE(contains(anyway.err, " was not enlisted")) << anyway.err;
}

TEST_F(quarantine, is_not_looked_for_among_servers_that_vote) {
    vouch();
    ASSERT_EQ(holdfast({"lock", "key"}).exit_code, 0);
    EXPECT_EQ(holdfast({"enlist", "--fresh"}).exit_code, 0) << "there is nothing to vouch for";
    EXPECT_EQ(holdfast({"enlist", "--yes"}).exit_code, 64);
}

TEST_F(quarantine, of_a_minority_keeps_nobody_from_a_lock_nor_hides_who_has_it) {
    vouch();
    servers_[0].command({"FLUSHALL"});
    EXPECT_EQ(holdfast({"run", "-n", "key", "true"}).exit_code, 0);
    ASSERT_EQ(holdfast({"lock", "key"}).exit_code, 0);
    EXPECT_EQ(holdfast({"run", "-n", "key", "true"}).exit_code, 75);
    EXPECT_EQ(holdfast({"run", "-n", "-E", "3", "key", "true"}).exit_code, 3);
    EXPECT_FALSE(contains(holdfast({"status", "key"}).out, "nobody can take it"));
}

}  // namespace
}  // namespace holdfast::test
