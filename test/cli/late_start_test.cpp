#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "tool.hpp"

namespace holdfast::test {
namespace {

/// Between the grant and the command: whoever stands still there may have lost the lock.
class late_start : public tool_test {
  protected:
    words command_that_leaves_a_mark() const {
        return {"key", "--", "touch", (scratch_ / "ran").native()};
    }
    bool ran() const { return std::filesystem::exists(scratch_ / "ran"); }

    static pid_t supervisor_of(const process& holder) {
        EXPECT_TRUE(eventually(10s, [&] { return !children_of(holder.id()).empty(); }));
        return children_of(holder.id()).front();
    }
};

/// A pipe that takes so many bytes and then blocks whoever writes to it.
class narrow_pipe {
  public:
    narrow_pipe(const std::filesystem::path& path, std::size_t room) {
        EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
        end_ = file_descriptor{::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK)};
        const int size = ::fcntl(end_.get(), F_SETPIPE_SZ, 4096);
        const std::string filling(static_cast<std::size_t>(size) - room, '.');
        EXPECT_EQ(::write(end_.get(), filling.data(), filling.size()),
                  size - static_cast<int>(room));
    }
    std::string drain() {
        std::array<char, 4096> bytes{};
        const auto got = ::read(end_.get(), bytes.data(), bytes.size());
        return got > 0 ? std::string(bytes.data(), static_cast<std::size_t>(got)) : "";
    }

  private:
    file_descriptor end_;
};

TEST_F(late_start, under_a_lease_that_is_over_does_not_happen) {
    // There is room for the line about the connection, and none for that about the lock.
    narrow_pipe errors(scratch_ / "errors", 75);
    process_options how;
    how.arguments = holdfast_with({"run", "-v", "--ttl", "700ms", "--kill-after", "100ms"});
    for (const auto& word : command_that_leaves_a_mark()) how.arguments.push_back(word);
    how.environment = environment_;
    how.error = redirect::file((scratch_ / "errors").native());
    process holder(how);
    wait_until_held("key");
    server_.pause();
    EXPECT_FALSE(holder.wait_for(1500ms).has_value());  // longer than any lease that it may have
    std::string said;
    const bool ended = eventually(10s, [&] {
        said += errors.drain();
        return holder.wait_for(1ms).has_value();
    });
    server_.resume();
    EXPECT_TRUE(ended);
    EXPECT_EQ(holder.wait(10s), exit_status{.code = 79});
    said += errors.drain();
    EXPECT_TRUE(contains(said, "lost before the command was started")) << said;
    EXPECT_FALSE(ran());
}

/// Nobody can open the file while somebody has such a lease and does not let go of it.
class unopenable_program {
  public:
    explicit unopenable_program(const std::filesystem::path& path) {
        ::signal(SIGIO, SIG_IGN);
        std::ofstream(path) << "#!/bin/sh\nexec sleep 60\n";
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        end_ = file_descriptor{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
        leased_ = ::fcntl(end_.get(), F_SETLEASE, F_WRLCK) == 0;
    }
    [[nodiscard]] bool leased() const { return leased_; }

  private:
    file_descriptor end_;
    bool leased_ = false;
};

TEST_F(late_start, of_a_program_that_cannot_be_opened_ends_with_at_most) {
    const unopenable_program program(scratch_ / "program");
    ASSERT_TRUE(program.leased());
    auto holder =
        start({"run", "--at-most", "500ms", "--kill-after", "100ms", "key", scratch_ / "program"});
    wait_until_held("key");
    EXPECT_TRUE(holder.wait_for(10s).has_value()) << holder.error_output();
    EXPECT_TRUE(eventually(5s, [&] { return !server_.exists("key"); }));
}

TEST_F(late_start, of_a_program_that_cannot_be_opened_ends_when_holdfast_is_killed) {
    const unopenable_program program(scratch_ / "program");
    ASSERT_TRUE(program.leased());
    auto holder = start({"run", "--kill-after", "100ms", "key", scratch_ / "program"});
    wait_until_held("key");
    const pid_t supervisor = supervisor_of(holder);
    ASSERT_TRUE(eventually(10s, [&] { return !children_of(supervisor).empty(); }));
    const pid_t command = children_of(supervisor).front();
    ::kill(holder.id(), SIGKILL);
    EXPECT_TRUE(eventually(5s, [&] { return !alive(command) && !alive(supervisor); }));
}

TEST_F(late_start, happens_although_the_supervisor_was_stopped_while_we_waited) {
    server_.command({"SET", "key", "somebody else", "PX", "60000"});
    auto holder = start({"run", "key", "--", "touch", (scratch_ / "ran").native()});
    const pid_t supervisor = supervisor_of(holder);
    ::kill(supervisor, SIGSTOP);
    ASSERT_TRUE(eventually(5s, [&] { return stopped(supervisor); }));
    server_.command({"DEL", "key"});
    EXPECT_EQ(holder.wait(20s), exit_status{}) << holder.error_output();
    EXPECT_TRUE(ran());
}

TEST_F(late_start, is_watched_by_a_supervisor_that_goes_on_when_somebody_stops_it) {
    auto holder = start({"run", "key", "--", "sleep", "60"});
    wait_until_held("key");
    const pid_t supervisor = supervisor_of(holder);
    ASSERT_TRUE(eventually(10s, [&] { return !children_of(supervisor).empty(); }));
    ::kill(supervisor, SIGSTOP);
    EXPECT_TRUE(eventually(5s, [&] { return !stopped(supervisor); }));
    ::kill(holder.id(), SIGTERM);
    EXPECT_TRUE(holder.wait_for(10s).has_value());
}

}  // namespace
}  // namespace holdfast::test
