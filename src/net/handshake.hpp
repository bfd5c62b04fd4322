#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "core/judge.hpp"
#include "net/endpoint.hpp"
#include "net/failure.hpp"
#include "resp/view.hpp"

namespace holdfast::net {

/// What a server said of itself while we introduced ourselves.
struct greeting {
    int protocol = 2;         // RESP version in use
    bool tracking = false;    // it will tell us when keys change that we ask to be told of
    std::string info;         // the text of INFO; empty: it would not say
    std::string appendfsync;  // of CONFIG GET; empty: it would not say
    bool enlisted = false;    // its restart marker was compared, and is of its present life now
    std::chrono::milliseconds quarantine{0};  // that is left, if it was enlisted

    /// The value of a field of INFO, empty if it has none.
    [[nodiscard]] std::string_view field(std::string_view name) const;

    [[nodiscard]] core::server_facts facts() const;
};

struct introduction {
    std::string user;
    std::string password;
    std::string client_name;
    unsigned database = 0;
    core::judge_policy policy{};  // says whether a restart must be asked about
};

/// The conversation that opens a connection. Knows no socket: commands out, replies in.
///
///   state      sent                                    next
///   hello      HELLO 3 [AUTH user password]            facts; legacy where it is not understood
///   legacy     AUTH [user] password (if there is one)  facts
///   facts      CLIENT SETNAME, SELECT, CLIENT          enlisting; done where INFO is refused and
///              TRACKING, INFO, CONFIG GET, SCRIPT      the server is not guarded
///              LOAD: one write
///   enlisting  the enlist script                       done: no vote was asked for before it
///   done       -
///   failed     why() says what was wrong
class handshake {
  public:
    enum class state : std::uint8_t { hello, legacy, facts, enlisting, done, failed };

    explicit handshake(introduction who) : who_(std::move(who)) {}

    /// Appends the first command.
    void start(std::string& out);

    /// One reply. Appends what is to be sent next, if anything.
    void step(resp::view reply, std::string& out);

    [[nodiscard]] state current() const { return state_; }
    [[nodiscard]] const failure& why() const { return why_; }
    [[nodiscard]] const greeting& result() const { return result_; }

  private:
    enum class question : std::uint8_t { set_name, select, tracking, info, fsync, script };

    void on_hello(resp::view reply, std::string& out);
    void on_legacy(resp::view reply, std::string& out);
    void on_fact(resp::view reply, std::string& out);
    void on_enlisted(resp::view reply);
    void ask_legacy(std::string& out);
    void ask_facts(std::string& out);
    void ask_enlist(std::string& out);
    void ask(std::string& out, question what, std::initializer_list<std::string_view> command);
    void fail(failure why);
    [[nodiscard]] bool guarded() const;

    introduction who_;
    state state_ = state::hello;
    failure why_;
    greeting result_;
    std::array<question, 9> asked_{};
    std::size_t asked_count_ = 0;
    std::size_t answered_ = 0;
};

/// What an error reply means for whoever sent the command.
failure explain(resp::view error_reply);

}  // namespace holdfast::net
