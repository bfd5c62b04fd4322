#include <signal.h>

#include <algorithm>
#include <sstream>

#include "tool.hpp"

namespace holdfast::test {
namespace {

const std::vector<std::pair<int, std::string>> forwarded = {{SIGINT, "INT"},   {SIGTERM, "TERM"},
                                                            {SIGHUP, "HUP"},   {SIGQUIT, "QUIT"},
                                                            {SIGUSR1, "USR1"}, {SIGUSR2, "USR2"}};

class signals : public tool_test {
  protected:
    std::string path(const char* name) const { return (scratch_ / name).native(); }

    /// A command, and a child of it, that write down the signal they get, and end.
    words listener(const std::string& signal) const {
        const std::string program =
            "import os, signal, sys, time\n"
            "def write(name, text):\n"
            "    with open(f'{sys.argv[2]}/{name}', 'a') as file: file.write(text + '\\n')\n"
            "def hear(number, frame):\n"
            "    write('heard', sys.argv[1])\n"
            "    os._exit(9)\n"
            "signal.signal(getattr(signal, 'SIG' + sys.argv[1]), hear)\n"
            "os.fork()\n"
            "write('ready', str(os.getpid()))\n"
            // Not pause(): a signal right before it would be handled after it only. Not for ever.
            "for turn in range(2000): time.sleep(0.01)\n";
        return {"run", "key", "--", "python3", "-c", program, signal, scratch_.path().native()};
    }

    /// Both of them listen when it returns.
    process start_listener(const std::string& signal) const {
        std::filesystem::remove(scratch_ / "ready");
        std::filesystem::remove(scratch_ / "heard");
        process holder = start(listener(signal));
        EXPECT_TRUE(eventually(20s, [&] { return lines_in("ready") == 2; }));
        return holder;
    }

    /// The command and its child, in any order.
    std::vector<pid_t> listeners() const {
        std::istringstream numbers(contents_of(scratch_ / "ready"));
        std::vector<pid_t> found;
        for (pid_t each = 0; numbers >> each;) found.push_back(each);
        return found;
    }

    long lines_in(const char* name) const {
        const std::string text = contents_of(scratch_ / name);
        return std::count(text.begin(), text.end(), '\n');
    }
};

TEST_F(signals, are_forwarded_to_the_whole_group) {
    for (const auto& [number, name] : forwarded) {
        auto holder = start_listener(name);
        holder.kill(number);
        EXPECT_EQ(holder.wait(10s).code, 9) << name;
        EXPECT_TRUE(eventually(5s, [&] { return lines_in("heard") == 2; })) << name;
        EXPECT_EQ(contents_of(scratch_ / "heard"), name + "\n" + name + "\n");
        EXPECT_FALSE(server_.exists("key"));
    }
}

TEST_F(signals, that_end_the_command_give_128_and_their_number) {
    auto holder = start({"run", "key", "sleep", "60"});
    wait_until_held("key");
    ASSERT_TRUE(eventually(10s, [&] {
        return !contents_of("/proc/" + std::to_string(holder.id()) + "/task/" +
                            std::to_string(holder.id()) + "/children")
                    .empty();
    }));
    holder.kill(SIGINT);
    EXPECT_EQ(holder.wait(10s).code, 130);
    EXPECT_FALSE(server_.exists("key"));
}

TEST_F(signals, end_the_wait_for_a_lock_and_leave_nothing_behind) {
    server_.command({"SET", "key", "somebody", "PX", "60000"});
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        auto waiter = start({"run", "key", "echo", "ran"});
        ASSERT_TRUE(eventually(10s, [&] {
            return server_.command({"CLIENT", "LIST"}).find("name=holdfast") != std::string::npos;
        }));
        waiter.kill(signal);
        EXPECT_EQ(waiter.wait(10s).code, 128 + signal);
        EXPECT_EQ(waiter.output(), "");
        ASSERT_TRUE(eventually(10s, [&] {
            return server_.command({"CLIENT", "LIST"}).find("name=holdfast") == std::string::npos;
        }));
    }
    EXPECT_EQ(server_.get("key"), "somebody");
}

TEST_F(signals, end_the_wait_of_lock_too) {
    server_.command({"SET", "key", "somebody", "PX", "60000"});
    auto waiter = start({"lock", "key"});
    ASSERT_TRUE(eventually(10s, [&] {
        return server_.command({"CLIENT", "LIST"}).find("name=holdfast") != std::string::npos;
    }));
    waiter.kill(SIGTERM);
    EXPECT_EQ(waiter.wait(10s).code, 128 + SIGTERM);
    EXPECT_EQ(waiter.output(), "");
    EXPECT_EQ(server_.get("key"), "somebody");
}

TEST_F(signals, reach_a_command_that_is_stopped) {
    for (const auto& [number, name] : forwarded) {
        auto holder = start_listener(name);
        const auto all = listeners();
        for (const pid_t each : all) ::kill(each, SIGSTOP);
        ASSERT_TRUE(eventually(10s, [&] { return std::all_of(all.begin(), all.end(), stopped); }));
        holder.kill(number);
        EXPECT_EQ(holder.wait(10s).code, 9) << name;
        EXPECT_TRUE(eventually(5s, [&] { return lines_in("heard") == 2; })) << name;
    }
}

TEST_F(signals, that_were_ignored_stay_ignored) {
    const auto result =
        shell("trap '' HUP; \"$HOLDFAST\" run key -- sh -c 'kill -HUP $$; echo lived'");
    EXPECT_EQ(result.out, "lived\n");
}

TEST_F(signals, the_command_gets_term_when_holdfast_is_killed) {
    auto holder = start({"run", "--ttl", "1500ms", "--kill-after", "200ms", "key", "--", "sh", "-c",
                         "trap 'echo TERM >" + path("heard") + "; exit' TERM; echo $$ >" +
                             path("ready") + "; while :; do sleep 0.01; done"});
    const pid_t command = process_in(scratch_ / "ready");
    holder.kill(SIGKILL);
    EXPECT_TRUE(eventually(10s, [&] { return !alive(command); }));
    EXPECT_EQ(contents_of(scratch_ / "heard"), "TERM\n");
    EXPECT_LE(server_.pttl("key"), 1500);
    EXPECT_EQ(holdfast({"run", "-w", "3s", "key", "true"}).exit_code, 0);
}

}  // namespace
}  // namespace holdfast::test
