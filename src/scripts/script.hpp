#pragma once

#include <string_view>

namespace holdfast::scripts {

/// A Lua file, embedded at build time. Each opens with its contract.
struct script {
    std::string_view name;  // of the file, without .lua
    std::string_view sha1;  // what EVALSHA takes: 40 lower-case hex digits of the exact text
    std::string_view text;
    std::string_view kind{};  // its folder; empty: it belongs to no kind of lock
};

}  // namespace holdfast::scripts
