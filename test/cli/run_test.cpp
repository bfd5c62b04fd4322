#include <fstream>

#include "tool.hpp"

namespace holdfast::test {
namespace {

class run : public tool_test {};

TEST_F(run, gives_the_exit_code_of_the_command) {
    EXPECT_EQ(holdfast({"run", "key", "true"}).exit_code, 0);
    EXPECT_EQ(holdfast({"run", "key", "--", "sh", "-c", "exit 42"}).exit_code, 42);
}

TEST_F(run, gives_128_and_the_signal_that_ended_the_command) {
    EXPECT_EQ(holdfast({"run", "key", "--", "sh", "-c", "kill -KILL $$"}).exit_code, 137);
    EXPECT_EQ(holdfast({"run", "key", "--", "sh", "-c", "kill -TERM $$"}).exit_code, 143);
}

TEST_F(run, holds_the_lock_while_the_command_runs_and_releases_it_then) {
    const auto seen = shell("\"$HOLDFAST\" run key -- redis-cli -p " +
                            std::to_string(server_.port()) + " exists key");
    EXPECT_EQ(seen.out, "1\n");
    EXPECT_FALSE(server_.exists("key"));
}

TEST_F(run, tells_the_command_about_its_lock) {
    const auto result =
        holdfast({"run", "the key", "--", "sh", "-c",
                  "echo \"$HOLDFAST_HELD|$HOLDFAST_KEY|$HOLDFAST_TOKEN|$HOLDFAST_OWNER\"; exec "
                  "redis-cli -p " +
                      std::to_string(server_.port()) + " get 'the key'"});
    const auto end = result.out.find('\n');
    const std::string variables = result.out.substr(0, end);
    const std::string owner = result.out.substr(end + 1, result.out.size() - end - 2);
    EXPECT_TRUE(variables.starts_with("1|the key|")) << result.out;
    EXPECT_TRUE(variables.ends_with("|" + owner)) << result.out;
    EXPECT_TRUE(owner.starts_with("hf1:")) << owner;
    EXPECT_GT(std::stoull(variables.substr(10)), 0U);
}

TEST_F(run, gives_every_holder_a_larger_token) {
    const words command = {"run", "key", "--", "sh", "-c", "echo $HOLDFAST_TOKEN"};
    const auto first = std::stoull(holdfast(command).out);
    const auto second = std::stoull(holdfast(command).out);
    EXPECT_GT(second, first);
}

TEST_F(run, replaces_variables_of_an_outer_run) {
    const auto result = holdfast({"run", "outer", HOLDFAST_COMMAND, "run", "inner", "--", "sh",
                                  "-c", "env | grep -c ^HOLDFAST_KEY=; echo $HOLDFAST_KEY"});
    EXPECT_EQ(result.out, "1\ninner\n");
}

TEST_F(run, ends_its_options_at_the_key) {
    EXPECT_EQ(holdfast({"run", "key", "echo", "-n", "--ttl", "x"}).out, "--ttl x");
    EXPECT_EQ(holdfast({"run", "key", "--", "echo", "-v", "--", "-w"}).out, "-v -- -w\n");
    EXPECT_EQ(holdfast({"run", "-n", "--", "key", "echo", "a"}).out, "a\n");
    EXPECT_EQ(holdfast({"run", "-nE", "3", "key", "echo", "a"}).out, "a\n");
    EXPECT_EQ(holdfast({"run", "-w5s", "--ttl=20s", "key", "echo", "a"}).out, "a\n");
}

TEST_F(run, leaves_standard_output_to_the_command) {
    const auto result = holdfast({"run", "-v", "key", "printf", "x"});
    EXPECT_EQ(result.out, "x");
}

TEST_F(run, passes_standard_input_through) {
    command_options how;
    how.input = "one\ntwo\n";
    EXPECT_EQ(holdfast({"run", "key", "cat"}, how).out, "one\ntwo\n");
}

TEST_F(run, works_with_closed_standard_streams_and_leaves_them_closed) {
    const auto result = shell(
        "\"$HOLDFAST\" run key -- sh -c 'test -e /proc/$$/fd/0 && echo open >\"$DIR/seen\" || "
        "echo closed >\"$DIR/seen\"' <&-");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(contents_of(scratch_ / "seen"), "closed\n");
    EXPECT_EQ(shell("\"$HOLDFAST\" run key true <&- >&- 2>&-").exit_code, 0);
}

TEST_F(run, gives_the_command_no_descriptor_of_its_own) {
    const auto result =
        shell("\"$HOLDFAST\" run --status-fd 8 key -- ls /proc/self/fd 8>\"$DIR/s\" 7<.");
    // 3 is the directory that ls reads; 7 was given to us to pass on.
    EXPECT_EQ(result.out, "0\n1\n2\n3\n7\n") << result.err;
}

TEST_F(run, works_without_an_environment) {
    const auto result = run_command({"env", "-i", HOLDFAST_COMMAND, "run", "--url", server_.url(),
                                     "key", "--", "echo", "fine"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "fine\n");
}

TEST_F(run, puts_the_command_into_a_process_group_of_its_own) {
    const auto result = holdfast(
        {"run", "key", "--", "sh", "-c", "set -- $(cat /proc/$$/stat); echo $(($1 == $5))"});
    EXPECT_EQ(result.out, "1\n");
}

TEST_F(run, runs_a_shell_command_with_c_before_or_after_the_key) {
    EXPECT_EQ(holdfast({"run", "-c", "exit 7", "key"}).exit_code, 7);
    EXPECT_EQ(holdfast({"run", "key", "-c", "umask >/dev/null && exit 8"}).exit_code, 8);
    EXPECT_EQ(holdfast({"run", "-c", "true", "key", "true"}).exit_code, 64);
}

TEST_F(run, c_after_the_key_takes_one_argument) {
    for (const words& rest :
         {words{"-c", "echo", "foo"}, words{"--command", "echo", "foo"}, words{"-c"}}) {
        words arguments{"run", "key"};
        arguments.insert(arguments.end(), rest.begin(), rest.end());
        const auto result = holdfast(arguments);
        EXPECT_EQ(result.exit_code, 64) << result.err;
        EXPECT_EQ(result.out, "");
        EXPECT_TRUE(contains(result.err, "takes one argument")) << result.err;
    }
    EXPECT_EQ(holdfast({"run", "key", "--", "-c", "echo"}).exit_code, 127) << "that is a name";
}

TEST_F(run, inside_a_run_on_the_same_key_says_that_it_waits_for_itself) {
    const auto nested = [&](const std::string& outer, const std::string& inner) {
        return holdfast({"run", outer, HOLDFAST_COMMAND, "run", "-w", "1500ms", inner, "true"});
    };
    const auto same = nested("key", "key");
    EXPECT_EQ(same.exit_code, 75) << same.err;
    EXPECT_TRUE(contains(same.err, "waiting for 'key', which the 'holdfast run' around this"))
        << same.err;
    EXPECT_EQ(std::count(same.err.begin(), same.err.end(), '\n'), 1) << same.err;
    server_.command({"SET", "other", "somebody-else"});
    const auto other = nested("key", "other");
    EXPECT_EQ(other.exit_code, 75);
    EXPECT_EQ(other.err, "");
}

TEST_F(run, says_what_kept_the_command_from_running) {
    EXPECT_EQ(holdfast({"run", "key", "no-such-command"}).exit_code, 127);
    std::ofstream(scratch_ / "plain") << "text";
    const auto result = holdfast({"run", "key", (scratch_ / "plain").native()});
    EXPECT_EQ(result.exit_code, 126);
    EXPECT_NE(result.err.find("Permission denied"), std::string::npos);
    EXPECT_FALSE(server_.exists("key"));
}

TEST_F(run, n_does_not_wait) {
    auto holder = start({"run", "key", "sleep", "60"});
    wait_until_held("key");
    const auto begin = std::chrono::steady_clock::now();
    const auto result = holdfast({"run", "-n", "key", "echo", "ran"});
    EXPECT_EQ(result.exit_code, 75);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, "");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

TEST_F(run, w_waits_so_long_and_no_longer) {
    auto holder = start({"run", "key", "sleep", "60"});
    wait_until_held("key");
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(holdfast({"run", "-w", "300ms", "key", "true"}).exit_code, 75);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 300ms);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

TEST_F(run, waits_for_its_turn_without_n_and_w) {
    auto holder = start({"run", "key", "sh", "-c", "read line"}, redirect::pipe());
    wait_until_held("key");
    auto waiter = start({"run", "key", "echo", "my turn"});
    EXPECT_FALSE(waiter.wait_for(500ms));
    holder.close_input();
    EXPECT_TRUE(waiter.wait(10s).success());
    EXPECT_EQ(waiter.output(), "my turn\n");
}

TEST_F(run, E_replaces_the_code_of_a_lock_not_acquired_and_no_other) {
    auto holder = start({"run", "key", "sleep", "60"});
    wait_until_held("key");
    EXPECT_EQ(holdfast({"run", "-n", "-E", "0", "key", "true"}).exit_code, 0);
    EXPECT_EQ(holdfast({"run", "-n", "-E", "9", "key", "true"}).exit_code, 9);
    EXPECT_EQ(holdfast({"run", "-n", "-E", "9", "other", "sh", "-c", "exit 3"}).exit_code, 3);
}

TEST_F(run, labels_the_lock) {
    auto holder = start({"run", "--label", "nightly run", "key", "sleep", "60"});
    wait_until_held("key");
    EXPECT_TRUE(server_.get("key").value().ends_with(":nightly run"));
}

TEST_F(run, at_least_keeps_the_lock_when_the_command_is_faster) {
    auto holder = start({"run", "--at-least", "800ms", "key", "sh", "-c", "exit 5"});
    wait_until_held("key");
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(holdfast({"run", "-n", "key", "true"}).exit_code, 75);
    EXPECT_EQ(holder.wait(10s).code, 5);
    EXPECT_GT(std::chrono::steady_clock::now() - begin, 300ms);
    EXPECT_EQ(holdfast({"run", "-n", "key", "true"}).exit_code, 0);
}

TEST_F(run, a_signal_ends_the_wait_of_at_least_but_not_the_lock) {
    auto holder = start({"run", "--at-least", "20s", "--ttl", "10s", "key", "sh", "-c",
                         "echo $$ >'" + (scratch_ / "pid").native() + "'"});
    const pid_t command = process_in(scratch_ / "pid");
    ASSERT_TRUE(eventually(10s, [&] { return !alive(command); }));
    holder.kill(SIGTERM);
    EXPECT_EQ(holder.wait(5s).code, 0);
    EXPECT_TRUE(server_.exists("key"));
    EXPECT_GT(server_.pttl("key"), 12'000);
}

TEST_F(run, one_signal_ends_command_and_wait_and_the_lock_stays_for_at_least_that_long) {
    for (const char* command : {"", "trap 'exit 3' TERM; "}) {
        std::filesystem::remove(scratch_ / "pid");
        server_.command({"DEL", "key"});
        auto holder = start({"run", "--at-least", "5m", "key", "sh", "-c",
                             command + ("echo $$ >'" + (scratch_ / "pid").native()) +
                                 "'; while :; do sleep 0.01; done"});
        process_in(scratch_ / "pid");
        holder.kill(SIGTERM);
        EXPECT_EQ(holder.wait(10s).code, *command == '\0' ? 143 : 3) << holder.error_output();
        EXPECT_GT(server_.pttl("key"), 280'000);
        EXPECT_LE(server_.pttl("key"), 300'000);
    }
}

// Whoever took the lock may have had it while the command ran.
TEST_F(run, at_least_does_not_hide_that_the_lock_was_gone_before_the_command_ended) {
    for (const int signal : {0, SIGTERM}) {
        const auto gate = scratch_ / ("gate" + std::to_string(signal));
        auto holder = start({"run", "--at-least", "5m", "--status-fd", "1", "key", "sh", "-c",
                             "trap 'exit 3' TERM; echo $$ >" + gate.native() + ".pid; until [ -e " +
                                 gate.native() + " ]; do sleep 0.02; done"});
        process_in(gate.native() + ".pid");
        server_.command({"DEL", "key"});
        if (signal == 0) {
            std::ofstream(gate) << "\n";
        } else {
            holder.kill(signal);
        }
        EXPECT_EQ(holder.wait(10s).code, 79) << holder.error_output();
        EXPECT_TRUE(contains(holder.output(), "\"lost\"")) << holder.output();
        EXPECT_TRUE(contains(holder.error_output(), "was gone before the command had ended"))
            << holder.error_output();
    }
}

TEST_F(run, says_that_its_release_was_not_confirmed) {
    const auto gate = scratch_ / "gate";
    auto holder = start(
        {"run", "key", "sh", "-c", "until [ -e " + gate.native() + " ]; do sleep 0.02; done"});
    wait_until_held("key");
    server_.command({"ACL", "SETUSER", "default", "-del"});
    std::ofstream(gate) << "\n";
    EXPECT_EQ(holder.wait(10s).code, 0) << holder.error_output();
    EXPECT_TRUE(contains(holder.error_output(), "the release of 'key' was not confirmed"))
        << holder.error_output();
    EXPECT_TRUE(contains(holder.error_output(), "within 30s")) << holder.error_output();
}

TEST_F(run, says_who_refused_the_release_and_why) {
    server_.command({"ACL", "SETUSER", "guest", "on", "nopass", "~*", "+@all"});
    const auto result =
        holdfast({"run", "--user", "guest", "key", "redis-cli", "-p",
                  std::to_string(server_.port()), "ACL", "SETUSER", "guest", "-del"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const auto said =
        "the release of 'key' was not confirmed: 127.0.0.1:" + std::to_string(server_.port()) +
        ": ";
    EXPECT_TRUE(contains(result.err, said)) << result.err;
    EXPECT_TRUE(contains(result.err, "'holdfast doctor' shows which rights are missing"))
        << result.err;
    EXPECT_TRUE(contains(result.err, "; the lock ends by itself within 30s")) << result.err;
}

TEST_F(run, at_least_keeps_the_lock_no_longer_where_the_lease_is) {
    auto holder = start({"run", "--at-least", "5s", "--ttl", "1m", "key", "sh", "-c",
                         "echo $$ >'" + (scratch_ / "pid").native() + "'; exec sleep 60"});
    process_in(scratch_ / "pid");
    holder.kill(SIGTERM);
    EXPECT_EQ(holder.wait(10s).code, 143) << holder.error_output();
    EXPECT_TRUE(server_.exists("key"));
    EXPECT_LE(server_.pttl("key"), 5'000);
}

TEST_F(run, at_least_is_kept_though_the_signal_went_to_the_command_alone) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
        server_.command({"DEL", "key"});
        auto holder = start({"run", "--at-least", "5m", "key", "sh", "-c",
                             "ulimit -c 0; kill -" + std::to_string(signal) + " $$"});
        EXPECT_EQ(holder.wait(10s).code, 128 + signal) << holder.error_output();
        EXPECT_GT(server_.pttl("key"), 280'000) << signal;
    }
}

TEST_F(run, at_least_is_waited_for_when_another_signal_or_at_most_has_ended_the_command) {
    for (const words& options : {words{}, words{"--at-most", "100ms"}}) {
        words arguments{"run", "--at-least", "800ms"};
        arguments.insert(arguments.end(), options.begin(), options.end());
        const std::string command = options.empty() ? "kill -KILL $$" : "exec sleep 60";
        arguments.insert(arguments.end(), {"key", "sh", "-c", command});
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_EQ(holdfast(arguments).exit_code, options.empty() ? 137 : 143);
        EXPECT_GE(std::chrono::steady_clock::now() - begin, 800ms);
        EXPECT_FALSE(server_.exists("key")) << "nothing is left for --at-least";
    }
}

/// A command that ends, and a signal that comes, while holdfast is stopped: it finds both at once.
class run_at_its_end : public run {
  protected:
    process end_with_a_signal(words options) {
        const std::string go = (scratch_ / "go").native();
        options.insert(options.begin(), "run");
        options.insert(options.end(),
                       {"key", "sh", "-c",
                        "echo $$ >'" + (scratch_ / "pid").native() + "'; until [ -e '" + go +
                            "' ]; do sleep 0.01; done; exit 6"});
        auto holder = start(options);
        const pid_t command = process_in(scratch_ / "pid");
        holder.pause();
        std::ofstream(go) << "now";
        EXPECT_TRUE(eventually(10s, [&] { return !alive(command); }));
        holder.kill(SIGTERM);
        holder.resume();
        return holder;
    }
};

TEST_F(run_at_its_end, a_signal_ends_the_wait_of_at_least_but_not_the_lock) {
    auto holder = end_with_a_signal({"--at-least", "20s", "--ttl", "10s"});
    EXPECT_EQ(holder.wait(5s).code, 6) << holder.error_output();
    EXPECT_GT(server_.pttl("key"), 12'000);
}

TEST_F(run_at_its_end, a_signal_changes_nothing_when_there_is_nothing_left_to_wait_for) {
    auto holder = end_with_a_signal({"--status-fd", "2"});
    EXPECT_EQ(holder.wait(5s), (exit_status{.code = 6}));
    EXPECT_EQ(json_of(holder.error_output()).at("child_exit"), 6);
    EXPECT_FALSE(server_.exists("key"));
}

TEST_F(run, at_most_asks_the_command_to_end) {
    const auto result = holdfast({"run", "--at-most", "200ms", "key", "sleep", "60"});
    EXPECT_EQ(result.exit_code, 143);
    EXPECT_TRUE(contains(result.err, "stopped after --at-most 200ms")) << result.err;
    EXPECT_FALSE(server_.exists("key"));
    const words polite = {"run",
                          "--at-most",
                          "200ms",
                          "key",
                          "sh",
                          "-c",
                          "trap 'exit 3' TERM; while :; do sleep 0.01; done"};
    EXPECT_EQ(holdfast(polite).exit_code, 3);
}

TEST_F(run, at_most_kills_a_command_that_does_not_listen) {
    const auto result = holdfast({"run", "--at-most", "200ms", "--kill-after", "300ms", "key", "sh",
                                  "-c", "trap '' TERM; while :; do sleep 0.05; done"});
    EXPECT_EQ(result.exit_code, 137);
    EXPECT_FALSE(server_.exists("key"));
}

TEST_F(run, keeps_the_lock_beyond_its_ttl) {
    auto holder = start({"run", "--ttl", "2s", "--kill-after", "400ms", "key", "sleep", "5"});
    wait_until_held("key");
    const auto owner = server_.get("key");
    EXPECT_FALSE(eventually(4500ms, [&] { return server_.get("key") != owner; }));
    EXPECT_EQ(holder.wait(10s).code, 0) << holder.error_output();
}

TEST_F(run, keeps_the_lock_when_kill_after_leaves_little_of_the_ttl) {
    auto holder = start({"run", "--ttl", "6s", "--kill-after", "5s", "key", "sleep", "10"});
    wait_until_held("key");
    const auto owner = server_.get("key");
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(eventually(9s, [&] { return server_.get("key") != owner; }));
    EXPECT_EQ(holder.wait(20s).code, 0) << holder.error_output();
    EXPECT_GT(std::chrono::steady_clock::now() - begin, 9s);
}

TEST_F(run, refuses_a_ttl_that_leaves_no_time_to_work) {
    const auto result = holdfast({"run", "--ttl", "5s", "key", "true"});
    EXPECT_EQ(result.exit_code, 64);
    EXPECT_NE(result.err.find("--kill-after 5s"), std::string::npos) << result.err;
    // 5s and one per cent of the ttl and 2ms
    EXPECT_EQ(holdfast({"run", "--ttl", "5052ms", "key", "true"}).exit_code, 64);
    EXPECT_EQ(holdfast({"run", "--ttl", "6s", "key", "true"}).exit_code, 0);
    EXPECT_EQ(holdfast({"run", "--ttl", "100ms", "--kill-after", "100ms", "key", "true"}).exit_code,
              64);
}

TEST_F(run, reads_durations_as_people_write_them) {
    for (const char* duration : {"20", "20s", "20000ms", "1m", "0.5m", "1m30s", "1h30m"}) {
        EXPECT_EQ(holdfast({"run", "--ttl", duration, "key", "true"}).exit_code, 0) << duration;
    }
    for (const char* duration : {"", "x", "20 s", "-5s", "5w", "30m1h"}) {
        EXPECT_EQ(holdfast({"run", "--ttl", duration, "key", "true"}).exit_code, 64) << duration;
    }
}

TEST_F(run, refuses_what_it_does_not_understand) {
    for (const words& arguments :
         {words{}, words{"run"}, words{"run", "key"}, words{"walk"},
          words{"run", "--bogus", "key", "true"}, words{"run", "-n", "-w", "1s", "key", "true"},
          words{"run", "-E", "256", "key", "true"},
          words{"run", "--status-fd", "99", "key", "true"}, words{"status"}, words{"unlock", "key"},
          words{"lab", "no-such-scheme"}, words{"local", "dance"}}) {
        const auto result = holdfast(arguments);
        EXPECT_EQ(result.exit_code, 64) << result.out;
        EXPECT_FALSE(result.err.empty());
        EXPECT_EQ(result.out, "");
    }
}

}  // namespace
}  // namespace holdfast::test
