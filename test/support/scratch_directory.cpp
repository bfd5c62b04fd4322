#include "support/scratch_directory.hpp"

#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include "support/errors.hpp"

namespace holdfast::test {

namespace {

std::string parent_directory() {
    const char* chosen = std::getenv("TMPDIR");
    return chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
}

}  // namespace

scratch_directory::scratch_directory(std::string_view label) {
    std::string name = parent_directory() + "/holdfast-" + std::string{label} + "-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw_errno("cannot create the directory " + name);
    path_ = name;
}

scratch_directory::~scratch_directory() {
    if (path_.empty()) return;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

scratch_directory::scratch_directory(scratch_directory&& other) noexcept
    : path_{std::exchange(other.path_, {})} {}

scratch_directory& scratch_directory::operator=(scratch_directory&& other) noexcept {
    // The old directory leaves with `other`.
    std::swap(path_, other.path_);
    return *this;
}

}  // namespace holdfast::test
