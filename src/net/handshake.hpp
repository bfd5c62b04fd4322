#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "net/endpoint.hpp"
#include "net/failure.hpp"
#include "resp/view.hpp"

namespace holdfast::net {

/// What a server said of itself while we introduced ourselves.
struct greeting {
    int protocol = 2;         // RESP version in use
    bool tracking = false;    // it will tell us when keys that we read change
    std::string info;         // the text of INFO; empty: it would not say
    std::string appendfsync;  // of CONFIG GET; empty: it would not say

    /// The value of a field of INFO, empty if it has none.
    [[nodiscard]] std::string_view field(std::string_view name) const;
};

struct introduction {
    std::string user;
    std::string password;
    std::string client_name;
    unsigned database = 0;
};

/// The conversation that opens a connection. Knows no socket: commands out, replies in.
///
///   state      sent                                    next
///   hello      HELLO 3 [AUTH user password]            facts; legacy where it is not understood
///   legacy     AUTH [user] password (if there is one)  facts
///   facts      CLIENT SETNAME, SELECT, CLIENT          done
///              TRACKING, INFO, CONFIG GET: one write
///   done       -
///   failed     why() says what was wrong
class handshake {
  public:
    enum class state : std::uint8_t { hello, legacy, facts, done, failed };

    explicit handshake(introduction who) : who_(std::move(who)) {}

    /// Appends the first command.
    void start(std::string& out);

    /// One reply. Appends what is to be sent next, if anything.
    void step(resp::view reply, std::string& out);

    [[nodiscard]] state current() const { return state_; }
    [[nodiscard]] const failure& why() const { return why_; }
    [[nodiscard]] const greeting& result() const { return result_; }

  private:
    enum class question : std::uint8_t { set_name, select, tracking, info, fsync };

    void on_hello(resp::view reply, std::string& out);
    void on_legacy(resp::view reply, std::string& out);
    void on_fact(resp::view reply);
    void ask_legacy(std::string& out);
    void ask_facts(std::string& out);
    void ask(std::string& out, question what, std::initializer_list<std::string_view> command);
    void fail(failure why);

    introduction who_;
    state state_ = state::hello;
    failure why_;
    greeting result_;
    std::array<question, 5> asked_{};
    std::size_t asked_count_ = 0;
    std::size_t answered_ = 0;
};

/// What an error reply means for whoever sent the command.
failure explain(resp::view error_reply);

}  // namespace holdfast::net
