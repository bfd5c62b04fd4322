#pragma once

#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace holdfast::tool {

/// Owns a file descriptor and closes it.
class descriptor {
  public:
    descriptor() = default;
    explicit descriptor(int number) noexcept : number_(number) {}
    descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~descriptor() { reset(); }

    void reset() noexcept {
        if (number_ >= 0) ::close(std::exchange(number_, -1));
    }
    [[nodiscard]] int get() const noexcept { return number_; }
    explicit operator bool() const noexcept { return number_ >= 0; }

  private:
    int number_ = -1;
};

[[noreturn]] inline void throw_errno(const std::string& what) {
    throw std::system_error(errno, std::system_category(), what);
}

/// Takes what a system call returned: a descriptor, or -1 with errno.
inline descriptor checked(int number, const char* what) {
    if (number < 0) throw_errno(what);
    return descriptor(number);
}

}  // namespace holdfast::tool
