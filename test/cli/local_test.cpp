#include <signal.h>
#include <sys/stat.h>

#include <fstream>

#include "tool.hpp"

namespace holdfast::test {
namespace {

/// A machine of its own: nothing named, an empty runtime directory.
class local : public testing::Test {
  protected:
    ~local() override { holdfast({"local", "stop"}); }

    environment_variables environment() const {
        return {{"HOLDFAST_URL", ""},
                {"REDIS_URL", ""},
                {"REDISCLI_AUTH", ""},
                {"XDG_RUNTIME_DIR", runtime_.path().native()}};
    }

    command_result holdfast(words arguments, environment_variables more = {}) const {
        command_options how;
        how.environment = std::move(more);
        how.environment.merge(environment());
        return run_command(holdfast_with(std::move(arguments)), how);
    }

    std::filesystem::path directory() const { return runtime_ / "holdfast"; }

    /// The servers that run for this directory: it is where they work.
    std::vector<pid_t> servers() const {
        std::vector<pid_t> found;
        for (const auto& process : std::filesystem::directory_iterator("/proc")) {
            std::error_code unreadable;
            const auto place = std::filesystem::read_symlink(process.path() / "cwd", unreadable);
            if (place == directory()) found.push_back(std::stoi(process.path().filename()));
        }
        return found;
    }

    scratch_directory runtime_{"run"};
};

TEST_F(local, starts_on_first_use_and_is_found_again) {
    EXPECT_EQ(holdfast({"run", "-n", "key", "true"}).exit_code, 0);
    EXPECT_EQ(holdfast({"run", "-n", "key", "true"}).exit_code, 0);
    EXPECT_EQ(servers().size(), 1U);
}

TEST_F(local, says_that_it_is_of_this_machine_only_when_chosen_by_default) {
    const auto by_default = holdfast({"run", "key", "true"});
    EXPECT_NE(by_default.err.find("this machine only"), std::string::npos) << by_default.err;
    EXPECT_EQ(std::count(by_default.err.begin(), by_default.err.end(), '\n'), 1);
    const std::string user = run_command({"id", "-un"}).out;
    EXPECT_TRUE(contains(by_default.err, "only, for user " + user.substr(0, user.find('\n')) +
                                             ", through " + directory().native() + "\n"))
        << by_default.err;
    EXPECT_EQ(holdfast({"run", "--url", "local:", "key", "true"}).err, "");
    EXPECT_EQ(holdfast({"run", "key", "true"}, {{"HOLDFAST_URL", "local:"}}).err, "");
}

TEST_F(local, starts_once_when_fifty_start_it_at_the_same_instant) {
    std::vector<process> callers;
    for (int n = 0; n < 50; ++n) {
        process_options options;
        options.arguments = holdfast_with({"run", "-n", "key" + std::to_string(n), "echo", "ran"});
        options.environment = environment();
        options.output = redirect::capture();
        options.error = redirect::capture();
        callers.emplace_back(options);
    }
    for (process& caller : callers) {
        EXPECT_EQ(caller.wait(60s).code, 0) << caller.error_output();
        EXPECT_EQ(caller.output(), "ran\n");
    }
    EXPECT_EQ(servers().size(), 1U);
}

TEST_F(local, excludes_like_any_server) {
    EXPECT_EQ(holdfast({"lock", "key"}).exit_code, 0);
    EXPECT_EQ(holdfast({"run", "-n", "key", "true"}).exit_code, 75);
}

TEST_F(local, cleans_up_the_socket_of_a_server_that_was_killed) {
    holdfast({"local", "start"});
    ASSERT_EQ(servers().size(), 1U);
    const pid_t killed = servers().front();
    ::kill(killed, SIGKILL);
    ASSERT_TRUE(eventually(10s, [&] { return !alive(killed); }));
    EXPECT_TRUE(std::filesystem::exists(directory() / "redis.sock"));
    EXPECT_EQ(holdfast({"run", "key", "true"}).exit_code, 0);
    EXPECT_EQ(servers().size(), 1U);
}

TEST_F(local, does_not_take_a_stopped_server_for_a_dead_one) {
    holdfast({"local", "start"});
    const pid_t server = servers().at(0);
    ::kill(server, SIGSTOP);
    EXPECT_EQ(holdfast({"run", "-n", "key", "true"}).exit_code, 69);
    EXPECT_EQ(servers().size(), 1U);
    EXPECT_EQ(holdfast({"local", "stop"}).exit_code, 0);
    EXPECT_TRUE(eventually(10s, [&] { return !alive(server); }));
}

TEST_F(local, keeps_to_a_directory_that_nobody_else_can_enter) {
    holdfast({"local", "start"});
    struct stat found {};
    ASSERT_EQ(::stat(directory().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777U, 0700U);
}

TEST_F(local, refuses_a_directory_that_is_open_to_others) {
    std::filesystem::create_directory(directory());
    ASSERT_EQ(::chmod(directory().c_str(), 0750), 0);
    const auto result = holdfast({"run", "key", "true"});
    EXPECT_EQ(result.exit_code, 78);
    EXPECT_NE(result.err.find("open to others"), std::string::npos) << result.err;
    EXPECT_TRUE(servers().empty());
    ASSERT_EQ(::chmod(directory().c_str(), 0700), 0);
}

TEST_F(local, refuses_a_symbolic_link) {
    std::filesystem::create_directory(runtime_ / "elsewhere");
    ASSERT_EQ(::chmod((runtime_ / "elsewhere").c_str(), 0700), 0);
    std::filesystem::create_directory_symlink(runtime_ / "elsewhere", directory());
    EXPECT_EQ(holdfast({"run", "key", "true"}).exit_code, 78);
    std::filesystem::remove(directory());
}

TEST_F(local, refuses_a_directory_of_somebody_else) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to give a directory away";
    std::filesystem::create_directory(directory());
    ASSERT_EQ(::chmod(directory().c_str(), 0700), 0);
    ASSERT_EQ(::chown(directory().c_str(), 1, 1), 0);
    const auto result = holdfast({"run", "key", "true"});
    EXPECT_EQ(result.exit_code, 78);
    EXPECT_NE(result.err.find("belongs to user 1"), std::string::npos) << result.err;
    std::filesystem::remove(directory());
}

TEST_F(local, says_that_redis_server_is_missing) {
    const auto result = holdfast({"run", "key", "true"}, {{"PATH", "/nonexistent"}});
    EXPECT_EQ(result.exit_code, 69);
    EXPECT_NE(result.err.find("redis-server, which is not in PATH"), std::string::npos)
        << result.err;
}

TEST_F(local, refuses_a_path_that_is_too_long_for_a_socket) {
    const auto deep = runtime_ / std::string(120, 'x');
    std::filesystem::create_directory(deep);
    EXPECT_EQ(holdfast({"run", "key", "true"}, {{"XDG_RUNTIME_DIR", deep.native()}}).exit_code, 78);
}

TEST_F(local, works_in_a_directory_with_an_odd_name) {
    const auto odd = runtime_ / "a b%20?c#d";
    std::filesystem::create_directory(odd);
    const environment_variables there{{"XDG_RUNTIME_DIR", odd.native()}};
    EXPECT_EQ(holdfast({"run", "key", "true"}, there).exit_code, 0);
    EXPECT_EQ(holdfast({"local", "stop"}, there).exit_code, 0);
}

TEST_F(local, lives_in_a_directory_of_the_user_under_tmp_without_a_runtime_directory) {
    // In a /tmp of its own, because the user may have a server in the real one. The command is
    // named by a descriptor: it may lie in the real one too.
    if (run_command({"unshare", "-rm", "true"}).exit_code != 0) {
        GTEST_SKIP() << "needs a user namespace";
    }
    command_options how;
    how.environment = environment();
    how.environment["HOLDFAST"] = HOLDFAST_COMMAND;
    const auto result =
        run_command({"unshare", "-rm", "sh", "-c",
                     "exec 9<\"$HOLDFAST\" && mount -t tmpfs tmpfs /tmp && unset XDG_RUNTIME_DIR\n"
                     "/proc/self/fd/9 run -n key -- stat -c '%a %u' /tmp/holdfast-0\n"
                     "/proc/self/fd/9 local status\n"
                     "/proc/self/fd/9 local stop\n"
                     "chmod 755 /tmp/holdfast-0 && /proc/self/fd/9 run -n key true\n"
                     "echo \"$?\""},
                    how);
    EXPECT_TRUE(result.out.starts_with("700 0\nrunning, process ")) << result.out << result.err;
    EXPECT_NE(result.out.find("unix:///tmp/holdfast-0/redis.sock\nstopped\n78\n"),
              std::string::npos)
        << result.out << result.err;
}

TEST_F(local, starts_stops_and_tells_its_status) {
    EXPECT_EQ(holdfast({"local", "status"}).exit_code, 69);
    EXPECT_EQ(holdfast({"local", "start"}).exit_code, 0);
    const auto status = holdfast({"local", "status"});
    EXPECT_EQ(status.exit_code, 0);
    EXPECT_NE(status.out.find("process " + std::to_string(servers().at(0))), std::string::npos);
    EXPECT_EQ(holdfast({"local", "stop"}).out, "stopped\n");
    EXPECT_TRUE(eventually(10s, [&] { return servers().empty(); }));
    EXPECT_EQ(holdfast({"local", "stop"}).out, "not running\n");
    EXPECT_EQ(holdfast({"local", "status"}).exit_code, 69);
}

TEST_F(local, says_which_locks_end_with_it) {
    ASSERT_EQ(holdfast({"lock", "--label", "night shift", "key"}).exit_code, 0);
    const auto stopped = holdfast({"local", "stop"});
    EXPECT_EQ(stopped.exit_code, 0);
    EXPECT_EQ(stopped.out, "stopped\n");
    EXPECT_TRUE(contains(stopped.err, "a lock is held, which this ends: 'key' by ")) << stopped.err;
    EXPECT_TRUE(contains(stopped.err, "(night shift), its lease runs another ")) << stopped.err;
    ASSERT_EQ(holdfast({"local", "start"}).exit_code, 0);
    EXPECT_EQ(holdfast({"local", "stop"}).err, "") << "nobody holds anything";
}

TEST_F(local, is_given_no_advice_that_its_url_cannot_follow) {
    const auto result = holdfast({"doctor", "--url", "local:"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(contains(result.out, "before 'holdfast local stop'")) << result.out;
    EXPECT_FALSE(contains(result.out, "restart_guard")) << result.out;
}

TEST_F(local, does_not_keep_the_output_of_its_starter_open) {
    // The command substitution ends when the last writer of the pipe is gone.
    command_options how;
    how.environment = environment();
    how.environment["HOLDFAST"] = HOLDFAST_COMMAND;
    how.timeout = 20s;
    const auto result = run_command(
        {"sh", "-c", "owner=$(\"$HOLDFAST\" lock key 2>&1 | tail -1); echo \"${owner%%:*}\""}, how);
    EXPECT_EQ(result.out, "hf1\n");
}

}  // namespace
}  // namespace holdfast::test
