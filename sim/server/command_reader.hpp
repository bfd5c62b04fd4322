#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace holdfast::sim {

/// What a server finds at the beginning of the bytes that a connection has sent.
struct reading {
    enum class kind : std::uint8_t { incomplete, command, malformed };

    kind what = kind::incomplete;
    std::size_t size = 0;      // of the command, in bytes
    std::string_view error{};  // of what is malformed, as the server says it
    char unexpected = 0;       // where the error names a character: which one
};

/// Reads one command, an array of bulk strings, as Redis does: `words` then points into `bytes`,
/// and is empty for an array of none, which servers pass over. Errors are found at the same byte as
/// by a real server, which closes the connection after them. Whether the bytes came in pieces makes
/// no difference: with more of them one asks again. Strangers, who are not authenticated, may send
/// less. Inline commands, which no client library sends, are malformed.
reading read_command(std::string_view bytes, bool stranger, std::vector<std::string_view>& words);

}  // namespace holdfast::sim
