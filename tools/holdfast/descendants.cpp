#include "descendants.hpp"

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

namespace holdfast::tool {
namespace {

std::string directory_of(pid_t process) { return "/proc/" + std::to_string(process); }

/// Of all its threads: each has the children that it has started.
void append_children(pid_t process, std::vector<pid_t>& found) {
    const std::string tasks = directory_of(process) + "/task/";
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(tasks.c_str()), ::closedir);
    if (!listing) return;
    while (const dirent* task = ::readdir(listing.get())) {
        std::ifstream children(tasks + task->d_name + "/children");
        for (pid_t child = 0; children >> child;) found.push_back(child);
    }
}

bool is_stopped(pid_t process) {
    std::ifstream file(directory_of(process) + "/stat");
    std::string text;
    std::getline(file, text);
    const auto name_end = text.rfind(") ");
    return name_end != std::string::npos && text.size() > name_end + 2 && text[name_end + 2] == 'T';
}

}  // namespace

void descendants::adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::vector<pid_t> descendants::children_of_this_process() {
    std::vector<pid_t> found;
    append_children(::getpid(), found);
    return found;
}

std::vector<pid_t> descendants::tree() const {
    std::vector<pid_t> found = children_of_this_process();
    std::erase_if(found, [&](pid_t child) {
        return std::find(others_.begin(), others_.end(), child) != others_.end();
    });
    for (std::size_t at = 0; at < found.size(); ++at) append_children(found[at], found);
    return found;
}

void descendants::collect() {
    for (;;) {
        int status = 0;
        const pid_t changed = ::waitpid(-1, &status, WNOHANG | WUNTRACED);
        if (changed < 0 && errno == EINTR) continue;
        all_ended_ = changed < 0;
        if (changed <= 0) return;
        if (changed != command_) continue;
        if (WIFSTOPPED(status)) {
            stopped_by_ = WSTOPSIG(status);
        } else {
            status_ = status;
        }
    }
}

std::optional<int> descendants::take_stop() { return std::exchange(stopped_by_, std::nullopt); }

void descendants::signal_group(int signal) const {
    if (const auto group = leader()) {
        ::kill(-*group, signal);
    } else {
        signal_all(signal);
    }
}

std::vector<pid_t> descendants::signal_all(int signal) const {
    if (group_ && signal == SIGKILL) group_->kill();
    if (const auto group = leader()) ::kill(-*group, signal);
    std::vector<pid_t> reached = tree();
    std::erase_if(reached,
                  [&](pid_t process) { return in_group(process) || ::kill(process, signal) != 0; });
    return reached;
}

bool descendants::any_stopped() const {
    const std::vector<pid_t> all = tree();
    return std::any_of(all.begin(), all.end(),
                       [&](pid_t process) { return in_group(process) && is_stopped(process); });
}

bool descendants::in_group(pid_t process) const {
    const auto group = leader();
    return group && ::getpgid(process) == *group;
}

}  // namespace holdfast::tool
