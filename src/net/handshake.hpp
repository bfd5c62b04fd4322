#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/judge.hpp"
#include "net/acknowledgement.hpp"
#include "net/endpoint.hpp"
#include "net/enlisting.hpp"
#include "net/failure.hpp"
#include "resp/view.hpp"
#include "scripts/script.hpp"

namespace holdfast::net {

/// The value of a field in the text of INFO, empty if it has none.
std::string_view info_field(std::string_view info, std::string_view name);

/// The text behind a key of a map, empty if there is none.
std::string_view value_in(resp::view map, std::string_view key);

/// What is known of a server, with what the text of INFO says of its role.
core::server_facts facts_in(std::string_view replication, core::server_facts known);

/// What a server said of itself while we introduced ourselves.
struct greeting {
    int protocol = 2;         // RESP version in use
    std::string hello_mode;   // as HELLO says it; empty: it did not
    std::string hello_role;   // the same
    bool tracking = false;    // it will tell us when keys change that we ask to be told of
    bool subscribed = false;  // it will pass on to us what is published to our channel
    std::optional<failure> not_subscribed{};     // why the ACL keeps that from us
    std::string info;                            // the text of INFO; empty: it would not say
    std::optional<core::enlistment> enlisted{};  // what the record of its life says
    std::optional<failure> not_enlisted{};       // why the ACL keeps that from us

    /// The value of a field of INFO, empty if it has none.
    [[nodiscard]] std::string_view field(std::string_view name) const {
        return info_field(info, name);
    }

    /// "standalone", "sentinel" or "cluster"; empty: it did not say.
    [[nodiscard]] std::string_view mode() const;

    /// "master" or "slave"; empty: it did not say. HELLO tells it to everybody.
    [[nodiscard]] std::string_view role() const;

    [[nodiscard]] core::server_facts facts() const;
};

/// What a connection is made for.
enum class purpose : std::uint8_t {
    lock,
    look,         // to examine the server, whatever it is: it is not enlisted, and none is refused
    vouch,        // to lock, and an operator says that the server has no locks to forget
    acknowledge,  // to ask its replicas, beside a connection that locks: see net::acknowledging
};

struct introduction {
    std::string user;
    std::string password;
    std::string client_name;
    unsigned database = 0;
    core::judge_policy policy{};  // says whether a restart must be asked about
    purpose what_for = purpose::lock;
    std::string vouched_life{};  // as of core::life_of; empty: whichever it lives
    std::span<const scripts::script* const> loads{};  // so that they can be called by digest
    std::string channel{};  // by which we can be called; empty: none is needed
    core::replication group{};
    acknowledgement::terms acks{};  // where the group asks for any
    bool clustered = false;  // it is a node of a Cluster, where each slot is enlisted by itself
};

/// Why a server is not vouched for that lives another life than was meant.
failure another_life();

/// The conversation that opens a connection. Knows no socket: commands out, replies in.
///
///   state      sent                                    next
///   hello      HELLO 3 [AUTH user password]            facts; legacy where it is not understood;
///                                                      failed for what keeps no locks
///   legacy     AUTH [user] password (if there is one)  facts
///   facts      CLIENT SETNAME, SELECT, CLIENT          enlisting; done for a replica, and where
///              TRACKING, SUBSCRIBE, INFO, SCRIPT LOAD: INFO is refused and nothing is guarded,
///              one write                               and for who only looks
///   enlisting  the enlist script                       done: no vote was asked for before it;
///                                                      facts where it was emptied meanwhile;
///                                                      replicas where they have to know first
///   replicas   as of acknowledgement                   enlisting, which begins the quarantine
///   done       -
///   failed     why() says what was wrong
class handshake {
  public:
    enum class state : std::uint8_t { hello, legacy, facts, enlisting, replicas, done, failed };

    explicit handshake(introduction who) : who_(std::move(who)) {}

    /// Appends the first command.
    void start(std::string& out);

    /// One reply, or the push by which SUBSCRIBE is confirmed. Appends what is to be sent next, if
    /// anything.
    void step(resp::view reply, std::string& out);

    /// The server pushed that all of its keys are gone.
    void emptied() { emptied_ = true; }

    [[nodiscard]] state current() const { return state_; }
    [[nodiscard]] const failure& why() const { return why_; }
    [[nodiscard]] const greeting& result() const { return result_; }

  private:
    enum class question : std::uint8_t { set_name, select, tracking, subscribe, info, script };

    bool introduces_itself() const { return !who_.user.empty() || !who_.password.empty(); }
    void on_hello(resp::view reply, std::string& out);
    void on_legacy(resp::view reply, std::string& out);
    void on_fact(resp::view reply, std::string& out);
    void on_enlisted(resp::view reply, std::string& out);
    void on_replicas(resp::view reply, std::string& out);
    void ask_legacy(std::string& out);
    /// Fails, and returns true, where the server is of a kind that cannot keep locks.
    [[nodiscard]] bool refuse_unsupported();
    void ask_facts(std::string& out);
    [[nodiscard]] enlisting as_whom() const;
    void ask_enlist(std::string& out);
    void ask_replicas(std::string& out);
    [[nodiscard]] bool only_reads() const {
        return who_.what_for == purpose::look || who_.what_for == purpose::acknowledge;
    }
    void ask(std::string& out, question what, std::initializer_list<std::string_view> command);
    void fail(failure why);

    introduction who_;
    state state_ = state::hello;
    failure why_;
    greeting result_;
    std::vector<question> asked_;
    std::size_t answered_ = 0;
    acknowledgement replicas_;
    bool acknowledged_ = false;  // the replicas know that this life is noted
    bool emptied_ = false;       // since the facts were asked for
};

}  // namespace holdfast::net
