#include <array>
#include <charconv>

#include "resp/view.hpp"

namespace holdfast::resp {
namespace {

/// Writes until it has had enough; whatever is written after that costs nothing.
class printer {
  public:
    explicit printer(std::size_t limit) : limit_{limit} {}

    void print(const view& value);
    std::string finish() &&;

  private:
    bool full() const { return out_.size() > limit_; }
    void print_quoted(std::string_view text);
    void print_escaped(unsigned char c);
    void print_children(const view& value, std::string_view open, char close);
    template <class Number>
    void print_number(Number number);

    std::string out_;
    std::size_t limit_;
    std::size_t quote_opened_ = 0;  // the last one, and where it was closed
    std::size_t quote_closed_ = 0;
};

void printer::print(const view& value) {
    if (full()) return;
    switch (value.kind()) {
        case kind::simple_string:
        case kind::bulk_string:
        case kind::verbatim:
        case kind::big_number: return print_quoted(value.text());
        case kind::error:
        case kind::bulk_error: out_ += "error "; return print_quoted(value.text());
        case kind::integer: return print_number(value.integer().value_or(0));
        case kind::number: return print_number(value.number().value_or(0));
        case kind::boolean: out_ += value.boolean().value_or(false) ? "true" : "false"; return;
        case kind::null: out_ += "null"; return;
        case kind::array: return print_children(value, "[", ']');
        case kind::push: return print_children(value, "push [", ']');
        case kind::set: return print_children(value, "set [", ']');
        case kind::map: return print_children(value, "{", '}');
    }
}

std::string printer::finish() && {
    if (full()) {
        const bool in_quotes = quote_opened_ < limit_ && quote_closed_ >= limit_;
        out_.resize(limit_);
        out_ += in_quotes ? "...\"" : "...";
    }
    return std::move(out_);
}

template <class Number>
void printer::print_number(Number number) {
    std::array<char, 32> digits;  // the shortest spelling of a double has at most 24
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out_.append(digits.data(), end);
}

void printer::print_quoted(std::string_view text) {
    quote_opened_ = out_.size();
    quote_closed_ = std::string::npos;
    out_ += '"';
    for (const char c : text) {
        if (full()) return;
        print_escaped(static_cast<unsigned char>(c));
    }
    quote_closed_ = out_.size();
    out_ += '"';
}

void printer::print_escaped(unsigned char c) {
    constexpr std::string_view digits = "0123456789abcdef";
    switch (c) {
        case '\r': out_ += "\\r"; return;
        case '\n': out_ += "\\n"; return;
        case '\t': out_ += "\\t"; return;
        case '"': out_ += "\\\""; return;
        case '\\': out_ += "\\\\"; return;
        default: break;
    }
    if (c >= 0x20 && c < 0x7f) {
        out_ += static_cast<char>(c);
    } else {
        out_ += {'\\', 'x', digits[c >> 4U], digits[c & 15U]};
    }
}

void printer::print_children(const view& value, std::string_view open, char close) {
    out_ += open;
    std::size_t index = 0;
    for (const view child : value) {
        if (full()) return;
        const bool is_map_value = value.kind() == kind::map && index % 2 == 1;
        if (index > 0) out_ += is_map_value ? ": " : ", ";
        print(child);
        ++index;
    }
    out_ += close;
}

}  // namespace

std::string to_string(const view& value, std::size_t limit) {
    printer out{limit};
    out.print(value);
    return std::move(out).finish();
}

}  // namespace holdfast::resp
