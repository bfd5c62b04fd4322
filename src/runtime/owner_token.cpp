#include "runtime/owner_token.hpp"

#include <algorithm>
#include <cstring>

#include "holdfast/detail/utf8.hpp"
#include "kinds/owners.hpp"
#include "runtime/driving/environment.hpp"

namespace holdfast::runtime {
namespace {

constexpr std::size_t digits = 40;
constexpr std::size_t digits_of_mark = 16;

std::string_view mark_of(std::string_view channel) {
    return channel.substr(channel.size() - std::min(channel.size(), digits_of_mark));
}

}  // namespace

const std::uint8_t* entropy::draw(std::size_t bytes) {
    if (block_.size() - used_ < bytes) refill();
    used_ += bytes;
    return block_.data() + used_ - bytes;
}

void entropy::refill() {
    from_.draw(block_);
    used_ = 0;
}

std::uint64_t entropy::bits64() {
    std::uint64_t bits = 0;
    std::memcpy(&bits, draw(sizeof bits), sizeof bits);
    return bits;
}

void entropy::hex(char* out, std::size_t digits) {
    static constexpr std::string_view alphabet = "0123456789abcdef";
    const auto* const bytes = draw(digits / 2);
    for (std::size_t n = 0; n < digits / 2; ++n) {
        out[2 * n] = alphabet[bytes[n] >> 4U];
        out[2 * n + 1] = alphabet[bytes[n] & 15U];
    }
}

// Colons separate the fields, and a token is shown to people, in logs and on terminals.
std::string readable(std::string text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto length = detail::printable_length(std::string_view(text).substr(at));
        if (length == 0 || text[at] == ':') text[at] = '_';
        at += std::max<std::size_t>(length, 1);
    }
    return text;
}

std::string make_channel(entropy& chance) {
    constexpr std::string_view prefix = "holdfast:client:";
    constexpr std::size_t random = 32;
    std::string channel(prefix);
    channel.resize(prefix.size() + random);
    chance.hex(channel.data() + prefix.size(), random);
    return channel;
}

std::string make_owner_token(entropy& chance, std::string_view start, std::string_view channel,
                             std::string_view signature, std::string_view label) {
    std::string token;
    token.reserve(start.size() + digits + signature.size() + label.size());
    token += start;
    token.resize(start.size() + digits);
    const auto mark = mark_of(channel);
    chance.hex(token.data() + start.size(), digits - mark.size());
    mark.copy(token.data() + token.size() - mark.size(), mark.size());
    token += signature;
    token += label;
    return token;
}

bool made_for(std::string_view channel, std::string_view owner) {
    return owner.substr(0, kinds::owner_start_bytes + digits).ends_with(mark_of(channel));
}

}  // namespace holdfast::runtime
