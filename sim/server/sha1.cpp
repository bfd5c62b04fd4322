#include "sim/server/sha1.hpp"

#include <array>
#include <bit>
#include <cstdint>

namespace holdfast::sim {
namespace {

using state = std::array<std::uint32_t, 5>;

constexpr std::size_t block_size = 64;

// One bit, zeros, and the length in bits at the end of the last block.
std::string padded(std::string_view text) {
    std::string all(text);
    all += '\x80';
    while (all.size() % block_size != block_size - 8) all += '\0';
    const std::uint64_t bits = std::uint64_t{text.size()} * 8;
    for (unsigned shift = 64; shift != 0;) all += static_cast<char>(bits >> (shift -= 8U));
    return all;
}

std::array<std::uint32_t, 80> schedule_of(std::string_view block) {
    std::array<std::uint32_t, 80> w{};
    for (std::size_t i = 0; i < block_size; ++i) {
        w[i / 4] = w[i / 4] << 8U | static_cast<unsigned char>(block[i]);
    }
    for (std::size_t i = 16; i < w.size(); ++i) {
        w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    }
    return w;
}

std::uint32_t mixed(std::size_t round, const state& s) {
    const auto [a, b, c, d, e] = s;
    switch (round / 20) {
        case 0: return ((b & c) | (~b & d)) + 0x5a827999U;
        case 1: return (b ^ c ^ d) + 0x6ed9eba1U;
        case 2: return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcU;
        default: return (b ^ c ^ d) + 0xca62c1d6U;
    }
}

void digest(state& sum, std::string_view block) {
    const auto w = schedule_of(block);
    auto s = sum;
    for (std::size_t i = 0; i < w.size(); ++i) {
        const auto next = std::rotl(s[0], 5) + mixed(i, s) + s[4] + w[i];
        s = {next, s[0], std::rotl(s[1], 30), s[2], s[3]};
    }
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += s[i];
}

}  // namespace

std::string sha1(std::string_view text) {
    state sum{0x67452301U, 0xefcdab89U, 0x98badcfeU, 0x10325476U, 0xc3d2e1f0U};
    const auto all = padded(text);
    for (std::size_t at = 0; at < all.size(); at += block_size) {
        digest(sum, std::string_view(all).substr(at, block_size));
    }
    std::string hex;
    for (const auto word : sum) {
        for (unsigned shift = 32; shift != 0;)
            hex += "0123456789abcdef"[word >> (shift -= 4U) & 15U];
    }
    return hex;
}

}  // namespace holdfast::sim
