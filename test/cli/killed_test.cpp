#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "tool.hpp"

namespace holdfast::test {
namespace {

using clock = std::chrono::steady_clock;

/// A command with a family: a child in its group, a grandchild in a session of its own, and one
/// that its parent has left behind in a session of its own. `$1` is where they write their numbers,
/// `$2` what they do about TERM.
constexpr const char* family = R"(
import os, signal, sys, time
directory, manners = sys.argv[1:]
def note(name, text):
    with open(f'{directory}/{name}.new', 'w') as file: file.write(f'{text}\n')
    os.rename(f'{directory}/{name}.new', f'{directory}/{name}')
def live(name):
    def heard(number, frame):
        note(f'{name}.term', 'TERM')
        if manners == 'polite': os._exit(0)
    signal.signal(signal.SIGTERM, heard)
    note(name, os.getpid())
    for turn in range(6000): time.sleep(0.01)
    os._exit(0)
def beget(prepare, name):
    if os.fork() == 0:
        prepare()
        live(name)
def leave_behind():
    os.setsid()
    if os.fork() != 0: os._exit(0)
beget(lambda: None, 'child')
beget(os.setsid, 'session')
beget(leave_behind, 'daemon')
live('command')
)";

/// The directory of its control group, in the second version of them; empty if there is none.
std::filesystem::path control_group_of(pid_t process) {
    std::istringstream groups(contents_of("/proc/" + std::to_string(process) + "/cgroup"));
    for (std::string line; std::getline(groups, line);) {
        if (!line.starts_with("0::")) continue;
        for (const std::string mounted : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
            const auto directory = (mounted + line.substr(3));
            if (std::filesystem::exists(directory + "/cgroup.subtree_control")) return directory;
        }
    }
    return {};
}

/// We may make one below our own, and it would be given no controllers.
bool control_group_can_be_made() {
    const auto own = control_group_of(::getpid());
    const auto probe = own / ("holdfast-test-" + std::to_string(::getpid()));
    if (own.empty() || contents_of(own / "cgroup.subtree_control").size() > 1) return false;
    if (::mkdir(probe.c_str(), 0755) != 0) return false;
    const bool can_kill = std::filesystem::exists(probe / "cgroup.kill");
    ::rmdir(probe.c_str());
    return can_kill;
}

/// Runs what follows where no control group is to be seen.
words without_control_groups() {
    return {"unshare", ::geteuid() == 0 ? "-m" : "-rm", "sh", "-c",
            "mount -t tmpfs none /sys/fs/cgroup && exec \"$0\" \"$@\""};
}

bool control_groups_can_be_hidden() {
    auto command = without_control_groups();
    command.emplace_back("true");
    return run_command(command).exit_code == 0;
}

const words members = {"command", "child", "session", "daemon"};

class killed : public tool_test {
  protected:
    // By handles: the numbers of the dead may be somebody else's by now.
    ~killed() override {
        for (const file_descriptor& member : handles_) kill_by(member);
    }

    void add_to_family(pid_t member) {
        family_.push_back(member);
        handles_.push_back(handle_of(member));
    }

    words run_family(const words& options, const std::string& manners) const {
        words arguments{"run"};
        arguments.insert(arguments.end(), options.begin(), options.end());
        arguments.insert(arguments.end(),
                         {"key", "--", "python3", "-c", family, scratch_.path().native(), manners});
        return arguments;
    }

    void start_family(const words& options, const std::string& manners) {
        holder_.emplace(start(run_family(options, manners)));
        await_family();
    }

    /// It has the tree of processes and nothing else to go by.
    void start_family_without_control_groups(const words& options) {
        process_options how;
        how.arguments = without_control_groups();
        const words command = holdfast_with(run_family(options, "stubborn"));
        how.arguments.insert(how.arguments.end(), command.begin(), command.end());
        how.environment = environment_;
        how.error = redirect::capture();
        holder_.emplace(how);
        await_family();
        for (const pid_t member : family_) {
            ASSERT_EQ(control_group_of(member), control_group_of(::getpid()));
        }
    }

    void await_family() {
        for (const std::string& name : members) add_to_family(process_in(scratch_ / name));
    }

    /// Somebody who is in the control group of the family, and nowhere in its tree.
    process stranger_in_the_group() const {
        process stranger({.arguments = {"sleep", "60"}});
        const auto group = control_group_of(family_.front());
        EXPECT_NE(group, control_group_of(::getpid()));
        std::ofstream(group / "cgroup.procs") << stranger.id();
        EXPECT_EQ(control_group_of(stranger.id()), group);
        return stranger;
    }

    bool anybody_alive() const {
        return std::any_of(family_.begin(), family_.end(),
                           [](pid_t member) { return alive(member); });
    }

    bool all_heard_term() const {
        return std::all_of(members.begin(), members.end(), [&](const std::string& name) {
            return std::filesystem::exists(scratch_ / (name + ".term"));
        });
    }

    /// The process between holdfast and the command.
    pid_t supervisor() const { return std::stoi(stat_field(family_.front(), 4)); }

    static bool group_is_removed(const std::filesystem::path& group) {
        return group == control_group_of(::getpid()) || !std::filesystem::exists(group);
    }

    /// Everybody has ended while the server still keeps the lock for the dead.
    void expect_dead_within_the_lease() {
        const auto owner = server_.get("key");
        ASSERT_TRUE(owner);
        EXPECT_TRUE(eventually(10s, [&] { return !anybody_alive(); }));
        EXPECT_EQ(server_.get("key"), owner) << "the lease was over before the family was";
    }

    std::optional<process> holder_;
    std::vector<pid_t> family_;
    std::vector<file_descriptor> handles_;
};

const words short_lease = {"--ttl", "3s", "--kill-after", "800ms"};

TEST_F(killed, all_descendants_get_term_at_once) {
    start_family({"--ttl", "20s"}, "polite");
    holder_->kill(SIGKILL);
    EXPECT_TRUE(eventually(3s, [&] { return !anybody_alive(); }));
    EXPECT_TRUE(all_heard_term());
    EXPECT_GT(server_.pttl("key"), 10'000) << "nobody waits for the lease to end";
}

TEST_F(killed, all_descendants_are_killed_before_the_lease_is_over) {
    start_family(short_lease, "stubborn");
    holder_->kill(SIGKILL);
    expect_dead_within_the_lease();
    EXPECT_TRUE(all_heard_term()) << "there was no TERM first";
}

TEST_F(killed, the_rest_of_a_shell_command_does_not_run_on) {
    holder_.emplace(start({"run", "key", "-c",
                           "sh -c 'echo $$ >\"$DIR/sleeper\"; exec sleep 30'; echo >\"$DIR/on\""}));
    add_to_family(process_in(scratch_ / "sleeper"));
    holder_->kill(SIGKILL);
    EXPECT_TRUE(eventually(3s, [&] { return !anybody_alive(); }));
    EXPECT_FALSE(std::filesystem::exists(scratch_ / "on"));
}

TEST_F(killed, by_a_signal_to_its_whole_group_leaves_nobody_either) {
    process_options options;
    options.arguments = holdfast_with(run_family(short_lease, "stubborn"));
    options.environment = environment_;
    options.own_process_group = true;
    holder_.emplace(options);
    await_family();
    holder_->kill(SIGKILL);
    expect_dead_within_the_lease();
}

TEST_F(killed, by_other_signals_leaves_nobody_either) {
    // Not SEGV, which the sanitizers make an exit of their own.
    for (const int signal : {SIGSYS, SIGABRT, SIGALRM}) {
        family_.clear();
        for (const std::string& name : members) std::filesystem::remove(scratch_ / name);
        start_family({"--ttl", "20s", "--kill-after", "200ms"}, "stubborn");
        holder_->kill(signal);
        EXPECT_EQ(holder_->wait(10s).signal, signal);
        EXPECT_TRUE(eventually(5s, [&] { return !anybody_alive(); })) << signal;
        server_.command({"DEL", "key"});
    }
}

TEST_F(killed, stopped_instead_holdfast_lets_nobody_outlive_the_lease) {
    start_family(short_lease, "stubborn");
    holder_->pause();
    expect_dead_within_the_lease();
    EXPECT_TRUE(all_heard_term()) << "there was no TERM first";
    holder_->resume();
    EXPECT_EQ(holder_->wait(10s).code, 79) << holder_->error_output();
}

TEST_F(killed, the_supervisor_instead_all_descendants_end_with_it) {
    start_family({"--kill-after", "800ms"}, "stubborn");
    ASSERT_NE(supervisor(), holder_->id());
    ::kill(supervisor(), SIGKILL);
    EXPECT_EQ(holder_->wait(10s).code, 137) << holder_->error_output();
    EXPECT_FALSE(anybody_alive());
    EXPECT_FALSE(server_.exists("key"));
    EXPECT_NE(holder_->error_output().find("supervisor"), std::string::npos);
}

/// Stops a process in the middle of starting another one, which goes on: the first has not even
/// learned the number of the second. Returns when it is so.
void stop_in_fork(pid_t process) {
    const auto options = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
    ASSERT_EQ(::ptrace(PTRACE_SEIZE, process, nullptr, options), 0) << std::strerror(errno);
    int status = 0;
    unsigned long begun = 0;
    while (begun == 0) {
        ASSERT_EQ(::waitpid(process, &status, __WALL), process);
        ASSERT_TRUE(WIFSTOPPED(status));
        if (status >> 16 == PTRACE_EVENT_STOP || status >> 16 == 0) {
            ::ptrace(PTRACE_CONT, process, nullptr,
                     WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status));
            continue;
        }
        ASSERT_EQ(::ptrace(PTRACE_GETEVENTMSG, process, nullptr, &begun), 0);
    }
    const auto second = static_cast<pid_t>(begun);
    ASSERT_EQ(::waitpid(second, &status, __WALL), second);
    ASSERT_EQ(::ptrace(PTRACE_DETACH, second, nullptr, nullptr), 0);
}

TEST_F(killed, the_supervisor_before_it_could_say_whom_it_started_all_descendants_end_with_it) {
    server_.command({"SET", "key", "somebody", "PX", "60000"});
    holder_.emplace(start(run_family({"--kill-after", "500ms"}, "stubborn")));
    ASSERT_TRUE(eventually(10s, [&] { return children_of(holder_->id()).size() == 1; }));
    const pid_t supervisor = children_of(holder_->id()).front();
    ASSERT_TRUE(eventually(10s, [&] {
        return contents_of("/proc/" + std::to_string(supervisor) + "/comm") == "hf-supervisor\n";
    }));
    std::thread release([&] {
        std::this_thread::sleep_for(200ms);  // it is looked at by then; later is as good
        server_.command({"DEL", "key"});
    });
    stop_in_fork(supervisor);
    release.join();
    ASSERT_FALSE(HasFatalFailure());
    await_family();
    ::kill(supervisor, SIGKILL);
    EXPECT_EQ(holder_->wait(10s).code, 71) << holder_->error_output();
    EXPECT_FALSE(anybody_alive()) << "and the lock is free";
    EXPECT_FALSE(server_.exists("key"));
}

// A shell that has started somebody in the background may become holdfast.
TEST_F(killed, the_supervisor_instead_children_of_before_are_left_alone) {
    process_options how;
    const auto command = holdfast_with(run_family({"--kill-after", "200ms"}, "stubborn"));
    how.arguments = {"sh", "-c", "sleep 60 & echo $! >\"$DIR/bystander\"; exec \"$@\"", "sh"};
    how.arguments.insert(how.arguments.end(), command.begin(), command.end());
    how.environment = environment_;
    holder_.emplace(how);
    await_family();
    const pid_t bystander = process_in(scratch_ / "bystander");
    const file_descriptor handle = handle_of(bystander);
    ::kill(supervisor(), SIGKILL);
    EXPECT_EQ(holder_->wait(10s).code, 137);
    EXPECT_FALSE(anybody_alive());
    EXPECT_TRUE(alive(bystander));
    kill_by(handle);
}

TEST_F(killed, a_stopped_supervisor_lets_nobody_outlive_a_lost_lease) {
    start_family(short_lease, "stubborn");
    ::kill(supervisor(), SIGSTOP);
    server_.pause();
    EXPECT_EQ(holder_->wait(10s).code, 79) << holder_->error_output();
    EXPECT_FALSE(anybody_alive());
    server_.resume();
}

TEST_F(killed, the_supervisor_is_not_found_under_the_name_of_holdfast) {
    start_family({}, "polite");
    EXPECT_EQ(contents_of("/proc/" + std::to_string(holder_->id()) + "/comm"), "holdfast\n");
    const auto name = contents_of("/proc/" + std::to_string(supervisor()) + "/comm");
    EXPECT_EQ(name.find("holdfast"), std::string::npos) << "killall -9 holdfast would end both";
    EXPECT_NE(stat_field(supervisor(), 5), stat_field(holder_->id(), 5)) << "and kill -9 %1";
}

TEST_F(killed, with_its_supervisor_at_once_the_command_itself_still_ends) {
    start_family({}, "stubborn");
    const auto group = control_group_of(family_.front());
    const pid_t between = supervisor();
    holder_->pause();
    ::kill(between, SIGKILL);
    holder_->kill(SIGKILL);
    EXPECT_TRUE(eventually(5s, [&] { return !alive(family_.front()); }));
    for (const file_descriptor& member : handles_) kill_by(member);
    EXPECT_TRUE(
        eventually(5s, [&] { return group_is_removed(group) || ::rmdir(group.c_str()) == 0; }));
}

TEST_F(killed, without_a_supervisor_no_command_is_started) {
    server_.command({"SET", "key", "somebody", "PX", "60000"});
    auto waiter = start({"run", "key", "touch", (scratch_ / "ran").native()});
    ASSERT_TRUE(eventually(10s, [&] {
        return server_.command({"CLIENT", "LIST"}).find("name=holdfast") != std::string::npos;
    }));
    ASSERT_EQ(children_of(waiter.id()).size(), 1U);
    ::kill(children_of(waiter.id()).front(), SIGKILL);
    server_.command({"DEL", "key"});
    EXPECT_EQ(waiter.wait(10s).code, 71) << waiter.error_output();
    EXPECT_FALSE(std::filesystem::exists(scratch_ / "ran"));
    EXPECT_FALSE(server_.exists("key"));
}

TEST_F(killed, at_most_ends_all_descendants) {
    start_family({"--at-most", "4s", "--kill-after", "300ms"}, "stubborn");
    EXPECT_EQ(holder_->wait(10s).code, 137) << holder_->error_output();
    EXPECT_FALSE(anybody_alive());
    EXPECT_TRUE(all_heard_term());
}

TEST_F(killed, a_loss_ends_all_descendants) {
    start_family(short_lease, "stubborn");
    const auto expiry = clock::now() + std::chrono::milliseconds(server_.pttl("key"));
    server_.pause();
    EXPECT_TRUE(eventually(10s, [&] { return !anybody_alive(); }));
    EXPECT_LT(clock::now(), expiry + 1s);  // a renewal may have come after we looked
    EXPECT_EQ(holder_->wait(10s).code, 79) << holder_->error_output();
    EXPECT_TRUE(all_heard_term());
    server_.resume();
}

TEST_F(killed, descendants_that_never_stay_end_too) {
    // A process that lives for a moment only, and has a successor by then: whoever looks for it
    // finds the name of one that is gone.
    const std::string runner =
        "import os, sys\n"
        "os.setsid()\n"
        "for turn in range(1000000):\n"
        "    if os.fork() != 0: os._exit(0)\n"
        "    with open(sys.argv[1], 'a') as file: file.write('.')\n";
    const std::string path = (scratch_ / "track").native();
    holder_.emplace(start({"run", "--kill-after", "100ms", "key", "--", "python3", "-c",
                           "import os, sys, time\n"
                           "if os.fork() == 0: os.execvp('python3', ['python3', '-c', "
                           "*sys.argv[1:]])\n"
                           "time.sleep(60)\n",
                           runner, path}));
    const auto length = [&] { return contents_of(path).size(); };
    ASSERT_TRUE(eventually(10s, [&] { return length() > 20; }));
    holder_->kill(SIGKILL);
    // As long as it lives it writes every few milliseconds.
    EXPECT_TRUE(eventually(10s, [&] {
        const auto before = length();
        return !eventually(300ms, [&] { return length() != before; });
    }));
}

TEST_F(killed, all_descendants_are_in_a_control_group_of_their_own_where_one_can_be_made) {
    start_family({}, "polite");
    const auto group = control_group_of(family_.front());
    EXPECT_EQ(group != control_group_of(holder_->id()), control_group_can_be_made()) << group;
    for (const pid_t member : family_) EXPECT_EQ(control_group_of(member), group);
    EXPECT_EQ(control_group_of(supervisor()), control_group_of(holder_->id()));
    holder_->kill(SIGKILL);
    EXPECT_TRUE(eventually(5s, [&] { return group_is_removed(group); }));
}

TEST_F(killed, all_descendants_are_found_by_the_tree_alone_where_no_control_group_can_be_made) {
    if (!control_groups_can_be_hidden()) GTEST_SKIP() << "no mount namespace can be made";
    start_family_without_control_groups(short_lease);
    holder_->kill(SIGKILL);
    expect_dead_within_the_lease();
    EXPECT_TRUE(all_heard_term()) << "there was no TERM first";
}

TEST_F(killed, the_supervisor_instead_the_tree_alone_is_enough_where_no_control_group_can_be_made) {
    if (!control_groups_can_be_hidden()) GTEST_SKIP() << "no mount namespace can be made";
    start_family_without_control_groups({"--kill-after", "800ms"});
    ::kill(supervisor(), SIGKILL);
    EXPECT_EQ(holder_->wait(10s).code, 137) << holder_->error_output();
    EXPECT_FALSE(anybody_alive());
}

TEST_F(killed, the_control_group_is_killed_as_a_whole_where_one_can_be_made) {
    if (!control_group_can_be_made()) GTEST_SKIP() << "no control group can be made";
    start_family(short_lease, "stubborn");
    auto stranger = stranger_in_the_group();
    holder_->kill(SIGKILL);
    EXPECT_EQ(stranger.wait(10s).signal, SIGKILL);
    EXPECT_TRUE(eventually(5s, [&] { return !anybody_alive(); }));
}

TEST_F(killed, the_supervisor_instead_its_control_group_is_killed_as_a_whole) {
    if (!control_group_can_be_made()) GTEST_SKIP() << "no control group can be made";
    start_family({"--kill-after", "800ms"}, "stubborn");
    auto stranger = stranger_in_the_group();
    ::kill(supervisor(), SIGKILL);
    EXPECT_EQ(stranger.wait(10s).signal, SIGKILL);
    EXPECT_EQ(holder_->wait(10s).code, 137) << holder_->error_output();
}

TEST_F(killed, the_supervisor_instead_leaves_no_control_group) {
    start_family({"--kill-after", "200ms"}, "polite");
    const auto group = control_group_of(family_.front());
    ::kill(supervisor(), SIGKILL);
    EXPECT_EQ(holder_->wait(10s).code, 137) << holder_->error_output();
    EXPECT_TRUE(group_is_removed(group));
}

// Two containers number their processes alike, and may share a control group.
TEST_F(killed, the_supervisor_instead_nobody_in_another_container_ends) {
    if (run_command({"unshare", "-rpf", "true"}).exit_code != 0) {
        GTEST_SKIP() << "no process namespace can be made";
    }
    const auto start_in_container = [&](const std::string& key) {
        process_options options;
        options.arguments = {"unshare", "-rpf", "--kill-child", "--mount-proc"};
        const words inside = holdfast_with({"run", key, "sh", "-c", "echo up; sleep 60"});
        options.arguments.insert(options.arguments.end(), inside.begin(), inside.end());
        options.environment = environment_;
        options.output = redirect::pipe();
        process container(options);
        EXPECT_EQ(container.read_line(10s), "up");
        return container;
    };
    const auto only_child = [](pid_t parent) { return children_of(parent).at(0); };
    auto other = start_in_container("other");
    auto one = start_in_container("one");
    const pid_t supervisor = only_child(only_child(one.id()));
    const pid_t holdfast_of_other = only_child(other.id());
    const pid_t command_of_other = only_child(only_child(holdfast_of_other));
    EXPECT_TRUE(control_group_of(only_child(supervisor)) != control_group_of(holdfast_of_other) ||
                !control_group_can_be_made());
    ::kill(supervisor, SIGKILL);
    EXPECT_FALSE(one.wait(10s).success());
    EXPECT_TRUE(alive(command_of_other));
    EXPECT_TRUE(server_.exists("other"));
    ::kill(holdfast_of_other, SIGTERM);
    EXPECT_EQ(other.wait(10s).code, 128 + SIGTERM);
}

/// Descendants that outlive the command.
class left_behind : public killed {
  protected:
    /// A command that ends with 7 when its daemon runs, which ends when `$DIR/go` appears.
    words daemon(words options) const {
        options.insert(options.begin(), "run");
        options.insert(options.end(),
                       {"key", "--", "sh", "-c",
                        "setsid sh -c 'trap \"echo >$DIR/heard; exit\" TERM; echo $$ >$DIR/daemon; "
                        "until [ -e $DIR/go ]; do sleep 0.01; done' & "
                        "until [ -e $DIR/daemon ]; do sleep 0.01; done; exit 7"});
        return options;
    }
    void start_daemon(const words& options) {
        holder_.emplace(start(daemon(options)));
        add_to_family(process_in(scratch_ / "daemon"));
    }
    void let_go() const { std::ofstream(scratch_ / "go") << "now"; }
};

TEST_F(left_behind, by_a_command_run_on_without_the_lock) {
    start_daemon({});
    EXPECT_EQ(holder_->wait(10s).code, 7);
    EXPECT_TRUE(anybody_alive());
    EXPECT_FALSE(server_.exists("key"));
}

TEST_F(left_behind, stay_in_the_control_group_of_the_caller) {
    start_daemon({});
    EXPECT_EQ(holder_->wait(10s).code, 7);
    EXPECT_TRUE(eventually(5s, [&] {
        return control_group_of(family_.front()) == control_group_of(::getpid());
    })) << control_group_of(family_.front());
}

TEST_F(left_behind, with_wait_all_are_waited_for_with_the_lock) {
    start_daemon({"--wait-all", "--ttl", "1s", "--kill-after", "200ms"});
    EXPECT_FALSE(holder_->wait_for(1500ms));
    EXPECT_TRUE(server_.exists("key"));
    let_go();
    EXPECT_EQ(holder_->wait(10s).code, 7) << holder_->error_output();
    EXPECT_FALSE(server_.exists("key"));
}

TEST_F(left_behind, with_wait_all_count_for_the_status_descriptor) {
    start_daemon({"--wait-all", "--status-fd", "2"});
    EXPECT_FALSE(holder_->wait_for(500ms));
    let_go();
    EXPECT_EQ(holder_->wait(10s).code, 7);
    const auto said = json_of(holder_->error_output());
    EXPECT_EQ(said.at("outcome"), "completed");
    EXPECT_EQ(said.at("child_exit"), 7);
    EXPECT_GE(said.at("held_ms").as_int64(), 500);
}

TEST_F(left_behind, with_wait_all_hear_signals) {
    start_daemon({"--wait-all"});
    EXPECT_FALSE(holder_->wait_for(300ms)) << "the command has ended by now";
    holder_->kill(SIGTERM);
    EXPECT_EQ(holder_->wait(10s).code, 7) << holder_->error_output();
    EXPECT_TRUE(std::filesystem::exists(scratch_ / "heard"));
}

TEST_F(left_behind, with_wait_all_are_ended_by_at_most_and_by_a_kill) {
    start_daemon({"--wait-all", "--at-most", "1s"});
    EXPECT_EQ(holder_->wait(10s).code, 7) << holder_->error_output();
    EXPECT_FALSE(anybody_alive());
    EXPECT_TRUE(contains(holder_->error_output(), "what the command left behind was stopped after"))
        << holder_->error_output();
    std::filesystem::remove(scratch_ / "daemon");
    start_daemon({"--wait-all"});
    EXPECT_FALSE(holder_->wait_for(300ms));
    holder_->kill(SIGKILL);
    EXPECT_TRUE(eventually(5s, [&] { return !anybody_alive(); }));
}

// Shells let what they start in the background ignore INT and QUIT.
TEST_F(left_behind, with_wait_all_are_told_of_and_ended_by_the_second_interrupt) {
    start_daemon({"--wait-all", "-v"});
    const auto said = [&](const char* what) {
        return eventually(10s, [&] { return contains(holder_->error_output(), what); });
    };
    EXPECT_TRUE(said("the command has ended with 7; waiting for all that it has started"));
    holder_->kill(SIGINT);
    EXPECT_FALSE(holder_->wait_for(300ms)) << "the first is theirs to hear or to ignore";
    holder_->kill(SIGQUIT);
    EXPECT_EQ(holder_->wait(10s).code, 7) << holder_->error_output();
    EXPECT_TRUE(std::filesystem::exists(scratch_ / "heard")) << "they get TERM before KILL";
    EXPECT_FALSE(anybody_alive());
    EXPECT_FALSE(server_.exists("key"));
}

TEST_F(left_behind, with_wait_all_who_ignore_term_too_are_killed_after_the_grace) {
    holder_.emplace(start({"run", "--wait-all", "--kill-after", "200ms", "--status-fd", "2", "key",
                           "--", "sh", "-c",
                           "(trap '' TERM; echo >$DIR/ready; exec sleep 60) & "
                           "until [ -e $DIR/ready ]; do sleep 0.01; done; exit 3"}));
    ASSERT_TRUE(eventually(10s, [&] { return std::filesystem::exists(scratch_ / "ready"); }));
    EXPECT_FALSE(holder_->wait_for(500ms)) << "the command has ended by now";
    for (int n = 0; n < 2; ++n) {
        holder_->kill(SIGINT);
        holder_->wait_for(200ms);  // two signals of a kind at once are one
    }
    EXPECT_EQ(holder_->wait(10s).code, 3) << holder_->error_output();
    EXPECT_EQ(json_of(holder_->error_output()).at("outcome"), "completed");
}

TEST_F(left_behind, with_wait_all_nobody_means_no_waiting) {
    EXPECT_EQ(holdfast({"run", "--wait-all", "key", "true"}).exit_code, 0);
}

}  // namespace
}  // namespace holdfast::test
