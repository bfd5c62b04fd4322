#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::tool {

/// Writes one JSON object with its members in the order they are added, on one line.
/// Keys and owners may hold any byte, JSON may not: one that is no UTF-8 is written as `\xNN`, with
/// lower-case digits, and a backslash that would begin the same as `\x5c`. So whoever reads every
/// `\xNN` as a byte has what was there, and every other text is as it was.
class json_object {
  public:
    json_object& add(std::string_view name, std::string_view text);
    json_object& add(std::string_view name, const char* text) {
        return add(name, std::string_view(text));
    }
    json_object& add(std::string_view name, std::int64_t number);
    json_object& add(std::string_view name, std::uint64_t number);
    json_object& add(std::string_view name, int number) { return add(name, std::int64_t{number}); }
    json_object& add(std::string_view name, const json_object& object);
    json_object& add(std::string_view name, const std::vector<json_object>& objects);
    json_object& add_null(std::string_view name);

    template <typename Value>
    json_object& add(std::string_view name, const std::optional<Value>& value) {
        return value ? add(name, *value) : add_null(name);
    }

    [[nodiscard]] std::string text() const { return "{" + members_ + "}"; }
    [[nodiscard]] std::string line() const { return text() + "\n"; }

  private:
    json_object& add_raw(std::string_view name, std::string_view value);

    std::string members_;
};

}  // namespace holdfast::tool
