#pragma once

#include <span>
#include <string>
#include <string_view>

namespace holdfast::tool {

/// The candidate that whoever typed `word` most likely meant; empty: none is close enough.
std::string closest(std::string_view word, std::span<const std::string> candidates);

/// What does here what this option does in flock(1) or redis-cli(1).
struct equivalent {
    std::string_view option{};  // of ours, if it is one
    std::string_view advice{};  // empty: nothing is known of it
};

equivalent equivalent_of(std::string_view foreign_option);

}  // namespace holdfast::tool
