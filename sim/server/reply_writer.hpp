#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/server/value.hpp"

namespace holdfast::sim {

/// Appends answers to a string, as RESP2 or RESP3 spells them.
class reply_writer {
  public:
    reply_writer(std::string& out, int protocol) : out_(out), protocol_(protocol) {}

    void status(std::string_view text) { line('+', text); }
    void ok() { out_ += "+OK\r\n"; }
    void integer(std::int64_t number) { header(':', number); }
    void null() { out_ += protocol_ == 3 ? "_\r\n" : "$-1\r\n"; }
    void null_array() { out_ += protocol_ == 3 ? "_\r\n" : "*-1\r\n"; }
    void array(std::size_t count) { header('*', static_cast<std::int64_t>(count)); }

    void push(std::size_t count) {
        header(protocol_ == 3 ? '>' : '*', static_cast<std::int64_t>(count));
    }

    /// The line ends that a server's own words contain become spaces.
    void error(std::string_view text) {
        const auto begin = out_.size();
        line('-', text);
        for (auto at = begin; at + 2 < out_.size(); ++at) {
            if (out_[at] == '\r' || out_[at] == '\n') out_[at] = ' ';
        }
    }
    void bulk(std::string_view text) {
        header('$', static_cast<std::int64_t>(text.size()));
        out_ += text;
        out_ += "\r\n";
    }
    void map(std::size_t pairs) {
        const auto count = static_cast<std::int64_t>(pairs);
        protocol_ == 3 ? header('%', count) : header('*', 2 * count);
    }
    void verbatim(std::string_view text) {
        if (protocol_ != 3) return bulk(text);
        header('=', static_cast<std::int64_t>(text.size()) + 4);
        out_ += "txt:";
        out_ += text;
        out_ += "\r\n";
    }
    void write(const value& v) {
        switch (v.what) {
            case value::kind::nil: return null();
            case value::kind::integer: return integer(v.number);
            case value::kind::bulk: return bulk(v.text);
            case value::kind::status: return status(v.text);
            case value::kind::error: return error(v.text);
            case value::kind::array: break;
        }
        array(v.items.size());
        for (const auto& item : v.items) write(item);
    }

  private:
    void header(char type, std::int64_t number) {
        std::array<char, 20> digits;
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
        line(type, {digits.data(), end});
    }
    void line(char type, std::string_view text) {
        out_ += type;
        out_ += text;
        out_ += "\r\n";
    }

    std::string& out_;
    int protocol_;
};

}  // namespace holdfast::sim
