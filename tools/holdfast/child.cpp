#include "child.hpp"

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "descriptor.hpp"

namespace holdfast::tool {
namespace {

std::string_view name_of(std::string_view variable) {
    return variable.substr(0, variable.find('='));
}

std::vector<char*> merged_environment(const std::vector<std::string>& added) {
    const auto replaced = [&](std::string_view variable) {
        for (const std::string& other : added) {
            if (name_of(other) == name_of(variable)) return true;
        }
        return false;
    };
    std::vector<char*> result;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        if (!replaced(*variable)) result.push_back(*variable);
    }
    for (const std::string& variable : added) {
        result.push_back(const_cast<char*>(variable.c_str()));
    }
    result.push_back(nullptr);
    return result;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
    std::vector<char*> result;
    result.reserve(texts.size() + 1);
    for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
    result.push_back(nullptr);
    return result;
}

/// As fork(), but the child begins its life in that control group: whoever is moved into one may
/// have children outside of it by then.
pid_t fork_into(int control_group) {
    clone_args how{};
    how.flags = CLONE_INTO_CGROUP;
    how.exit_signal = SIGCHLD;
    how.cgroup = static_cast<decltype(how.cgroup)>(control_group);
    return static_cast<pid_t>(::syscall(SYS_clone3, &how, sizeof how));
}

/// What runs between fork and exec.
[[noreturn]] void become(char* const* arguments, char* const* environment, pid_t parent,
                         clock::time_point start_by, const signal_queue& signals, int report_to) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have died before the kernel knew that we care.
    if (::getppid() != parent) ::_exit(1);
    signals.restore();
    // Whoever wanted it may have stood still since then, and so may we.
    const bool late = clock::now() >= start_by;
    if (!late) ::execvpe(arguments[0], arguments, environment);
    const int error = late ? ETIME : errno;
    if (::write(report_to, &error, sizeof error) != sizeof error) ::_exit(1);
    ::_exit(1);
}

}  // namespace

child_start start_child(const child_command& command, const signal_queue& signals) {
    const std::vector<char*> arguments = pointers_to(command.arguments);
    const std::vector<char*> environment = merged_environment(command.environment);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw_errno("pipe");
    descriptor reading(ends[0]);
    descriptor writing(ends[1]);

    const pid_t parent = ::getpid();
    child_start started;
    if (command.control_group >= 0) started.process = fork_into(command.control_group);
    if (started.process < 0) started.process = ::fork();
    if (started.process < 0) throw_errno("fork");
    if (started.process == 0) {
        become(arguments.data(), environment.data(), parent, command.start_by, signals,
               writing.get());
    }
    ::setpgid(started.process, started.process);  // whoever comes first, child or parent
    started.outcome = std::move(reading);
    return started;
}

std::optional<int> child_start::look() const {
    int error = 0;
    const auto size = ::read(outcome.get(), &error, sizeof error);
    if (size < 0) return std::nullopt;
    return size == sizeof error ? error : 0;
}

}  // namespace holdfast::tool
