#pragma once

#include <filesystem>
#include <string_view>

namespace holdfast::test {

/// A new directory under $TMPDIR (or /tmp), removed with everything in it by the destructor.
///
/// Thread safety: the path may be read from any thread.
/// Errors: the constructor throws std::runtime_error; the destructor ignores what it cannot remove.
class scratch_directory {
  public:
    explicit scratch_directory(std::string_view label = "test");
    ~scratch_directory();

    scratch_directory(scratch_directory&& other) noexcept;
    scratch_directory& operator=(scratch_directory&& other) noexcept;

    const std::filesystem::path& path() const noexcept { return path_; }
    std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

  private:
    std::filesystem::path path_;  // empty: moved from
};

}  // namespace holdfast::test
