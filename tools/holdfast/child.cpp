#include "child.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
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

/// What runs between fork and exec: other threads are gone, so nothing here may allocate or lock.
[[noreturn]] void become(char* const* arguments, char* const* environment, pid_t parent,
                         const signal_queue& signals, int report_to) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    // The parent may have died before the kernel knew that we care.
    if (::getppid() != parent) ::_exit(1);
    signals.restore();
    ::execvpe(arguments[0], arguments, environment);
    const int error = errno;
    if (::write(report_to, &error, sizeof error) != sizeof error) ::_exit(1);
    ::_exit(1);
}

}  // namespace

child_start start_child(const child_command& command, const signal_queue& signals) {
    const std::vector<char*> arguments = pointers_to(command.arguments);
    const std::vector<char*> environment = merged_environment(command.environment);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("pipe");
    descriptor reading(ends[0]);
    descriptor writing(ends[1]);

    const pid_t parent = ::getpid();
    child_start started{.process = ::fork()};
    if (started.process < 0) throw_errno("fork");
    if (started.process == 0) {
        become(arguments.data(), environment.data(), parent, signals, writing.get());
    }
    ::setpgid(started.process, started.process);  // whoever comes first, child or parent
    writing.reset();
    int error = 0;
    if (::read(reading.get(), &error, sizeof error) == sizeof error) {
        ::waitpid(started.process, nullptr, 0);
        started.error = error;
    }
    return started;
}

}  // namespace holdfast::tool
