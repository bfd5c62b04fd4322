#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sim/lua_node.hpp"
#include "sim/message.hpp"

namespace holdfast::sim {

/// The scripts, compiled. With a breakage of a script active, its text is broken first.
class script_set {
  public:
    script_set();

    lua_runner& lua() { return lua_; }
    [[nodiscard]] lua_runner::script_handle of(operation what) const {
        return handles_[static_cast<std::size_t>(what)];
    }

  private:
    lua_runner lua_;
    std::array<lua_runner::script_handle, 7> handles_{};
};

}  // namespace holdfast::sim
