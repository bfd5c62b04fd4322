#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::resp {

enum class kind : std::uint8_t {
    simple_string,
    error,
    integer,
    bulk_string,
    array,
    null,  // `_`, and the null bulk string and null array of RESP2
    number,
    boolean,
    bulk_error,
    verbatim,
    big_number,
    map,
    set,
    push
};

/// A value inside a complete frame: a few words that point into the bytes and own nothing.
///
/// Attributes are skipped: a view never shows them. Asking a value for what it is not gives
/// nothing (empty text, no number, no children), never undefined behaviour; the same holds for
/// bytes that are no complete frame: what cannot be read is null.
///
/// Thread safety: as for a const string_view. Lifetime: REQUIRES that the bytes outlive it.
/// Cost: constant, except that moving past a child, or to `at(n)`, walks the bytes of the children
/// in between. Never allocates.
class view {
  public:
    class iterator;

    view() = default;
    explicit view(std::string_view frame);

    resp::kind kind() const { return kind_; }
    bool is_null() const { return kind_ == kind::null; }
    bool is_error() const { return kind_ == kind::error || kind_ == kind::bulk_error; }

    /// A string of any sort that is not an error.
    bool is_text() const {
        return kind_ == kind::simple_string || kind_ == kind::bulk_string ||
               kind_ == kind::verbatim;
    }

    /// Of strings, errors, big numbers, and verbatim strings (without `txt:`).
    std::string_view text() const;

    std::optional<std::int64_t> integer() const;
    std::optional<double> number() const;
    std::optional<bool> boolean() const;

    /// An integer, or a string that spells one: scripts and old commands answer either way.
    std::optional<std::int64_t> as_integer() const;

    /// Children of an array, set or push; of a map two for every entry, key before value.
    std::size_t size() const { return size_; }
    iterator begin() const;
    iterator end() const;
    std::optional<view> at(std::size_t index) const;

  private:
    std::string_view line_or_body_;
    std::string_view rest_;  // behind the header and payload: children, then whatever follows
    std::size_t size_ = 0;
    resp::kind kind_ = kind::null;
};

/// Walks the children of one view. Comparing iterators of different views is meaningless.
class view::iterator {
  public:
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = view;
    using difference_type = std::ptrdiff_t;
    using reference = view;
    using pointer = void;

    iterator() = default;
    view operator*() const { return current_; }
    iterator& operator++();
    iterator operator++(int) {
        iterator before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const iterator& left, const iterator& right) {
        return left.remaining_ == right.remaining_;
    }

  private:
    friend class view;
    iterator(std::string_view children, std::size_t count);

    view current_;
    std::size_t remaining_ = 0;  // current_ included
};

/// For logs: readable, printable, and cut off with "..." behind `limit`, with its quotes closed.
/// `["message", "caf\xc3\xa9", 42, null]`
std::string to_string(const view& value, std::size_t limit = 256);

}  // namespace holdfast::resp
