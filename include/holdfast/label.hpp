#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "holdfast/detail/language.hpp"

namespace holdfast {

inline constexpr std::size_t max_label_bytes = 128;

/// What acquire_options show to whoever asks who holds a lock: a text of up to max_label_bytes,
/// made of any string, and a copy of it.
///
/// Kept in place, so that it, and acquire_options with it, is trivially copyable. GCC before 13
/// copies what braces make inside a co_await expression byte by byte, and destroys both copies: a
/// std::string does not survive that. What is trivially copyable does, by definition, so options
/// may be written where they are needed: `co_await m.async_acquire({.ttl = 5s}, use_awaitable)`.
///
/// Thread safety: distinct objects are safe; one object may be read from any thread.
/// Errors: none here. Of a longer text size() is kept, and the first bytes: whoever is given it
/// refuses it with errc::invalid_option.
class label_text {
  public:
    label_text() = default;
    label_text(const char* text) : label_text(std::string_view(text)) {}         // NOLINT: implicit
    label_text(const std::string& text) : label_text(std::string_view(text)) {}  // NOLINT: implicit
    label_text(std::string_view text) : size_(text.size()) {                     // NOLINT: implicit
        text.copy(bytes_.data(), bytes_.size());
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::string_view view() const noexcept {
        return {bytes_.data(), std::min(size_, bytes_.size())};
    }

  private:
    std::size_t size_ = 0;
    std::array<char, max_label_bytes> bytes_{};
};

}  // namespace holdfast
