#include "support/spawn.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>

#include "support/errors.hpp"
#include "support/file_descriptor.hpp"
#include "support/task_queue.hpp"

namespace holdfast::test {

namespace {

/// Everything the child needs, laid out before the fork: a child of a process with threads may not
/// allocate before it executes its program.
struct prepared_child {
    explicit prepared_child(const spawn_request& request)
        : arguments{request.arguments},
          variables{merged_environment(request.environment)},
          directory{request.working_directory.native()},
          streams{request.streams},
          own_group{request.own_process_group},
          argv{pointers_to(arguments)},
          envp{pointers_to(variables)} {}

    static std::vector<std::string> merged_environment(
        const std::map<std::string, std::string>& added) {
        std::vector<std::string> merged;
        for (char** entry = environ; *entry != nullptr; ++entry) {
            const std::string variable{*entry};
            if (!added.contains(variable.substr(0, variable.find('=')))) merged.push_back(variable);
        }
        for (const auto& [name, value] : added)
            merged.push_back(std::string{name}.append("=").append(value));
        return merged;
    }

    static std::vector<char*> pointers_to(std::vector<std::string>& strings) {
        std::vector<char*> pointers;
        pointers.reserve(strings.size() + 1);
        for (std::string& text : strings) pointers.push_back(text.data());
        pointers.push_back(nullptr);
        return pointers;
    }

    std::vector<std::string> arguments;
    std::vector<std::string> variables;
    std::string directory;
    std::array<int, 3> streams;
    bool own_group;
    std::vector<char*> argv;
    std::vector<char*> envp;
};

void reset_signals() {
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
}

/// Runs in the child. Returns only on failure, with errno set.
void become(const prepared_child& child, pid_t parent) {
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return;
    if (::getppid() != parent) ::_exit(127);  // it died before the prctl
    if (child.own_group && ::setpgid(0, 0) != 0) return;
    if (!child.directory.empty() && ::chdir(child.directory.c_str()) != 0) return;
    for (int stream = 0; stream < 3; ++stream)
        if (::dup2(child.streams[static_cast<std::size_t>(stream)], stream) < 0) return;
    // Descriptors that others in this process opened without O_CLOEXEC must not leak: a child that
    // holds the other end of a connection hides its closing.
    ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    reset_signals();
    ::execvpe(child.argv[0], child.argv.data(), child.envp.data());
}

/// The error of the child, or 0 when the program runs: executing it closes the pipe.
int error_from(const file_descriptor& pipe) {
    int error = 0;
    ssize_t size = 0;
    do size = ::read(pipe.get(), &error, sizeof error);
    while (size < 0 && errno == EINTR);
    return size == sizeof error ? error : 0;
}

pid_t fork_and_execute(const prepared_child& child) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("cannot create a pipe");
    file_descriptor reading{ends[0]};
    file_descriptor writing{ends[1]};

    const pid_t parent = ::getpid();
    const pid_t id = ::fork();
    if (id < 0) throw_errno("cannot fork");
    if (id == 0) {
        become(child, parent);
        const int error = errno;
        const ssize_t ignored = ::write(writing.get(), &error, sizeof error);
        ::_exit(ignored < 0 ? 126 : 127);
    }

    writing.reset();
    if (const int error = error_from(reading)) {
        ::waitpid(id, nullptr, 0);
        throw_error("cannot run " + child.arguments.front(), error);
    }
    return id;
}

/// Signals are for the threads of the test. All but SIGCHLD: sent to a thread that blocks it, it
/// is kept instead of ignored, and then interrupts the system calls of another thread.
void leave_signals_to_others() {
    sigset_t blocked;
    sigfillset(&blocked);
    sigdelset(&blocked, SIGCHLD);
    ::pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
}

/// Never destroyed: a child is killed when the thread that forked it ends, and children may be
/// owned by objects that are destroyed after every static of this file.
task_queue& forking_thread() {
    static task_queue* const queue = [] {
        auto* created = new task_queue;
        std::thread{[created] {
            leave_signals_to_others();
            while (true) created->wait_and_run();
        }}.detach();
        return created;
    }();
    return *queue;
}

}  // namespace

pid_t spawn(const spawn_request& request) {
    const prepared_child child{request};
    pid_t id = -1;
    forking_thread().run([&] { id = fork_and_execute(child); });
    return id;
}

}  // namespace holdfast::test
