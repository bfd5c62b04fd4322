#pragma once

#include <unistd.h>

#include <utility>

namespace holdfast::test {

/// Owns a file descriptor and closes it.
class file_descriptor {
  public:
    file_descriptor() = default;
    explicit file_descriptor(int number) noexcept : number_{number} {}
    ~file_descriptor() { reset(); }

    file_descriptor(file_descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
    file_descriptor& operator=(file_descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }

    int get() const noexcept { return number_; }
    explicit operator bool() const noexcept { return number_ >= 0; }

    void reset() noexcept {
        if (number_ >= 0) ::close(std::exchange(number_, -1));
    }

  private:
    int number_ = -1;
};

}  // namespace holdfast::test
