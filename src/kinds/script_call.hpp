#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "core/time.hpp"
#include "scripts/script.hpp"

namespace holdfast::kinds {

/// Servers count whole milliseconds. Rounded up, so that a key never dies before it should.
std::int64_t milliseconds(core::duration value);

/// Appends one call of a script, with one look at the room that it takes. `by_text`: EVAL with its
/// text, not EVALSHA. Up to 13 keys and arguments take no memory beside that.
void append_call(std::string& out, const scripts::script& which, bool by_text,
                 std::span<const std::string_view> keys,
                 std::initializer_list<std::string_view> arguments);
void append_call(std::string& out, const scripts::script& which, bool by_text,
                 std::span<const std::string_view> keys,
                 std::span<const std::string_view> arguments);

}  // namespace holdfast::kinds
