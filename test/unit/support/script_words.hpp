#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scripts/script.hpp"

namespace holdfast::kinds {

/// The call of a script by its digest, with everything that follows, as words.
inline std::string call_of(const scripts::script& which, const std::vector<std::string>& rest) {
    std::string out = "*" + std::to_string(rest.size() + 2) + "\r\n";
    const auto word = [&](std::string_view text) {
        ((out += "$" + std::to_string(text.size()) + "\r\n") += text) += "\r\n";
    };
    word("EVALSHA");
    word(which.sha1);
    for (const auto& each : rest) word(each);
    return out;
}

}  // namespace holdfast::kinds
