#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "lab/actor.hpp"
#include "lab/journal.hpp"
#include "lab/scheme.hpp"
#include "support/redis_server.hpp"
#include "support/sentinel_group.hpp"
#include "support/shifted_clock.hpp"

namespace holdfast::lab {

/// What the lock protects: refuses a token below the largest it has seen. To a client without
/// tokens it has to believe.
class resource {
  public:
    bool write(const std::optional<std::uint64_t>& token) {
        if (token && *token < highest_) return false;
        highest_ = token.value_or(highest_);
        return true;
    }
    [[nodiscard]] std::uint64_t highest() const { return highest_; }

  private:
    std::uint64_t highest_ = 0;
};

struct props {
    bool server_clock = false;  // the wall clock of the weak node can be set
};

/// Where one cell is played: the servers of the scheme, its clients, and the story so far. All of
/// it is gone with the object.
///
/// The servers are called A to E, the clients "client 1" and so on. The weak node is the one that
/// two majorities share when the network is split by split(): C of five, A of one.
class stage {
  public:
    stage(const scheme_entry& scheme, const props& wanted, journal& story, std::stop_token stop);

    static constexpr auto key = "lottery";

    [[nodiscard]] const scheme_entry& scheme() const { return scheme_; }
    [[nodiscard]] std::size_t nodes() const { return scheme_.nodes; }
    [[nodiscard]] std::size_t majority() const { return nodes() / 2 + 1; }
    [[nodiscard]] std::size_t weak_node() const { return nodes() / 2; }
    [[nodiscard]] test::redis_server& server(std::size_t node) {
        return group_ ? group_->server(node) : servers_[node];
    }
    /// REQUIRES: the scheme is watched. Its first server is the master.
    [[nodiscard]] test::sentinel_group& group() { return *group_; }
    [[nodiscard]] std::string name_of(std::size_t node) const;
    [[nodiscard]] test::shifted_clock& server_clock() { return *server_clock_; }

    /// A new client, connected.
    actor& enter(const test::environment_variables& environment = {});
    /// `first` reaches the first majority only, `second` the last: they share the weak node.
    void split(actor& first, actor& second);

    void say(const std::string& text) { story_.step(text); }

    /// The client has the lock, after as many attempts as it takes. Throws if it never gets it.
    outcome must_acquire(actor& who, milliseconds ttl);
    /// What the last attempt brought, when it has held or `bound` has passed.
    outcome try_for(actor& who, milliseconds ttl, milliseconds bound,
                    const std::string& which = key);
    /// Waits; the user may interrupt it.
    void pass(milliseconds time);
    /// The value of the lock at every server, and the longest that one of them will keep it.
    [[nodiscard]] std::string values_stored();
    [[nodiscard]] milliseconds longest_ttl();

  private:
    void vouch();
    [[nodiscard]] std::vector<tap::route> routes() const;

    const scheme_entry& scheme_;
    journal& story_;
    std::stop_token stop_;
    std::unique_ptr<test::shifted_clock> server_clock_;
    std::deque<test::redis_server> servers_;
    std::optional<test::sentinel_group> group_;  // instead of these
    std::deque<actor> actors_;
};

}  // namespace holdfast::lab
