#pragma once

#include <chrono>
#include <span>
#include <string_view>

#include "sim/server/value.hpp"

namespace holdfast::sim {

/// Who runs the commands of a script.
class command_executor {
  public:
    using arguments = std::span<const std::string_view>;
    using wall_time = std::chrono::microseconds;  // since the epoch, as TIME says it

    /// Runs one command at the given time. REQUIRES: at least the command's name.
    virtual value execute(arguments command, wall_time now) = 0;

  protected:
    ~command_executor() = default;
};

}  // namespace holdfast::sim
