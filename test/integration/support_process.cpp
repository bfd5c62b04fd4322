#include "support/process.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "support/eventually.hpp"
#include "support/scratch_directory.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

char state_of(pid_t id) {
    std::ifstream file{"/proc/" + std::to_string(id) + "/stat"};
    std::string line;
    std::getline(file, line);
    const auto name_end = line.rfind(')');
    return name_end == std::string::npos ? 'X' : line.at(name_end + 2);
}

/// A zombie runs no more; somebody else has to reap the orphans of these tests.
bool alive(pid_t id) { return state_of(id) != 'X' && state_of(id) != 'Z'; }

TEST(support_scratch_directory, exists_until_its_owner_is_gone) {
    std::filesystem::path path;
    {
        scratch_directory directory;
        path = directory.path();
        std::filesystem::create_directory(directory / "inner");
        std::ofstream{directory / "inner/file"} << "text";
        scratch_directory moved{std::move(directory)};
        EXPECT_TRUE(std::filesystem::exists(moved / "inner/file"));
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(support_process, run_command_gives_exit_code_and_both_outputs) {
    const command_result result = run_command(
        {"sh", "-c", "cat; echo $GREETING >&2; pwd; exit 7"},
        {.environment = {{"GREETING", "hello"}}, .input = "in ", .working_directory = "/"});
    EXPECT_EQ(result.exit_code, 7);
    EXPECT_EQ(result.out, "in /\n");
    EXPECT_EQ(result.err, "hello\n");
}

TEST(support_process, captures_every_line_of_children_that_write_at_the_same_time) {
    const auto result = run_command(
        {"bash", "-c",
         "for child in 1 2 3 4; do for ((i = 0; i < 1000; ++i)); do echo line; done & done; wait"});
    EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 4000);
}

TEST(support_process, run_command_reports_a_signal_like_a_shell) {
    EXPECT_EQ(run_command({"sh", "-c", "kill -9 $$"}).exit_code, 128 + SIGKILL);
}

TEST(support_process, run_command_kills_the_whole_group_on_timeout) {
    scratch_directory directory;
    EXPECT_THROW(run_command({"sh", "-c", "sleep 600 & echo $! >pid; wait"},
                             {.working_directory = directory.path(), .timeout = 500ms}),
                 std::runtime_error);
    pid_t sleeper = 0;
    ASSERT_TRUE(std::ifstream{directory / "pid"} >> sleeper);
    EXPECT_TRUE(eventually(5s, [&] { return !alive(sleeper); }));
}

TEST(support_process, run_command_leaves_no_child_of_the_command_behind) {
    scratch_directory directory;
    run_command({"sh", "-c", "sleep 600 & echo $! >pid"}, {.working_directory = directory.path()});
    pid_t sleeper = 0;
    ASSERT_TRUE(std::ifstream{directory / "pid"} >> sleeper);
    EXPECT_TRUE(eventually(5s, [&] { return !alive(sleeper); }));
}

TEST(support_process, a_missing_program_is_an_error_with_its_name) {
    try {
        process child{{.arguments = {"no-such-program-anywhere"}}};
        FAIL() << "it ran";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string{error.what()}.find("no-such-program-anywhere"), std::string::npos);
    }
}

TEST(support_process, wait_for_is_bounded_and_the_signal_is_reported) {
    process child{{.arguments = {"sleep", "600"}}};
    EXPECT_FALSE(child.wait_for(20ms).has_value());
    EXPECT_THROW(child.wait(1ms), std::runtime_error);
    child.kill(SIGTERM);
    EXPECT_EQ(child.wait(5s), (exit_status{.code = 0, .signal = SIGTERM}));
    EXPECT_FALSE(child.running());
}

TEST(support_process, the_destructor_kills) {
    pid_t id = 0;
    {
        process child{{.arguments = {"sleep", "600"}}};
        id = child.id();
        EXPECT_TRUE(alive(id));
    }
    EXPECT_FALSE(alive(id));
}

TEST(support_process, survives_the_thread_that_started_it) {
    std::optional<process> child;
    std::thread{[&] { child.emplace(process_options{.arguments = {"sleep", "600"}}); }}.join();
    EXPECT_FALSE(child->wait_for(50ms).has_value());
}

[[noreturn]] void start_a_child_and_crash(const char* pid_file) {
    process child{{.arguments = {"sleep", "600"}}};
    std::ofstream{pid_file} << child.id() << std::flush;
    ::raise(SIGKILL);
    std::abort();
}

TEST(support_process, dies_with_a_parent_that_crashed) {
    // The crash happens in a second run of this test, which learns the file from its environment.
    constexpr auto variable = "SUPPORT_PROCESS_PID_FILE";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    std::optional<scratch_directory> directory;
    if (std::getenv(variable) == nullptr) {
        directory.emplace();
        ::setenv(variable, (*directory / "pid").c_str(), 1);
    }
    EXPECT_EXIT(start_a_child_and_crash(std::getenv(variable)), testing::KilledBySignal(SIGKILL),
                "");
    ::unsetenv(variable);
    pid_t sleeper = 0;
    ASSERT_TRUE(std::ifstream{directory.value() / "pid"} >> sleeper);
    EXPECT_TRUE(eventually(5s, [&] { return !alive(sleeper); }));
}

TEST(support_process, pause_stops_and_resume_continues) {
    process child{{.arguments = {"sleep", "600"}}};
    child.pause();
    EXPECT_EQ(state_of(child.id()), 'T');
    child.resume();
    EXPECT_TRUE(eventually(5s, [&] { return state_of(child.id()) == 'S'; }));
    child.pause();
    EXPECT_EQ(state_of(child.id()), 'T');
}

TEST(support_process, talks_through_pipes) {
    process child{{.arguments = {"cat"}, .input = redirect::pipe(), .output = redirect::pipe()}};
    child.write("one\ntwo\nthr");
    EXPECT_EQ(child.read_line(5s), "one");
    EXPECT_EQ(child.read_line(5s), "two");
    EXPECT_EQ(child.read_line(20ms), std::nullopt);
    child.write("ee\n");
    EXPECT_EQ(child.read_line(5s), "three");
    child.close_input();
    EXPECT_TRUE(child.wait(5s).success());
    EXPECT_EQ(child.read_line(5s), std::nullopt);
}

TEST(support_process, writing_to_a_child_that_has_gone_is_an_error_not_a_signal) {
    process child{{.arguments = {"true"}, .input = redirect::pipe()}};
    child.wait(5s);
    EXPECT_THROW(child.write("nobody reads"), std::runtime_error);
}

TEST(support_process, appends_to_a_file) {
    scratch_directory directory;
    for (const char* word : {"first", "second"}) {
        process child{{.arguments = {"echo", word}, .output = redirect::file(directory / "log")}};
        EXPECT_TRUE(child.wait(5s).success());
    }
    std::ifstream file{directory / "log"};
    std::string first, second;
    file >> first >> second;
    EXPECT_EQ(first + second, "firstsecond");
}

TEST(support_process, inherits_no_descriptor_beyond_the_standard_streams) {
    const int leaking = ::dup(STDIN_FILENO);  // deliberately without close-on-exec
    const auto listing = run_command({"ls", "/proc/self/fd"});
    ::close(leaking);
    // The fourth is the directory that ls reads.
    EXPECT_EQ(listing.out, "0\n1\n2\n3\n");
}

}  // namespace
}  // namespace holdfast::test
