#include "kinds/script_call.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include "resp/encoder.hpp"

namespace holdfast::kinds {

std::int64_t milliseconds(core::duration value) {
    return std::chrono::ceil<std::chrono::milliseconds>(value).count();
}

void append_call(std::string& out, const scripts::script& which, bool by_text,
                 std::span<const std::string_view> keys,
                 std::span<const std::string_view> arguments) {
    const resp::decimal key_count{keys.size()};
    std::array<std::string_view, 16> few{by_text ? "EVAL" : "EVALSHA",
                                         by_text ? which.text : which.sha1, key_count.text()};
    std::vector<std::string_view> many;
    const auto words = 3 + keys.size() + arguments.size();
    if (words > few.size()) {
        many.resize(words);
        std::copy_n(few.begin(), 3, many.begin());
    }
    const auto all = many.empty() ? std::span(few).first(words) : std::span(many);
    const auto end = std::copy(keys.begin(), keys.end(), all.begin() + 3);
    std::copy(arguments.begin(), arguments.end(), end);
    resp::append_command(out, all);
}

void append_call(std::string& out, const scripts::script& which, bool by_text,
                 std::span<const std::string_view> keys,
                 std::initializer_list<std::string_view> arguments) {
    append_call(out, which, by_text, keys, std::span(arguments.begin(), arguments.size()));
}

}  // namespace holdfast::kinds
