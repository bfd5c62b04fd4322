#include "storm/coverage.hpp"

#include <algorithm>

namespace holdfast::storm {

std::vector<std::string> not_covered(const account& all) {
    std::vector<std::string> missing;
    const auto any_hold = [&](auto wanted) {
        return std::any_of(all.holds.begin(), all.holds.end(), wanted);
    };
    if (!any_hold([](const hold& each) { return each.handed_off; })) {
        missing.emplace_back("no lock was handed off within a process");
    }
    if (all.faults.empty()) missing.emplace_back("nothing was struck");
    return missing;
}

}  // namespace holdfast::storm
