#include "private_directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "exit_code.hpp"
#include "failure.hpp"

namespace holdfast::tool {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
    throw failure(exit_code::configuration, "local: will not use " + path + ": " + why);
}

}  // namespace

std::string private_directory_path() {
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    if (runtime != nullptr && *runtime != '\0') return std::string(runtime) + "/holdfast";
    return "/tmp/holdfast-" + std::to_string(::geteuid());
}

void ensure_private(const std::string& path) {
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
        refuse(path, std::string("cannot make it: ") + std::strerror(errno));
    }
    // lstat: under /tmp somebody else may have put a link to where they want us.
    struct stat found {};
    if (::lstat(path.c_str(), &found) != 0) refuse(path, std::strerror(errno));
    if (S_ISLNK(found.st_mode)) refuse(path, "it is a symbolic link");
    if (!S_ISDIR(found.st_mode)) refuse(path, "it is not a directory");
    if (found.st_uid != ::geteuid()) {
        refuse(path, "it belongs to user " + std::to_string(found.st_uid));
    }
    if ((found.st_mode & 077U) != 0) refuse(path, "it is open to others; chmod 700 it");
}

}  // namespace holdfast::tool
