#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::core {

/// A Redis Cluster parts its keys into so many slots, each of which one server serves.
inline constexpr std::size_t slot_count = 16384;

/// CRC16 as Redis Cluster has it (XMODEM): polynomial 0x1021, from zero on.
std::uint16_t crc16(std::string_view text);

/// The slot of a key: that of its hash tag, which is what stands between the first '{' and the
/// first '}' behind it; of the whole key where there is none, or nothing in between.
std::uint16_t hash_slot(std::string_view key);

/// The hash tag that names a slot: the smallest natural number whose decimal digits hash to it.
/// Other clients find the record of a slot by it, so it stays the same for ever. The first call
/// takes a few milliseconds. REQUIRES: slot < slot_count.
std::string slot_tag(std::uint16_t slot);

}  // namespace holdfast::core
