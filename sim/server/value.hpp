#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::sim {

/// What a command or a script answers, as the protocol distinguishes it.
struct value {
    enum class kind : std::uint8_t { nil, integer, bulk, status, error, array };

    kind what = kind::nil;
    std::int64_t number = 0;
    std::string text{};
    std::vector<value> items{};

    static value integer(std::int64_t n) { return {.what = kind::integer, .number = n}; }
    static value bulk(std::string_view s) { return {.what = kind::bulk, .text = std::string(s)}; }
    static value status(std::string_view s) {
        return {.what = kind::status, .text = std::string(s)};
    }
    static value error(std::string_view s) { return {.what = kind::error, .text = std::string(s)}; }
    static value array(std::vector<value> all) {
        return {.what = kind::array, .items = std::move(all)};
    }

    [[nodiscard]] bool is(kind k) const { return what == k; }
    friend bool operator==(const value&, const value&) = default;
};

}  // namespace holdfast::sim
