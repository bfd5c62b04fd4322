#include "holdfast/duration.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace holdfast {
namespace {

struct unit {
    std::string_view name;
    std::uint64_t nanoseconds;
};

constexpr std::uint64_t microsecond = 1'000;
constexpr std::uint64_t millisecond = 1'000 * microsecond;
constexpr std::uint64_t second = 1'000 * millisecond;

// Largest first: format_duration takes the first that fits. It shows no days: 36h and 0.5h are read
// at a glance, 1.5d is not.
constexpr std::array<unit, 5> units{{{"h", 3'600 * second},
                                     {"m", 60 * second},
                                     {"s", second},
                                     {"ms", millisecond},
                                     {"us", microsecond}}};

constexpr std::uint64_t largest = std::numeric_limits<std::chrono::nanoseconds::rep>::max();

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr std::uint64_t digit_value(char c) { return static_cast<std::uint64_t>(c - '0'); }

std::string_view take_digits(std::string_view& text) {
    std::size_t length = 0;
    while (length < text.size() && is_digit(text[length])) ++length;
    const auto digits = text.substr(0, length);
    text.remove_prefix(length);
    return digits;
}

std::string_view take_letters(std::string_view& text) {
    std::size_t length = 0;
    while (length < text.size() && !is_digit(text[length])) ++length;
    const auto letters = text.substr(0, length);
    text.remove_prefix(length);
    return letters;
}

std::optional<std::uint64_t> unit_named(std::string_view name) {
    if (name == "d") return 24 * 3'600 * second;
    for (const auto& candidate : units) {
        if (candidate.name == name) return candidate.nanoseconds;
    }
    return std::nullopt;
}

/// Adds `count` times `each` to `total`; false, if that is more than a duration can hold.
bool add(std::uint64_t& total, std::uint64_t count, std::uint64_t each) {
    if (count > (largest - total) / each) return false;
    total += count * each;
    return true;
}

std::optional<std::uint64_t> whole_number(std::string_view digits) {
    std::uint64_t number = 0;
    for (const char c : digits) {
        std::uint64_t next = digit_value(c);
        if (!add(next, number, 10)) return std::nullopt;
        number = next;
    }
    return number;
}

/// The fraction of a unit as whole nanoseconds; nullopt, if it is finer than that.
std::optional<std::uint64_t> fraction_of(std::uint64_t unit_size, std::string_view digits) {
    std::uint64_t total = 0;
    for (const char c : digits) {
        if (unit_size % 10 != 0) return std::nullopt;
        unit_size /= 10;
        total += digit_value(c) * unit_size;
    }
    return total;
}

/// One number with its unit: what it comes to, and what one of the unit does, in nanoseconds.
struct part {
    std::uint64_t value;
    std::uint64_t unit;
};

/// A number that stands alone is seconds. Nothing follows a fraction.
std::optional<part> take_part(std::string_view& text, bool first) {
    const auto whole_digits = take_digits(text);
    std::string_view fraction_digits;
    const bool has_fraction = text.starts_with('.');
    if (has_fraction) {
        text.remove_prefix(1);
        fraction_digits = take_digits(text);
    }
    if (whole_digits.empty() || (has_fraction && fraction_digits.empty())) return std::nullopt;
    const auto unit_size = first && text.empty() ? second : unit_named(take_letters(text));
    const auto whole = whole_number(whole_digits);
    if (!unit_size || !whole || (has_fraction && !text.empty())) return std::nullopt;
    auto total = fraction_of(*unit_size, fraction_digits);
    if (!total || !add(*total, *whole, *unit_size)) return std::nullopt;
    return part{*total, *unit_size};
}

std::uint64_t rounded(std::uint64_t value, std::uint64_t step) {
    return (value + step / 2) / step * step;
}

std::uint64_t rounded_for_people(std::uint64_t value) {
    if (value >= second) return rounded(value, millisecond);
    if (value >= millisecond) return rounded(value, microsecond);
    return value;
}

bool needs_at_most_three_decimals(std::uint64_t value, std::uint64_t unit_size) {
    return value % (unit_size / 1'000) == 0;
}

const unit& unit_for(std::uint64_t value) {
    for (const auto& candidate : units) {
        if (value >= candidate.nanoseconds &&
            needs_at_most_three_decimals(value, candidate.nanoseconds)) {
            return candidate;
        }
    }
    return units.back();  // less than a microsecond: 0.001us is a nanosecond
}

/// `thousandths` as ".5" for 500, ".05" for 50, and nothing for 0.
std::string decimals(std::uint64_t thousandths) {
    if (thousandths == 0) return {};
    std::string text = std::to_string(1'000 + thousandths);
    text.front() = '.';
    text.erase(text.find_last_not_of('0') + 1);
    return text;
}

}  // namespace

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
    std::uint64_t total = 0;
    std::uint64_t last_unit = largest;
    do {
        const auto next = take_part(text, last_unit == largest);
        if (!next || next->unit >= last_unit || !add(total, next->value, 1)) return std::nullopt;
        last_unit = next->unit;
    } while (!text.empty());
    return std::chrono::nanoseconds{static_cast<std::chrono::nanoseconds::rep>(total)};
}

std::string format_duration(std::chrono::nanoseconds duration) {
    const auto count = duration.count();
    if (count == 0) return "0s";
    // Unsigned, because the smallest duration has no positive twin.
    const auto bits = static_cast<std::uint64_t>(count);
    const auto value = rounded_for_people(count < 0 ? 0 - bits : bits);
    const auto& shown_in = unit_for(value);
    const auto thousandths = value % shown_in.nanoseconds / (shown_in.nanoseconds / 1'000);

    std::string text = count < 0 ? "-" : "";
    text += std::to_string(value / shown_in.nanoseconds);
    text += decimals(thousandths);
    text += shown_in.name;
    return text;
}

}  // namespace holdfast
