#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "support/file_descriptor.hpp"

namespace holdfast::test {

/// One reply of RESP2 or RESP3, as a tree.
struct reply {
    enum class kind { text, error, integer, nil, array, push };  // text: simple, bulk, all others

    kind type = kind::nil;
    std::string text{};             // of text, error and, in digits, integer
    std::int64_t integer = 0;       // of integer; booleans are 0 and 1
    std::vector<reply> elements{};  // of array (sets too; maps alternate key and value) and push

    bool is_error() const { return type == kind::error; }
    bool is_nil() const { return type == kind::nil; }
};

/// The text of a reply; "(nil)" for none; the elements of an array one per line.
std::string to_string(const reply& value);

/// A blocking client of a few lines that shares nothing with the code under test: it shows what
/// somebody else sees.
///
/// Thread safety: one object from one thread at a time.
/// Errors: std::runtime_error when the connection fails, ends, or is silent for longer than the
/// timeout. An error reply is a reply.
class raw_client {
  public:
    using milliseconds = std::chrono::milliseconds;
    static constexpr milliseconds default_timeout{5000};

    static raw_client connect_tcp(std::uint16_t port, milliseconds timeout = default_timeout);
    static raw_client connect_unix(const std::filesystem::path& path,
                                   milliseconds timeout = default_timeout);

    reply command(const std::vector<std::string>& arguments);

    void send(const std::vector<std::string>& arguments);
    void send_raw(std::string_view bytes);

    /// The next reply or push. Each call has the whole timeout.
    reply read_reply();

  private:
    raw_client(file_descriptor socket, milliseconds timeout);

    reply parse();
    std::string read_line();
    std::string read_bytes(std::size_t size);
    void receive();

    file_descriptor socket_;
    milliseconds timeout_;
    std::chrono::steady_clock::time_point deadline_;
    std::string unread_;
};

}  // namespace holdfast::test
