#pragma once

#include <string_view>

#include "holdfast/detail/language.hpp"

/// The version of these headers, for the preprocessor and for programs.
/// Minor versions may break source compatibility until 1.0; patch versions never do.
#define HOLDFAST_VERSION_MAJOR 0
#define HOLDFAST_VERSION_MINOR 2
#define HOLDFAST_VERSION_PATCH 0
#define HOLDFAST_VERSION_STRING "0.2.0"

namespace holdfast {

inline constexpr int version_major = HOLDFAST_VERSION_MAJOR;
inline constexpr int version_minor = HOLDFAST_VERSION_MINOR;
inline constexpr int version_patch = HOLDFAST_VERSION_PATCH;
inline constexpr std::string_view version = HOLDFAST_VERSION_STRING;

}  // namespace holdfast
