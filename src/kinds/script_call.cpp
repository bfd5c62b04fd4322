#include "kinds/script_call.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>

#include "resp/encoder.hpp"

namespace holdfast::kinds {

std::int64_t milliseconds(core::duration value) {
    return std::chrono::ceil<std::chrono::milliseconds>(value).count();
}

void append_call(std::string& out, const scripts::script& which, bool by_text,
                 std::span<const std::string_view> keys,
                 std::span<const std::string_view> arguments) {
    const resp::decimal key_count{keys.size()};
    std::array<std::string_view, 16> all{by_text ? "EVAL" : "EVALSHA",
                                         by_text ? which.text : which.sha1, key_count.text()};
    assert(3 + keys.size() + arguments.size() <= all.size());
    auto end = std::copy(keys.begin(), keys.end(), all.begin() + 3);
    end = std::copy(arguments.begin(), arguments.end(), end);
    resp::append_command(out, {all.begin(), end});
}

void append_call(std::string& out, const scripts::script& which, bool by_text,
                 std::span<const std::string_view> keys,
                 std::initializer_list<std::string_view> arguments) {
    append_call(out, which, by_text, keys, std::span(arguments.begin(), arguments.size()));
}

}  // namespace holdfast::kinds
