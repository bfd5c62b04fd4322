#include "resp/framer.hpp"

#include <algorithm>
#include <limits>

#include "resp/grammar.hpp"

namespace holdfast::resp {
namespace {

// Positions are sums of a limit and an offset: no limit may be so large that they wrap around.
constexpr std::size_t largest_limit = std::numeric_limits<std::size_t>::max() / 4;

limits bounded(limits wanted) {
    wanted.depth = std::min(wanted.depth, framer::max_depth);
    wanted.elements = std::min(wanted.elements, largest_limit);
    wanted.bulk_bytes = std::min(wanted.bulk_bytes, largest_limit);
    wanted.line_bytes = std::min(wanted.line_bytes, largest_limit);
    wanted.reply_bytes = std::min(wanted.reply_bytes, largest_limit);
    return wanted;
}

/// What is wrong with the line of a value that is nothing but a line; empty if nothing is.
std::string_view fault_in(char type, std::string_view line) {
    switch (type) {
        case ':': return parse_integer(line) ? "" : "not a 64-bit integer";
        case ',': return parse_number(line) ? "" : "not a number, or out of range";
        case '#': return line == "t" || line == "f" ? "" : "not a boolean";
        case '(': return is_big_number(line) ? "" : "not a big number";
        case '_': return line.empty() ? "" : "null with a value";
        default: return "";  // '+' and '-': any text
    }
}

}  // namespace

framer::framer(const limits& bounds) : limits_{bounded(bounds)} { reset(); }

void framer::reset() {
    item_ = line_end_ = body_end_ = claimed_ = depth_ = 0;
    open_[0] = 1;
    error_ = {};
    error_position_ = 0;
}

framing framer::scan(std::string_view bytes) {
    if (!error_.empty()) return framing::malformed;
    while (open_[0] != 0) {
        const framing step = body_end_ == 0 ? scan_header(bytes) : scan_body(bytes);
        if (step != framing::complete) return step;
    }
    return framing::complete;
}

framing framer::scan_header(std::string_view bytes) {
    if (item_ >= bytes.size()) return framing::incomplete;
    const char type = bytes[item_];
    const layout shape = layout_of(type);
    if (shape == layout::unknown) return fail("unknown type byte", item_);

    const framing found = find_line_end(bytes);
    if (found != framing::complete) return found;

    const std::string_view line = bytes.substr(item_ + 1, line_end_ - item_ - 1);
    if (after_line() > limits_.reply_bytes) return fail("reply too long", limits_.reply_bytes);
    if (shape == layout::line) return take_line(type, line);
    if (is_null_header(type, line)) return finish_value(after_line());
    return shape == layout::bulk ? open_bulk(type, line) : open_aggregate(type, line);
}

framing framer::find_line_end(std::string_view bytes) {
    const std::size_t last = item_ + 1 + limits_.line_bytes;  // where the carriage return may be
    const std::size_t stop = std::min(bytes.size(), last + 1);
    std::size_t here = std::max(line_end_, item_ + 1);
    while (here < stop && bytes[here] != '\r' && bytes[here] != '\n') ++here;
    line_end_ = here;

    if (here > last) return fail("line too long", last);
    if (here >= bytes.size()) return framing::incomplete;
    if (bytes[here] == '\n') return fail("line feed without carriage return", here);
    if (here + 1 == bytes.size()) return framing::incomplete;
    if (bytes[here + 1] != '\n') return fail("carriage return without line feed", here + 1);
    return framing::complete;
}

framing framer::take_line(char type, std::string_view line) {
    const std::string_view fault = fault_in(type, line);
    return fault.empty() ? finish_value(after_line()) : fail(fault, item_ + 1);
}

framing framer::open_bulk(char type, std::string_view line) {
    const auto length = parse_length(line);
    if (!length) return fail_length(line);
    if (*length > limits_.bulk_bytes) return fail("bulk value too long", item_ + 1);
    if (type == '=' && *length < verbatim_prefix) {
        return fail("verbatim string without format", item_ + 1);
    }
    const std::size_t end = after_line() + *length;
    if (end + 2 > limits_.reply_bytes) return fail("reply too long", item_ + 1);
    body_end_ = end;
    return framing::complete;
}

framing framer::scan_body(std::string_view bytes) {
    if (bytes.size() < body_end_ + 2) return framing::incomplete;
    const std::size_t body = after_line();
    if (bytes[item_] == '=' && bytes[body + verbatim_prefix - 1] != ':') {
        return fail("verbatim string without format", body + verbatim_prefix - 1);
    }
    if (bytes[body_end_] != '\r') return fail("bulk value longer than announced", body_end_);
    if (bytes[body_end_ + 1] != '\n') {
        return fail("carriage return without line feed", body_end_ + 1);
    }
    return finish_value(body_end_ + 2);
}

framing framer::open_aggregate(char type, std::string_view line) {
    const auto entries = parse_length(line);
    if (!entries) return fail_length(line);
    if (type == '>' && depth_ != 0) return fail("push inside another value", item_);
    if (depth_ == limits_.depth) return fail("nested too deeply", item_);

    // An attribute stands before the value it describes. It takes no place in what surrounds it,
    // but counts as a value, or else a reply could hold any number of them.
    const std::size_t itself = type == '|' ? 1 : 0;
    const std::size_t room = limits_.elements - claimed_;
    if (itself > room || *entries > (room - itself) / values_per_entry(type)) {
        return fail("too many elements", item_ + 1);
    }
    const std::size_t children = *entries * values_per_entry(type);
    claimed_ += children + itself;
    open_[depth_] += itself;
    if (children == 0) return finish_value(after_line());

    open_[++depth_] = children;
    item_ = line_end_ = after_line();
    return framing::complete;
}

/// A value is read to its end, and with it every aggregate of which it was the last one.
framing framer::finish_value(std::size_t next) {
    item_ = line_end_ = next;
    body_end_ = 0;
    while (--open_[depth_] == 0 && depth_ > 0) --depth_;
    return framing::complete;
}

framing framer::fail_length(std::string_view line) {
    return fail(line == "?" ? "streamed values are not supported" : "not a length", item_ + 1);
}

framing framer::fail(std::string_view what, std::size_t position) {
    error_ = what;
    error_position_ = position;
    return framing::malformed;
}

}  // namespace holdfast::resp
