#include "runtime/owner_token.hpp"

#include <algorithm>
#include <cstring>

#include "holdfast/detail/utf8.hpp"
#include "runtime/driving/environment.hpp"

namespace holdfast::runtime {
namespace {

constexpr std::size_t random_digits = 40;

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

std::string make_owner_token(entropy& chance, std::string_view signature, std::string_view label) {
    constexpr std::string_view version = "hf1:";
    std::string token;
    token.reserve(version.size() + random_digits + signature.size() + label.size());
    token += version;
    token.resize(version.size() + random_digits);
    chance.hex(token.data() + version.size(), random_digits);
    token += signature;
    token += label;
    return token;
}

}  // namespace holdfast::runtime
