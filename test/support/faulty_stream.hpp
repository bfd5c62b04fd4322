#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <random>
#include <string>

#include "support/file_descriptor.hpp"

namespace holdfast::test {

/// What goes wrong with the bytes of one direction.
struct stream_faults {
    std::chrono::nanoseconds delay{0};
    std::chrono::nanoseconds jitter{0};  // up to this much more, at random
    bool silent = false;
    bool split = false;                      // every byte leaves in a write of its own
    std::optional<std::size_t> cut_after{};  // counts down
};

/// One direction of a proxied connection: bytes, and the end, that wait until they are due.
/// The order of bytes is kept, whatever the delays.
class faulty_stream {
  public:
    using time_point = std::chrono::steady_clock::time_point;

    enum class outcome {
        open,      // all that is due has been passed on, or the destination takes no more now
        finished,  // the orderly end has been passed on
        broken,    // the destination is gone
        severed,   // the source was reset, and so should the destination be
        cut,       // `cut_after` has been reached
    };

    /// Whether there is room for more of what the source has.
    bool wants_input() const;
    void read_from(const file_descriptor& source, time_point now, const stream_faults& faults,
                   std::minstd_rand& chance);
    /// The source was found gone by other means than reading from it.
    void source_was_reset(time_point now);

    outcome write_to(const file_descriptor& destination, time_point now, stream_faults& faults);
    /// Whether the destination was too slow: wait until it is writable.
    bool blocked() const { return blocked_; }
    /// When write_to has something to do next, if the destination takes it.
    std::optional<time_point> next_due() const;
    bool finished() const { return finished_; }

    std::size_t handed_off() const { return passed_on_; }

  private:
    enum class ending { none, orderly, reset };
    struct chunk {
        time_point due;
        std::string bytes;
    };

    outcome write_chunk(const file_descriptor& destination, stream_faults& faults);
    outcome pass_on_the_end(const file_descriptor& destination);
    void end(ending kind, time_point due);

    std::deque<chunk> waiting_;
    std::size_t waiting_bytes_ = 0;
    ending ending_ = ending::none;
    time_point end_due_;
    time_point last_due_;
    bool blocked_ = false;
    bool finished_ = false;
    std::size_t passed_on_ = 0;
};

}  // namespace holdfast::test
