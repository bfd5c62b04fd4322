#pragma once

#include <string>
#include <vector>

namespace holdfast::tool {

/// Rows of words in columns as wide as their widest word, two spaces apart. The last is not padded.
std::string aligned(const std::vector<std::vector<std::string>>& rows);

}  // namespace holdfast::tool
