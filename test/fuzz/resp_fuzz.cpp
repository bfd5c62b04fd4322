// sources: src/resp/framer.cpp src/resp/view.cpp src/resp/to_string.cpp
//
// The first byte chooses the limits, the next three the sizes in which the rest arrives. However
// it is cut, the framer must find the same frames and the same fault, and every view must stay
// inside its bytes.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "resp/framer.hpp"
#include "resp/view.hpp"

namespace {

using namespace holdfast::resp;

constexpr std::size_t prologue = 4;

void require(bool claim) {
    if (!claim) __builtin_trap();
}

struct outcome {
    std::vector<std::size_t> frames;
    framing last = framing::incomplete;
    std::string_view error;
    std::size_t error_position = 0;

    bool operator==(const outcome&) const = default;
};

/// Gives the framer copies of exactly what has arrived, so that the sanitizer sees a read beyond.
outcome receive(std::string_view bytes, const std::vector<std::size_t>& sizes,
                const limits& bounds) {
    outcome result;
    framer frames{bounds};
    std::size_t begin = 0;
    std::size_t end = 0;
    for (std::size_t turn = 0; end < bytes.size() && result.last == framing::incomplete; ++turn) {
        end = std::min(bytes.size(), end + sizes[turn % sizes.size()]);
        const std::vector<char> arrived(bytes.begin() + begin, bytes.begin() + end);
        std::string_view buffer{arrived.data(), arrived.size()};
        while ((result.last = frames.scan(buffer)) == framing::complete) {
            require(frames.size() > 0 && frames.size() <= buffer.size());
            result.frames.push_back(frames.size());
            begin += frames.size();
            buffer.remove_prefix(frames.size());
            frames.reset();
        }
    }
    result.error = frames.error();
    result.error_position = frames.error_position();
    require(result.error.empty() == (result.last != framing::malformed));
    return result;
}

enum class source { valid_frame, anything };

void walk(const view& value, source from, int budget) {
    if (budget == 0) return;
    std::size_t children = 0;
    for (const view child : value) {
        walk(child, from, budget - 1);
        ++children;
    }
    require(children == value.size());
    require(!value.at(children));
    if (from == source::anything) {
        static_cast<void>(value.as_integer());
        static_cast<void>(value.number());
        static_cast<void>(value.text());
        return;
    }
    require(value.integer().has_value() == (value.kind() == kind::integer));
    require(value.number().has_value() == (value.kind() == kind::number));
    require(value.boolean().has_value() == (value.kind() == kind::boolean));
}

void examine(std::string_view bytes, source from) {
    const std::vector<char> exact(bytes.begin(), bytes.end());
    const view value{std::string_view{exact.data(), exact.size()}};
    walk(value, from, framer::max_depth);
    const std::string text = to_string(value, 100);
    require(text.size() <= 104);
    require(std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; }));
}

/// A frame that was found among others must be one by itself.
void require_frame(std::string_view frame, const limits& bounds) {
    framer alone{bounds};
    require(alone.scan(frame) == framing::complete && alone.size() == frame.size());
    framer cut{bounds};
    require(cut.scan(frame.substr(0, frame.size() - 1)) == framing::incomplete);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < prologue) return 0;
    const limits tight{
        .depth = 3, .elements = 8, .bulk_bytes = 16, .line_bytes = 24, .reply_bytes = 128};
    const limits bounds = data[0] % 2 == 0 ? limits{} : tight;
    const std::vector<std::size_t> sizes{data[1] % 32U + 1U, data[2] % 32U + 1U,
                                         data[3] % 32U + 1U};
    const std::vector<char> copy(data + prologue, data + size);
    const std::string_view bytes{copy.data(), copy.size()};

    const outcome whole = receive(bytes, {bytes.size() + 1}, bounds);
    require(receive(bytes, sizes, bounds) == whole);

    std::size_t begin = 0;
    for (const std::size_t frame : whole.frames) {
        require_frame(bytes.substr(begin, frame), bounds);
        examine(bytes.substr(begin, frame), source::valid_frame);
        begin += frame;
    }
    examine(bytes, source::anything);
    return 0;
}
