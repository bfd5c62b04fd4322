#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::runtime {

class environment;

/// Random bits from the environment, fetched in blocks. One per client, so that a forked child,
/// which needs a client of its own, never repeats what its parent drew.
class entropy {
  public:
    explicit entropy(environment& from) : from_(from) {}

    std::uint64_t bits64();
    void hex(char* out, std::size_t digits);  // REQUIRES: an even number of digits, at most 2048

  private:
    const std::uint8_t* draw(std::size_t bytes);  // never the same ones again
    void refill();

    environment& from_;
    std::array<std::uint8_t, 1024> block_{};
    std::size_t used_ = 1024;
};

/// The text, with what would confuse a reader of the token replaced by `_`: colons, and every byte
/// of what cannot be shown (detail::printable_length).
std::string readable(std::string text);

/// A channel that nobody else has: `holdfast:client:` and 32 hex digits.
std::string make_channel(entropy& chance);

/// `hf1:<40 hex digits>`, the signature of the environment and the label: unguessable, and readable
/// by whoever wonders. With a channel the last 16 digits are those of the channel, so that a client
/// knows its own. `start`: that of its kind of lock.
std::string make_owner_token(entropy& chance, std::string_view start, std::string_view channel,
                             std::string_view signature, std::string_view label);

/// Whether it was made for the client of this channel.
bool made_for(std::string_view channel, std::string_view owner);

}  // namespace holdfast::runtime
