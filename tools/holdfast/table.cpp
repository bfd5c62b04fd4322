#include "table.hpp"

#include <algorithm>
#include <cstddef>

namespace holdfast::tool {
namespace {

/// Characters, as far as that is what follows from not counting the rest of UTF-8 sequences.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char letter) {
        return (static_cast<unsigned char>(letter) & 0xc0U) != 0x80U;
    }));
}

}  // namespace

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t n = 0; n < row.size(); ++n)
            widths[n] = std::max(widths[n], width_of(row[n]));
    }
    std::string text;
    for (const auto& row : rows) {
        for (std::size_t n = 0; n < row.size(); ++n) {
            text += row[n];
            if (n + 1 < row.size()) text.append(widths[n] - width_of(row[n]) + 2, ' ');
        }
        text += "\n";
    }
    return text;
}

}  // namespace holdfast::tool
