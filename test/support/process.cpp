#include "support/process.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <stdexcept>

#include "support/errors.hpp"
#include "support/sockets.hpp"
#include "support/spawn.hpp"

namespace holdfast::test {

namespace {

using std::chrono::milliseconds;

/// Both ends of one redirected stream; only a pipe and a capture have an end of ours.
struct stream_ends {
    file_descriptor childs;
    file_descriptor ours;
};

file_descriptor open_file(const std::string& path, int flags) {
    file_descriptor file{::open(path.c_str(), flags | O_CLOEXEC, 0644)};
    if (!file) throw_errno("cannot open " + path);
    return file;
}

file_descriptor duplicate(int descriptor) {
    file_descriptor copy{::fcntl(descriptor, F_DUPFD_CLOEXEC, 3)};
    if (!copy) throw_errno("cannot duplicate a descriptor");
    return copy;
}

stream_ends open_pipe(int stream) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("cannot create a pipe");
    file_descriptor reading{ends[0]};
    file_descriptor writing{ends[1]};
    if (stream == STDIN_FILENO) return {std::move(reading), std::move(writing)};
    return {std::move(writing), std::move(reading)};
}

/// A file in memory: unlike a pipe it never fills, so nobody has to drain it while the child runs.
stream_ends open_capture(const std::string& text) {
    file_descriptor ours{::memfd_create("stream", MFD_CLOEXEC)};
    if (!ours) throw_errno("cannot create a file in memory");
    const auto size = static_cast<ssize_t>(text.size());
    if (::pwrite(ours.get(), text.data(), text.size(), 0) != size)
        throw_errno("cannot write the input of a child");
    // The kernel does not guard the offset of such a file: children that write at the same time
    // would overwrite each other's lines.
    if (::fcntl(ours.get(), F_SETFL, O_APPEND) != 0) throw_errno("cannot append to a file");
    return {duplicate(ours.get()), std::move(ours)};
}

stream_ends open_stream(const redirect& target, int stream) {
    const int flags = stream == STDIN_FILENO ? O_RDONLY : O_WRONLY | O_CREAT | O_APPEND;
    switch (target.to) {
        case redirect::kind::inherit: return {duplicate(stream), {}};
        case redirect::kind::null: return {open_file("/dev/null", O_RDWR), {}};
        case redirect::kind::file: return {open_file(target.detail, flags), {}};
        case redirect::kind::capture: return open_capture(target.detail);
        case redirect::kind::pipe: return open_pipe(stream);
    }
    throw std::runtime_error{"unknown redirection"};
}

/// By its number: the wrapper of glibc 2.36 is not declared for C++.
file_descriptor open_handle(pid_t id) {
    file_descriptor handle{static_cast<int>(::syscall(SYS_pidfd_open, id, 0))};
    if (!handle) throw_errno("cannot watch process " + std::to_string(id));
    return handle;
}

exit_status status_of(const siginfo_t& info) {
    if (info.si_code == CLD_EXITED) return {.code = info.si_status, .signal = 0};
    return {.code = 0, .signal = info.si_status};
}

/// Turns SIGPIPE into EPIPE for this thread alone: to ignore the signal in the whole process would
/// hide that the code under test fails to guard its own writes.
class broken_pipe_signal_blocked {
  public:
    broken_pipe_signal_blocked() {
        sigemptyset(&broken_pipe_);
        sigaddset(&broken_pipe_, SIGPIPE);
        ::pthread_sigmask(SIG_BLOCK, &broken_pipe_, &before_);
    }
    ~broken_pipe_signal_blocked() {
        const timespec at_once{};
        ::sigtimedwait(&broken_pipe_, nullptr, &at_once);
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    broken_pipe_signal_blocked(const broken_pipe_signal_blocked&) = delete;
    broken_pipe_signal_blocked& operator=(const broken_pipe_signal_blocked&) = delete;

  private:
    sigset_t broken_pipe_{};
    sigset_t before_{};
};

std::string content_of(const file_descriptor& file) {
    struct stat facts {};
    if (::fstat(file.get(), &facts) != 0) throw_errno("cannot read the output of a child");
    std::string content(static_cast<std::size_t>(facts.st_size), '\0');
    const ssize_t size = ::pread(file.get(), content.data(), content.size(), 0);
    if (size < 0) throw_errno("cannot read the output of a child");
    content.resize(static_cast<std::size_t>(size));
    return content;
}

}  // namespace

std::string to_string(exit_status status) {
    if (status.signal != 0) return "ended by signal " + std::to_string(status.signal);
    return "exited with code " + std::to_string(status.code);
}

process::process(const process_options& options) : own_group_{options.own_process_group} {
    if (options.arguments.empty()) throw std::runtime_error{"a process needs a program"};
    program_ = options.arguments.front();
    stream_ends input = open_stream(options.input, STDIN_FILENO);
    stream_ends output = open_stream(options.output, STDOUT_FILENO);
    stream_ends error = open_stream(options.error, STDERR_FILENO);
    id_ = spawn({.arguments = options.arguments,
                 .environment = options.environment,
                 .working_directory = options.working_directory,
                 .streams = {input.childs.get(), output.childs.get(), error.childs.get()},
                 .own_process_group = options.own_process_group});
    handle_ = open_handle(id_);
    input_ = std::move(input.ours);
    output_ = std::move(output.ours);
    error_ = std::move(error.ours);
}

process::~process() { end(); }

process& process::operator=(process&& other) noexcept {
    process old{std::move(*this)};
    program_ = std::move(other.program_);
    own_group_ = other.own_group_;
    id_ = other.id_;
    handle_ = std::move(other.handle_);
    ended_ = other.ended_;
    reaped_ = other.reaped_;
    input_ = std::move(other.input_);
    output_ = std::move(other.output_);
    error_ = std::move(other.error_);
    unread_ = std::move(other.unread_);
    return *this;
}

void process::end() noexcept {
    if (!handle_ || reaped_) return;  // moved from, or nothing left
    ::kill(own_group_ ? -id_ : id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
}

void process::kill(int signal) {
    if (ended_) return;
    if (::kill(own_group_ ? -id_ : id_, signal) != 0)
        throw_errno("cannot send signal " + std::to_string(signal) + " to " + program_);
}

void process::pause() {
    kill(SIGSTOP);
    siginfo_t ignored{};
    const auto id = static_cast<id_t>(handle_.get());
    while (::waitid(P_PIDFD, id, &ignored, WSTOPPED | WEXITED | WNOWAIT) != 0)
        if (errno != EINTR) throw_errno("cannot wait for " + program_ + " to stop");
}

void process::resume() { kill(SIGCONT); }

std::optional<exit_status> process::wait_for(milliseconds bound) {
    if (ended_) return ended_;
    if (!wait_readable(handle_.get(), bound)) return std::nullopt;
    // The leader of a group stays a zombie until the destructor has killed the rest of the group:
    // once it is reaped, its number could come to mean somebody else's group.
    const int flags = own_group_ ? WEXITED | WNOWAIT : WEXITED;
    siginfo_t info{};
    if (::waitid(P_PIDFD, static_cast<id_t>(handle_.get()), &info, flags) != 0)
        throw_errno("cannot wait for " + program_);
    ended_ = status_of(info);
    reaped_ = !own_group_;
    return ended_;
}

exit_status process::wait(milliseconds bound) {
    if (const auto status = wait_for(bound)) return *status;
    throw std::runtime_error{program_ + " still runs after " + std::to_string(bound.count()) +
                             " ms"};
}

std::string process::output() const { return content_of(output_); }

std::string process::error_output() const { return content_of(error_); }

void process::write(std::string_view text) {
    const broken_pipe_signal_blocked blocked;
    while (!text.empty()) {
        const ssize_t size = ::write(input_.get(), text.data(), text.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) throw_errno("cannot write to " + program_);
        text.remove_prefix(static_cast<std::size_t>(size));
    }
}

std::optional<std::string> process::read_line(milliseconds bound) {
    const auto deadline = std::chrono::steady_clock::now() + bound;
    while (true) {
        if (const auto end = unread_.find('\n'); end != std::string::npos) {
            std::string line = unread_.substr(0, end);
            unread_.erase(0, end + 1);
            return line;
        }
        const auto left = deadline - std::chrono::steady_clock::now();
        if (!wait_readable(output_.get(), left)) return std::nullopt;
        char buffer[4096];
        const ssize_t size = ::read(output_.get(), buffer, sizeof buffer);
        if (size < 0) throw_errno("cannot read from " + program_);
        if (size == 0) return std::nullopt;
        unread_.append(buffer, static_cast<std::size_t>(size));
    }
}

command_result run_command(std::vector<std::string> arguments, const command_options& options) {
    process child{{.arguments = arguments,
                   .environment = options.environment,
                   .working_directory = options.working_directory,
                   .input = redirect::text(options.input),
                   .output = redirect::capture(),
                   .error = redirect::capture(),
                   .own_process_group = true}};
    const auto status = child.wait_for(options.timeout);
    if (!status) {
        throw std::runtime_error{arguments.front() + " did not end within " +
                                 std::to_string(options.timeout.count()) +
                                 " ms; it wrote: " + child.output() + child.error_output()};
    }
    const int code = status->signal != 0 ? 128 + status->signal : status->code;
    return {.exit_code = code, .out = child.output(), .err = child.error_output()};
}

}  // namespace holdfast::test
