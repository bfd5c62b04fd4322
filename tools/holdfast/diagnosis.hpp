#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exit_code.hpp"
#include "holdfast/operate.hpp"
#include "holdfast/options.hpp"

namespace holdfast::tool {

enum class verdict : std::uint8_t { good, warning, bad };

const char* name_of(verdict value);  // "ok", "warning", "problem"

struct finding {
    std::string check;
    verdict value = verdict::good;
    std::string found{};
    std::string fix{};                         // empty: there is nothing to fix
    int exit_code = exit_code::configuration;  // if it is bad
};

/// What a server's report means for the locks of a client with these settings, most telling first.
/// REQUIRES: settings of a client, complete.
std::vector<finding> diagnose(const server_report& report, const options& settings);

/// Of the first finding that is bad; 0 if there is none.
int exit_code_of(const std::vector<finding>& findings);

}  // namespace holdfast::tool
