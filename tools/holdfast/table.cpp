#include "table.hpp"

#include <algorithm>
#include <clocale>
#include <cstddef>
#include <cwchar>
#include <string_view>

#include "holdfast/detail/utf8.hpp"

namespace holdfast::tool {
namespace {

/// Letters of East Asia and pictures take two columns, accents none. The C library knows which, in
/// whatever language: not that of the user, who may have set none.
class unicode_widths {
  public:
    unicode_widths()
        : unicode_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)),
          before_(unicode_ == nullptr ? nullptr : ::uselocale(unicode_)) {}
    ~unicode_widths() {
        if (unicode_ == nullptr) return;
        ::uselocale(before_);
        ::freelocale(unicode_);
    }
    unicode_widths(const unicode_widths&) = delete;
    unicode_widths& operator=(const unicode_widths&) = delete;

    /// Columns, without the escape sequences of colours: no cell has others.
    [[nodiscard]] std::size_t of(std::string_view text) const {
        std::size_t columns = 0;
        while (!text.empty()) {
            if (text.front() == '\x1b') {
                text.remove_prefix(std::min(text.find('m'), text.size() - 1) + 1);
                continue;
            }
            const std::size_t length = detail::utf8_length(text);
            columns += length == 0 ? 1 : columns_of(detail::code_point(text));
            text.remove_prefix(std::max<std::size_t>(length, 1));
        }
        return columns;
    }

  private:
    [[nodiscard]] std::size_t columns_of(char32_t point) const {
        const int columns = unicode_ == nullptr ? 1 : ::wcwidth(static_cast<wchar_t>(point));
        return columns < 0 ? 1 : static_cast<std::size_t>(columns);
    }

    locale_t unicode_;
    locale_t before_;
};

}  // namespace

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
    const unicode_widths width;
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t n = 0; n < row.size(); ++n)
            widths[n] = std::max(widths[n], width.of(row[n]));
    }
    std::string text;
    for (const auto& row : rows) {
        for (std::size_t n = 0; n < row.size(); ++n) {
            text += row[n];
            if (n + 1 < row.size()) text.append(widths[n] - width.of(row[n]) + 2, ' ');
        }
        text += "\n";
    }
    return text;
}

}  // namespace holdfast::tool
