#include "process_table.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "tool.hpp"

namespace holdfast::test {

std::string stat_field(pid_t process, int number) {
    const std::string text = contents_of("/proc/" + std::to_string(process) + "/stat");
    std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
    std::string field;
    for (int at = 3; at <= number; ++at) fields >> field;
    return field;
}

// While others of its threads are still ending, the first one is a zombie, and files are open.
bool alive(pid_t process) {
    const std::string state = stat_field(process, 3);
    if (state.empty() || state == "X") return false;
    if (state != "Z") return true;
    std::error_code gone;
    const std::filesystem::directory_iterator threads("/proc/" + std::to_string(process) + "/task",
                                                      gone);
    return !gone && std::distance(begin(threads), end(threads)) > 1;
}

bool stopped(pid_t process) { return stat_field(process, 3) == "T"; }

bool has_the_terminal(pid_t process) { return stat_field(process, 8) == stat_field(process, 5); }

std::vector<pid_t> children_of(pid_t process) {
    std::vector<pid_t> children;
    std::error_code gone;
    const std::filesystem::path tasks = "/proc/" + std::to_string(process) + "/task";
    for (const auto& task : std::filesystem::directory_iterator(tasks, gone)) {
        std::istringstream listed(contents_of(task.path() / "children"));
        for (pid_t child = 0; listed >> child;) children.push_back(child);
    }
    return children;
}

file_descriptor handle_of(pid_t process) {
    return file_descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

void kill_by(const file_descriptor& handle) {
    ::syscall(SYS_pidfd_send_signal, handle.get(), SIGKILL, nullptr, 0);
}

}  // namespace holdfast::test
