#include "json.hpp"

#include <array>
#include <cstddef>

namespace holdfast::tool {
namespace {

/// The length of the well-formed UTF-8 sequence at the start of `text`; 0 if there is none.
std::size_t sequence_length(std::string_view text) {
    struct form {
        unsigned char first_low, first_high, second_low, second_high;
        std::size_t length;
    };
    // The table of well-formed byte sequences of the Unicode standard.
    static constexpr std::array<form, 9> forms{{{0x00, 0x7f, 0, 0, 1},
                                                {0xc2, 0xdf, 0x80, 0xbf, 2},
                                                {0xe0, 0xe0, 0xa0, 0xbf, 3},
                                                {0xe1, 0xec, 0x80, 0xbf, 3},
                                                {0xed, 0xed, 0x80, 0x9f, 3},
                                                {0xee, 0xef, 0x80, 0xbf, 3},
                                                {0xf0, 0xf0, 0x90, 0xbf, 4},
                                                {0xf1, 0xf3, 0x80, 0xbf, 4},
                                                {0xf4, 0xf4, 0x80, 0x8f, 4}}};
    const auto byte = [&](std::size_t n) { return static_cast<unsigned char>(text[n]); };
    for (const form& candidate : forms) {
        if (byte(0) < candidate.first_low || byte(0) > candidate.first_high) continue;
        if (text.size() < candidate.length) return 0;
        for (std::size_t n = 1; n < candidate.length; ++n) {
            const unsigned char low = n == 1 ? candidate.second_low : 0x80;
            const unsigned char high = n == 1 ? candidate.second_high : 0xbf;
            if (byte(n) < low || byte(n) > high) return 0;
        }
        return candidate.length;
    }
    return 0;
}

void append_escaped(std::string& out, char character) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
        out.append(1, '\\').append(1, character);
    } else if (byte < 0x20 || byte == 0x7f) {
        out.append("\\u00").append(1, digits[byte >> 4U]).append(1, digits[byte & 15U]);
    } else {
        out.append(1, character);
    }
}

std::string quoted(std::string_view text) {
    std::string out = "\"";
    while (!text.empty()) {
        const std::size_t length = sequence_length(text);
        if (length == 0) out.append("\\ufffd");
        if (length == 1) append_escaped(out, text.front());
        if (length > 1) out.append(text.substr(0, length));
        text.remove_prefix(length == 0 ? 1 : length);
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
