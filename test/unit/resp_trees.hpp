#pragma once

#include <rapidcheck.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

/// Random replies, as values and as the bytes a server would send for them. The spelling here is
/// written apart from src/resp, so that the two can only agree by both being right.
namespace holdfast::resp::test {

/// A reply as the server means it; `type` is its type byte.
struct tree {
    char type = '_';
    std::string text;             // of strings; the spelling of scalars
    std::vector<tree> children;   // maps: keys and values in turn
    std::vector<tree> attribute;  // keys and values in turn; none if empty
};

inline void spell(const tree& value, std::string& out);

inline void spell_aggregate(char type, const std::vector<tree>& children, std::string& out) {
    const std::size_t divisor = type == '%' || type == '|' ? 2 : 1;
    out += type + std::to_string(children.size() / divisor) + "\r\n";
    for (const tree& child : children) spell(child, out);
}

inline void spell(const tree& value, std::string& out) {
    if (!value.attribute.empty()) spell_aggregate('|', value.attribute, out);
    switch (value.type) {
        case '$':
        case '!': out += value.type + std::to_string(value.text.size()) + "\r\n"; break;
        case '=': out += "=" + std::to_string(value.text.size() + 4) + "\r\ntxt:"; break;
        case '*':
        case '%':
        case '~':
        case '>': return spell_aggregate(value.type, value.children, out);
        default: out += value.type; break;
    }
    out += value.text + "\r\n";
}

inline std::string bytes_of(const tree& value) {
    std::string out;
    spell(value, out);
    return out;
}

inline void showValue(const tree& value, std::ostream& out) { rc::show(bytes_of(value), out); }

inline std::string any_bytes() { return *rc::gen::arbitrary<std::string>(); }

inline std::string any_line() {
    return *rc::gen::container<std::string>(
        rc::gen::suchThat<char>([](char c) { return c != '\r' && c != '\n'; }));
}

inline std::string spelled(double number) {
    char digits[32];
    return {digits, std::to_chars(std::begin(digits), std::end(digits), number).ptr};
}

inline tree any_scalar() {
    switch (const char type = *rc::gen::elementOf(std::string{"+-:$_,#!=("}); type) {
        case '+':
        case '-': return {type, any_line(), {}, {}};
        case ':': return {type, std::to_string(*rc::gen::arbitrary<std::int64_t>()), {}, {}};
        case ',': return {type, spelled(*rc::gen::arbitrary<double>()), {}, {}};
        case '#': return {type, *rc::gen::element<std::string>("t", "f"), {}, {}};
        case '(': return {type, "1" + std::to_string(*rc::gen::arbitrary<unsigned>()), {}, {}};
        case '_': return {};
        default: return {type, any_bytes(), {}, {}};
    }
}

inline tree any_tree(int depth, bool is_top);

inline std::vector<tree> any_children(int depth, std::size_t multiple) {
    std::vector<tree> children(multiple * *rc::gen::inRange<std::size_t>(0, 5));
    for (tree& child : children) child = any_tree(depth - 1, false);
    return children;
}

inline tree any_tree(int depth, bool is_top) {
    tree value;
    if (depth == 0 || *rc::gen::inRange(0, 3) == 0) {
        value = any_scalar();
    } else {
        value.type = *rc::gen::elementOf(std::string{is_top ? "*%~>" : "*%~"});
        value.children = any_children(depth, value.type == '%' ? 2 : 1);
    }
    if (depth > 0 && *rc::gen::inRange(0, 8) == 0) value.attribute = any_children(depth, 2);
    return value;
}

inline rc::Gen<tree> trees() {
    return rc::gen::exec([] { return any_tree(*rc::gen::inRange(0, 5), true); });
}

}  // namespace holdfast::resp::test
