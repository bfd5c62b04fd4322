#include "json.hpp"

#include <algorithm>
#include <cstddef>

#include "holdfast/detail/utf8.hpp"
#include "message.hpp"

namespace holdfast::tool {
namespace {

void append_unit(std::string& out, char32_t unit) {
    constexpr std::string_view digits = "0123456789abcdef";
    out.append("\\u");
    for (const unsigned shift : {12U, 8U, 4U, 0U}) out.append(1, digits[unit >> shift & 15U]);
}

/// The byte as `\xNN`, which in JSON takes a second backslash.
void append_byte(std::string& out, char character) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(character);
    out.append("\\\\x").append(1, digits[byte >> 4U]).append(1, digits[byte & 15U]);
}

// Controls by number, those that JSON would allow as well: people look at it in a terminal. None
// lies beyond the first plane.
std::string quoted(std::string_view text) {
    std::string out = "\"";
    while (!text.empty()) {
        const std::size_t length = detail::utf8_length(text);
        // The text `\xNN` of somebody else's would be read as a byte.
        if (length == 0 || begins_with_escape(text)) {
            append_byte(out, text.front());
        } else if (detail::is_control(detail::code_point(text))) {
            append_unit(out, detail::code_point(text));
        } else {
            if (text.front() == '"' || text.front() == '\\') out.append(1, '\\');
            out.append(text.substr(0, length));
        }
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out.append("\"");
}

}  // namespace

json_object& json_object::add(std::string_view name, std::string_view text) {
    return add_raw(name, quoted(text));
}

json_object& json_object::add(std::string_view name, std::int64_t number) {
    return add_raw(name, std::to_string(number));
}

json_object& json_object::add(std::string_view name, std::uint64_t number) {
    return add_raw(name, std::to_string(number));
}

json_object& json_object::add(std::string_view name, const json_object& object) {
    return add_raw(name, object.text());
}

json_object& json_object::add(std::string_view name, const std::vector<json_object>& objects) {
    std::string list;
    for (const json_object& each : objects) list += (list.empty() ? "" : ",") + each.text();
    return add_raw(name, "[" + list + "]");
}

json_object& json_object::add_null(std::string_view name) { return add_raw(name, "null"); }

json_object& json_object::add_raw(std::string_view name, std::string_view value) {
    if (!members_.empty()) members_ += ",";
    members_.append(quoted(name)).append(":").append(value);
    return *this;
}

}  // namespace holdfast::tool
