#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::resp {

/// How much a server may ask of us with one reply. A header that claims more is malformed as soon
/// as it is seen, so that memory follows the bytes received and never the bytes promised.
struct limits {
    std::size_t depth = 16;                          // aggregates inside one another, at most 32
    std::size_t elements = 65536;                    // values inside the reply, attributes included
    std::size_t bulk_bytes = std::size_t{16} << 20;  // payload of one bulk value
    std::size_t line_bytes = std::size_t{64} << 10;  // between a type byte and its CRLF
    std::size_t reply_bytes = std::size_t{64} << 20;  // the whole frame
};

enum class framing : std::uint8_t { complete, incomplete, malformed };

/// Finds where one RESP2 or RESP3 reply ends, in a buffer that grows as bytes arrive.
///
///   scanning ---- last byte of the reply seen ---> complete    size() is its length
///       \-------- a byte that cannot be ---------> malformed   error() says which and why
///
/// Both ends are final until reset(). A complete frame is valid throughout, attributes included:
/// lengths, line ends, numbers, pairs and limits hold, and `view` can read it. The verdict depends
/// on the bytes alone, not on how they were cut into calls.
///
/// Pushes are frames like any other, and valid only at the top. Streamed values (`$?`, `*?`) and
/// inline text are malformed.
///
/// Cost: linear in the size of the reply however it arrives; payloads are skipped, not read. Never
/// allocates. Thread safety: one object, one thread at a time.
class framer {
  public:
    static constexpr std::size_t max_depth = 32;

    framer() : framer{limits{}} {}
    explicit framer(const limits& bounds);

    /// REQUIRES: `bytes` begins at the first byte of the reply, and with what the last call since
    /// reset() was given; it may have grown, moved, or hold later replies too.
    framing scan(std::string_view bytes);

    /// After `complete`: the length of the frame. Otherwise 0.
    std::size_t size() const { return open_[0] == 0 ? item_ : 0; }

    /// After `malformed`: what was wrong, as a literal, and at which byte of the reply.
    std::string_view error() const { return error_; }
    std::size_t error_position() const { return error_position_; }

    /// Forgets the reply; the next scan begins with the first byte of another one.
    void reset();

  private:
    framing scan_header(std::string_view bytes);
    framing scan_body(std::string_view bytes);
    framing find_line_end(std::string_view bytes);
    framing take_line(char type, std::string_view line);
    framing open_bulk(char type, std::string_view line);
    framing open_aggregate(char type, std::string_view line);
    framing finish_value(std::size_t next);
    framing fail_length(std::string_view line);
    framing fail(std::string_view what, std::size_t position);
    std::size_t after_line() const { return line_end_ + 2; }

    limits limits_;
    std::size_t item_ = 0;      // type byte of the value being read
    std::size_t line_end_ = 0;  // its carriage return, or how far the search for it came
    std::size_t body_end_ = 0;  // end of its payload once the header is read, else 0
    std::size_t claimed_ = 0;   // values announced by all headers so far
    std::size_t depth_ = 0;
    std::array<std::size_t, max_depth + 1> open_;  // values still to come, at each depth
    std::string_view error_;
    std::size_t error_position_ = 0;
};

}  // namespace holdfast::resp
