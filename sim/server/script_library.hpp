#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/server/lua_runner.hpp"

namespace holdfast::sim {

/// All scripts that any server of a thread has ever seen, compiled once. Which of them a server has
/// in its cache it notes itself, by their places in here.
///
/// Ours are known from the start, by the digest and the text of `src/scripts`. With a breakage of a
/// script active, what runs under them is the broken text.
/// Thread safety: distinct objects safe, one object by one thread.
class script_library {
  public:
    using place = std::size_t;

    struct script {
        std::string_view name;  // of one of ours; otherwise empty
        std::string sha1;
        std::string text;
        lua_runner::script_handle handle{};
    };

    script_library();

    [[nodiscard]] std::optional<place> find(std::string_view sha1) const;

    /// Throws std::invalid_argument with the compiler's message if the text is no script.
    place find_or_add(std::string_view text);

    [[nodiscard]] const script& at(place where) const { return all_[where]; }
    lua_runner& lua() { return lua_; }

  private:
    lua_runner lua_;
    std::vector<script> all_;
};

}  // namespace holdfast::sim
