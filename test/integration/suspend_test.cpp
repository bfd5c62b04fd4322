#include <poll.h>
#include <sys/syscall.h>

#include <array>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include "holdfast/asio.hpp"
#include "integration/library.hpp"
#include "support/certificates.hpp"

/// What happens on a machine that was suspended cannot be tried in a test, and is up to the kernel:
/// a timer on CLOCK_BOOTTIME that is set to a point in time ends with the suspend, and nothing else
/// that a thread can wait for does. So these look at what the background thread waits for.
namespace holdfast::test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

/// The number behind a name in a file of /proc/self/fdinfo.
std::optional<long> field(const std::string& text, const std::string& name) {
    const auto at = text.find(name);
    if (at == std::string::npos) return std::nullopt;
    return std::stol(text.substr(at + name.size()));
}

/// Timers of this process that count suspend, by descriptor, and how many seconds are left.
std::map<int, long> timers_on_boottime() {
    std::map<int, long> found;
    for (const auto& entry : fs::directory_iterator("/proc/self/fdinfo")) {
        const auto text = text_of(entry.path());
        const bool absolute = field(text, "settime flags: ") == 1;
        if (field(text, "clockid: ") != CLOCK_BOOTTIME || !absolute) continue;
        const auto left = field(text, "it_value: (").value_or(0);
        found.emplace(std::stoi(entry.path().filename()), left);
    }
    return found;
}

/// The system call that a thread is in.
struct system_call {
    long number = -1;
    std::array<std::uintptr_t, 4> arguments{};
};

std::vector<system_call> calls_of_all_threads() {
    std::vector<system_call> found;
    for (const auto& task : fs::directory_iterator("/proc/self/task")) {
        std::istringstream words(text_of(task.path() / "syscall"));
        system_call call;
        words >> call.number >> std::hex;
        for (auto& argument : call.arguments) words >> argument;
        if (words) found.push_back(call);
    }
    return found;
}

/// What the threads of this process wait for in ppoll() without any timeout.
std::set<int> polled_without_timeout() {
    std::set<int> found;
    for (const auto& [number, arguments] : calls_of_all_threads()) {
        if (number != SYS_ppoll || arguments[2] != 0) continue;
        const auto* const all = reinterpret_cast<const pollfd*>(arguments[0]);  // ours to read
        for (std::size_t n = 0; n < arguments[1]; ++n) found.insert(all[n].fd);
    }
    return found;
}

bool is_epoll_wait(long number) {
#ifdef SYS_epoll_wait
    if (number == SYS_epoll_wait) return true;
#endif
    return number == SYS_epoll_pwait;
}

/// What they wait for in an io_context without any timeout.
std::set<int> awaited_without_timeout() {
    std::set<int> found;
    for (const auto& [number, arguments] : calls_of_all_threads()) {
        if (!is_epoll_wait(number) || static_cast<int>(arguments[3]) != -1) continue;
        std::istringstream lines(text_of("/proc/self/fdinfo/" + std::to_string(arguments[0])));
        for (std::string line; std::getline(lines, line);) {
            const auto descriptor = field(line, "tfd:");
            if (descriptor) found.insert(static_cast<int>(*descriptor));
        }
    }
    return found;
}

constexpr milliseconds ttl = 30s;

/// Some timer will end the wait when the lease has to be renewed.
bool ends_in_time(const std::set<int>& awaited) {
    for (const auto& [descriptor, left] : timers_on_boottime()) {
        if (awaited.contains(descriptor) && left <= ttl / 3s) return true;
    }
    return false;
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

TEST(suspend, ends_the_wait_of_a_background_thread_that_has_nothing_else_to_do) {
    if (sanitized) GTEST_SKIP() << "looks at what other threads poll";
    const redis_server server;
    client through(server.url());
    const auto held = mutex(through, "k", with_ttl(ttl)).acquire();
    EXPECT_TRUE(eventually(surely, [] { return ends_in_time(polled_without_timeout()); }));
}

TEST(suspend, ends_the_wait_of_a_background_thread_that_drives) {
    if (sanitized) GTEST_SKIP() << "looks at what other threads poll";
    const redis_server server;
    boost::asio::io_context
        io;  // outlives the client, which completes what is under way at its end
    client through(server.url());
    client other(server.url());
    const auto held = mutex(through, "k", with_ttl(ttl)).acquire();
    const auto theirs = mutex(other, "wanted", with_ttl(ttl)).acquire();
    mutex wanted(through, "wanted");
    wanted.async_acquire(boost::asio::bind_executor(io, [](auto...) {}));
    EXPECT_TRUE(eventually(surely, [&] { return through.statistics().denied > 1; }));
    EXPECT_TRUE(eventually(surely, [&] {
        const auto awaited = polled_without_timeout();
        return awaited.size() >= 3 && ends_in_time(awaited);
    })) << "the alarm, the socket and the timer";
}

TEST(suspend, ends_the_wait_of_a_background_thread_that_runs_the_io_context) {
    if (sanitized) GTEST_SKIP() << "looks at what other threads poll";
    const scratch_directory directory{"suspend"};
    certificate_authority authority(directory.path());
    const auto files = authority.issue_server("server", {"127.0.0.1"});
    const redis_server server({.tls = tls_files{files.certificate, files.key, authority.file()}});
    auto settings = settings_for(server.tls_url());
    settings.tls.ca_file = authority.file();
    settings.connect_timeout = surely / 2;
    boost::asio::io_context io;
    client through(settings);
    client other(settings);
    const auto held = mutex(through, "k", with_ttl(ttl)).acquire();
    const auto theirs = mutex(other, "wanted", with_ttl(ttl)).acquire();
    mutex wanted(through, "wanted");
    wanted.async_acquire(boost::asio::bind_executor(io, [](auto...) {}));
    EXPECT_TRUE(eventually(surely, [&] { return through.statistics().denied > 1; }));
    EXPECT_TRUE(eventually(surely, [] { return ends_in_time(awaited_without_timeout()); }));
}

}  // namespace
}  // namespace holdfast::test
