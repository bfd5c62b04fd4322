#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "holdfast/operate.hpp"

namespace holdfast::tool {

enum class verdict : std::uint8_t { good, warning, bad };

const char* name_of(verdict value);  // "ok", "warning", "problem"

struct finding {
    std::string check;
    verdict value = verdict::good;
    std::string found;
    std::string fix;  // empty: there is nothing to fix
};

/// What a server's report means for the locks on it, most telling first. In a quorum restarts must
/// be noticed; one server that is `alone` is not guarded against them unless somebody asked for it.
std::vector<finding> diagnose(const server_report& report, bool alone);

/// 0 unless a finding is bad.
int exit_code_of(const server_report& report, const std::vector<finding>& findings);

}  // namespace holdfast::tool
