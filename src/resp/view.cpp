#include "resp/view.hpp"

#include <algorithm>

#include "resp/grammar.hpp"

namespace holdfast::resp {
namespace {

constexpr std::size_t smallest_value = 3;  // "_\r\n"

/// A header with its payload, and the bytes behind them.
struct item {
    char type;
    std::string_view text;
    std::size_t children;
    std::string_view rest;
};

std::optional<item> read_bulk(char type, std::string_view line, std::string_view rest) {
    const auto length = parse_length(line);
    if (!length || rest.size() < 2 || *length > rest.size() - 2) return std::nullopt;
    if (type == '=' && *length < verbatim_prefix) return std::nullopt;
    return item{type, rest.substr(0, *length), 0, rest.substr(*length + 2)};
}

std::optional<item> read_aggregate(char type, std::string_view line, std::string_view rest) {
    const auto entries = parse_length(line);
    if (!entries) return std::nullopt;
    // In a valid frame all children are there; elsewhere a count must not promise what is not.
    const std::size_t present = rest.size() / smallest_value / values_per_entry(type);
    return item{type, {}, std::min(*entries, present) * values_per_entry(type), rest};
}

std::optional<item> read_item(std::string_view bytes) {
    const std::size_t line_end = bytes.find('\r');
    if (line_end == 0 || line_end == bytes.npos || bytes.size() - line_end < 2) return std::nullopt;
    const char type = bytes[0];
    const std::string_view line = bytes.substr(1, line_end - 1);
    const std::string_view rest = bytes.substr(line_end + 2);
    if (is_null_header(type, line)) return item{'_', {}, 0, rest};
    switch (layout_of(type)) {
        case layout::line: return item{type, line, 0, rest};
        case layout::bulk: return read_bulk(type, line, rest);
        case layout::aggregate: return read_aggregate(type, line, rest);
        case layout::unknown: break;
    }
    return std::nullopt;
}

/// What follows the next `count` values. Counts instead of recursing: depth costs nothing.
std::string_view skip(std::string_view bytes, std::size_t count) {
    while (count > 0) {
        const auto next = read_item(bytes);
        if (!next) return {};
        count += next->children;
        if (next->type != '|') --count;  // an attribute is not yet the value it stands before
        bytes = next->rest;
    }
    return bytes;
}

/// The next value, past the attributes before it.
std::optional<item> read_value(std::string_view bytes) {
    auto found = read_item(bytes);
    while (found && found->type == '|') found = read_item(skip(found->rest, found->children));
    return found;
}

kind kind_of(char type) {
    switch (type) {
        case '+': return kind::simple_string;
        case '-': return kind::error;
        case ':': return kind::integer;
        case '$': return kind::bulk_string;
        case '*': return kind::array;
        case ',': return kind::number;
        case '#': return kind::boolean;
        case '!': return kind::bulk_error;
        case '=': return kind::verbatim;
        case '(': return kind::big_number;
        case '%': return kind::map;
        case '~': return kind::set;
        case '>': return kind::push;
        default: return kind::null;
    }
}

}  // namespace

view::view(std::string_view frame) {
    const auto found = read_value(frame);
    if (!found) return;
    line_or_body_ = found->text;
    rest_ = found->rest;
    size_ = found->children;
    kind_ = kind_of(found->type);
}

std::string_view view::text() const {
    if (kind_ == kind::verbatim) return line_or_body_.substr(verbatim_prefix);
    if (is_text() || is_error() || kind_ == kind::big_number) return line_or_body_;
    return {};
}

std::optional<std::int64_t> view::integer() const {
    if (kind_ != kind::integer) return std::nullopt;
    return parse_integer(line_or_body_);
}

std::optional<double> view::number() const {
    if (kind_ != kind::number) return std::nullopt;
    return parse_number(line_or_body_);
}

std::optional<bool> view::boolean() const {
    if (kind_ != kind::boolean) return std::nullopt;
    return line_or_body_ == "t";
}

std::optional<std::int64_t> view::as_integer() const {
    return is_text() ? parse_integer(text()) : integer();
}

view::iterator view::begin() const { return {rest_, size_}; }

view::iterator view::end() const { return {}; }

std::optional<view> view::at(std::size_t index) const {
    if (index >= size_) return std::nullopt;
    return view{skip(rest_, index)};
}

view::iterator::iterator(std::string_view children, std::size_t count) : remaining_{count} {
    if (count > 0) current_ = view{children};
}

view::iterator& view::iterator::operator++() {
    if (--remaining_ > 0) current_ = view{skip(current_.rest_, current_.size_)};
    return *this;
}

}  // namespace holdfast::resp
