#include "control_group.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string_view>
#include <utility>

namespace holdfast::tool {
namespace {

// Who forks while it is moved leaves somebody for the next pass.
constexpr int most_passes = 100;

/// Where the second version is mounted: alone, or beside the first.
std::string mount_point() {
    for (const char* path : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
        struct statfs facts {};
        if (::statfs(path, &facts) == 0 && facts.f_type == CGROUP2_SUPER_MAGIC) return path;
    }
    return {};
}

/// Our group in it, with a slash at its end, or nothing: `0::/user.slice/...` in the list of those
/// that we are in.
std::string own_path() {
    std::ifstream list("/proc/self/cgroup");
    for (std::string line; std::getline(list, line);) {
        const bool in_sight = line.find("/..") == std::string::npos;
        if (!line.starts_with("0::/") || !in_sight) continue;
        return line.substr(3) + (line.ends_with('/') ? "" : "/");
    }
    return {};
}

/// The directory of our group, with a slash at its end, or nothing.
std::string own_directory() {
    const std::string mounted = mount_point();
    const std::string path = own_path();
    return mounted.empty() || path.empty() ? "" : mounted + path;
}

bool write_to(const std::string& file, std::string_view text) {
    const descriptor opened(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    return ::write(opened.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Containers may share a control group, and have processes of the same number.
std::string name_for(pid_t maker) {
    struct stat numbering {};
    ::stat("/proc/self/ns/pid", &numbering);
    return "holdfast-" + std::to_string(numbering.st_ino) + "-" + std::to_string(maker);
}

bool has_controllers_to_give(const std::string& directory) {
    std::ifstream list(directory + "cgroup.subtree_control");
    std::string any;
    return static_cast<bool>(list >> any);
}

}  // namespace

control_group::control_group(std::string parent, pid_t maker)
    : parent_(std::move(parent)), path_(parent_ + name_for(maker)) {}

std::optional<control_group> control_group::make() {
    std::string parent = own_directory();
    if (parent.empty() || has_controllers_to_give(parent)) return std::nullopt;
    control_group made(std::move(parent), ::getpid());
    // One that had our number was killed before it could remove its own.
    ::rmdir(made.path_.c_str());
    if (::mkdir(made.path_.c_str(), 0755) != 0) return std::nullopt;
    // Kernels before 5.14 have groups, but cannot kill them.
    if (::access((made.path_ + "/cgroup.kill").c_str(), W_OK) == 0) return made;
    ::rmdir(made.path_.c_str());
    return std::nullopt;
}

std::optional<control_group> control_group::of(pid_t maker) {
    std::string parent = own_directory();
    if (parent.empty()) return std::nullopt;
    control_group other(std::move(parent), maker);
    if (!other.directory()) return std::nullopt;
    return other;
}

descriptor control_group::directory() const {
    return descriptor(::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

void control_group::kill() const { write_to(path_ + "/cgroup.kill", "1"); }

void control_group::disband() const {
    for (int pass = 0; pass < most_passes; ++pass) {
        if (::rmdir(path_.c_str()) == 0 || errno != EBUSY) return;
        std::ifstream everybody(path_ + "/cgroup.procs");
        for (std::string process; everybody >> process;) {
            write_to(parent_ + "cgroup.procs", process);
        }
    }
}

}  // namespace holdfast::tool
