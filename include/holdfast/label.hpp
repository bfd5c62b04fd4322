#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "holdfast/detail/language.hpp"

namespace holdfast {

inline constexpr std::size_t max_label_bytes = 128;

/// What acquire_options show to whoever asks who holds a lock: a copy of a text of up to
/// max_label_bytes. Colons, control characters and what is not UTF-8 are shown as `_`.
///
/// Trivially copyable, and acquire_options with it: GCC before 13 copies what braces make inside a
/// co_await expression byte by byte and destroys both copies, which a std::string does not survive.
/// So `co_await m.async_acquire({.ttl = 5s}, use_awaitable)` works.
///
/// Throws nothing: of a longer text it keeps size() and the first bytes, and the operation that is
/// given it throws errc::invalid_option. REQUIRES: a `const char*` is not null.
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
