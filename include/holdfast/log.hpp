#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "holdfast/detail/language.hpp"

namespace holdfast {

enum class log_level : std::uint8_t { debug, info, warning, error };

/// One thing that happened. The views are valid during the callback only. No password, and no
/// owner token that would allow a release, is ever in it.
struct log_record {
    log_level level = log_level::info;
    std::string_view event{};    // stable, for filters: "connected", "lease_lost", ...
    std::string_view message{};  // for people
    std::string_view key{};      // the lock, if it is about one, as lease::key()
    std::string_view node{};     // host:port, if it is about one
};

/// Called from whichever thread drives the client, while it holds the client's internal lock: be
/// quick, and do not call back into the client. Exceptions that escape it are swallowed.
using log_callback = std::function<void(const log_record&)>;

}  // namespace holdfast
