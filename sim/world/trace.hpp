#pragma once

#include <cstdarg>
#include <cstdint>
#include <string>

#include "sim/world/clocks.hpp"

namespace holdfast::sim {

/// The readable record of a run. Off, it costs one comparison per step; on, it grows a text that
/// is the same for the same seed, byte for byte.
class trace {
  public:
    explicit trace(bool on) : on_(on) {}

    [[nodiscard]] bool on() const { return on_; }
    [[nodiscard]] const std::string& text() const { return text_; }

    /// "    12.345678  client 1.0   acquired ...": printf's rules.
    [[gnu::format(printf, 4, 5)]] void line(instant at, const char* who, const char* format, ...);

  private:
    bool on_;
    std::string text_;
};

}  // namespace holdfast::sim
