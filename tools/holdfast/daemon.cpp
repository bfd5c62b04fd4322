#include "daemon.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "descriptor.hpp"

namespace holdfast::tool {
namespace {

void use_default_signals() {
    for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Null streams, and nothing else open but `kept`, which moves to descriptor 3.
void keep_only(int kept) {
    const int null = ::open("/dev/null", O_RDWR);
    for (int stream = 0; stream <= 2; ++stream) ::dup2(null, stream);
    if (kept != 3) ::dup3(kept, 3, O_CLOEXEC);
    ::close_range(4, ~0U, 0);
}

[[noreturn]] void become(const std::vector<char*>& arguments, int report_to) {
    use_default_signals();
    keep_only(report_to);
    // Not in whatever directory we were called from: that one must stay removable.
    if (::chdir("/") != 0) ::_exit(1);
    daemon_start report{::getpid(), 0};
    if (::write(3, &report, sizeof report) != sizeof report) ::_exit(1);
    ::execvp(arguments.front(), arguments.data());
    report.error = errno;
    if (::write(3, &report, sizeof report) != sizeof report) ::_exit(1);
    ::_exit(1);
}

/// The last report before the pipe closes, which a successful exec does.
daemon_start read_report(int from) {
    daemon_start report{-1, ECHILD};
    daemon_start next;
    while (::read(from, &next, sizeof next) == sizeof next) report = next;
    return report;
}

}  // namespace

daemon_start start_daemon(const std::vector<std::string>& arguments) {
    std::vector<char*> pointers;
    pointers.reserve(arguments.size() + 1);
    for (const std::string& argument : arguments) {
        pointers.push_back(const_cast<char*>(argument.c_str()));
    }
    pointers.push_back(nullptr);

    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("pipe");
    descriptor reading(ends[0]);
    descriptor writing(ends[1]);

    const pid_t between = ::fork();
    if (between < 0) throw_errno("fork");
    if (between == 0) {
        ::setsid();
        if (::fork() == 0) become(pointers, writing.get());
        ::_exit(0);
    }
    writing.reset();
    while (::waitpid(between, nullptr, 0) < 0 && errno == EINTR) continue;
    return read_report(reading.get());
}

}  // namespace holdfast::tool
