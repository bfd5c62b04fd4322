#include "core/hash_slot.hpp"

#include <array>
#include <memory>

namespace holdfast::core {
namespace {

constexpr std::array<std::uint16_t, 256> make_remainders() {
    std::array<std::uint16_t, 256> all{};
    for (unsigned byte = 0; byte < all.size(); ++byte) {
        unsigned rest = byte << 8U;
        for (int bit = 0; bit < 8; ++bit) {
            rest = (rest << 1U) ^ ((rest & 0x8000U) != 0 ? 0x1021U : 0U);
        }
        all[byte] = static_cast<std::uint16_t>(rest);
    }
    return all;
}

constexpr auto remainders = make_remainders();

using numbers = std::array<std::uint32_t, slot_count>;

// Some slots need a number of six digits. Never destroyed: a client may outlive main().
const numbers& make_numbers() {
    auto all = std::make_unique<numbers>();
    all->fill(UINT32_MAX);
    std::size_t missing = slot_count;
    for (std::uint32_t number = 0; missing > 0; ++number) {
        auto& place = (*all)[crc16(std::to_string(number)) % slot_count];
        if (place != UINT32_MAX) continue;
        place = number;
        --missing;
    }
    return *all.release();
}

}  // namespace

std::uint16_t crc16(std::string_view text) {
    unsigned rest = 0;
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        rest = ((rest << 8U) & 0xFFFFU) ^ remainders[(rest >> 8U) ^ byte];
    }
    return static_cast<std::uint16_t>(rest);
}

std::uint16_t hash_slot(std::string_view key) {
    const auto open = key.find('{');
    const auto close = open == key.npos ? key.npos : key.find('}', open + 1);
    const bool tagged = close != key.npos && close > open + 1;
    const auto hashed = tagged ? key.substr(open + 1, close - open - 1) : key;
    return static_cast<std::uint16_t>(crc16(hashed) % slot_count);
}

std::string slot_tag(std::uint16_t slot) {
    static const auto& all = make_numbers();
    return std::to_string(all[slot]);
}

}  // namespace holdfast::core
