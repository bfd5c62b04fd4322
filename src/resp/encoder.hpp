#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

/// Writes commands as RESP arrays of bulk strings behind what a string already holds. Nothing is
/// allocated but that string's own growth; requests of many callers share one buffer this way.
/// Arguments may hold any bytes, and must not point into that string.
namespace holdfast::resp {

/// An integer spelled in decimal, in place. Also an argument where a list of views is wanted:
/// `append_command(out, {"PEXPIRE", key, decimal{ttl}.text()})`.
class decimal {
  public:
    template <std::integral Integer>
    explicit decimal(Integer value)
        : end_{std::to_chars(digits_.data(), digits_.data() + digits_.size(), value).ptr} {}
    decimal(const decimal&) = delete;
    decimal& operator=(const decimal&) = delete;

    /// Lives as long as this object.
    std::string_view text() const { return {digits_.data(), end_}; }

  private:
    std::array<char, 20> digits_;  // the longest: -9223372036854775808
    char* end_;
};

namespace detail {

inline constexpr std::size_t header_room = 23;  // type byte, 20 digits, CRLF

/// The functions that write take a place with room enough and return the place behind.
inline char* write_header(char* place, char type, std::size_t count) {
    *place++ = type;
    place = std::to_chars(place, place + 20, count).ptr;
    *place++ = '\r';
    *place++ = '\n';
    return place;
}

inline char* write_bulk(char* place, std::string_view argument) {
    place = write_header(place, '$', argument.size());
    if (!argument.empty()) std::memcpy(place, argument.data(), argument.size());
    place += argument.size();
    *place++ = '\r';
    *place++ = '\n';
    return place;
}

constexpr std::size_t bulk_room(std::string_view argument) {
    return header_room + argument.size() + 2;
}

/// Lets `write` fill up to `room` bytes behind `out`: one look at the capacity for all of them,
/// which halves the time against an append for every piece. Throws before it changes anything.
template <class Write>
void append_up_to(std::string& out, std::size_t room, Write write) {
    const std::size_t begin = out.size();
    out.resize(begin + room);
    const char* end = write(out.data() + begin);
    out.resize(static_cast<std::size_t>(end - out.data()));
}

}  // namespace detail

inline void append_command(std::string& out, std::span<const std::string_view> arguments) {
    std::size_t room = detail::header_room;
    for (const std::string_view argument : arguments) room += detail::bulk_room(argument);
    detail::append_up_to(out, room, [&](char* place) {
        place = detail::write_header(place, '*', arguments.size());
        for (const std::string_view argument : arguments) {
            place = detail::write_bulk(place, argument);
        }
        return place;
    });
}

inline void append_command(std::string& out, std::initializer_list<std::string_view> arguments) {
    append_command(out, std::span{arguments.begin(), arguments.size()});
}

}  // namespace holdfast::resp
