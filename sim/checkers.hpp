#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/fencing_token.hpp"
#include "core/node_set.hpp"
#include "sim/message.hpp"
#include "sim/network.hpp"
#include "sim/value.hpp"
#include "sim/world.hpp"

/// The rules, watched in true time by somebody who sees everything. They know nothing of how the
/// machines decide: only what callers were told, when, and what happened at the nodes.
namespace holdfast::sim {

enum class rule : std::uint8_t {
    exclusion,      // T1: validity intervals do not overlap
    token_order,    // T2: tokens are unique, and larger for whoever starts later
    lost_update,    // the fenced register (and under T1 the plain one) loses no update
    staleness,      // no lease begins, or goes on, after its own deadline
    ownership,      // no release, renewal or commit touches what another owns; no owner is shared
    orphan,         // no key outlives its attempt by more than it may
    notice,         // the stop_token fires before the deadline
    voided_vote,    // a node whose clock was seen to jump is not asked
    outsider,       // a client that the guard must keep out asks for no vote
    needless_loss,  // without faults no lease is lost
    recovery,       // after healing everybody gets the lock
};

const char* name_of(rule r);

struct violation {
    rule broken{};
    instant at{};
    std::string what;
};

class checkers {
  public:
    checkers(world& in, const network& on);

    // What callers are told. `at`: who gets it from the servers asks anew with every attempt; who
    // is handed it by another caller has asked when it joined the line.
    owner_id begin_attempt(std::uint32_t client, std::uint32_t worker, instant at);
    void decided(owner_id who, core::fencing_token token, instant at, instant deadline);
    void returned(owner_id who, instant at, instant deadline);

    /// `who` goes on under the owner that the servers have; and whoever does shows it to others.
    void handed_off(owner_id who, owner_id owner);
    void shown(owner_id who, owner_id owner);
    void renewed(owner_id who, instant at, instant deadline);
    void release_called(owner_id who, instant at);
    void released(owner_id who);
    /// `by_choice`: a lease that was not meant to be renewed any further.
    void lost(owner_id who, instant at, bool announced_in_time, bool by_choice);

    /// Nothing of this attempt is wanted any more. After `expired` its keys are gone by themselves.
    void over(owner_id who, instant at, instant expired);

    // What happens at the nodes.
    struct execution {
        std::uint32_t node = 0;
        std::uint32_t client = 0;
        const request& asked;
        const value& answer;
        owner_id before = 0;  // of the lock
        owner_id after = 0;
        bool abandoned = false;  // it came over a connection that the client has given up
    };
    void executed(const execution& what);
    void rolled_back(std::uint32_t node) { rolled_back_[node] = world_.now(); }
    void jumped(std::uint32_t node, core::duration by);

    // What a client learns of a node's clock, and whether it asks for the node's vote.
    void clock_seen(std::uint32_t client, std::uint32_t node, connection_id on, instant asked,
                    instant told);
    void vote_asked(std::uint32_t client, std::uint32_t node, instant at);

    /// The node still holds `who`'s key although its attempt is over; `link_is_fit`: the client
    /// could have told it, and its connection to the node has been in order.
    void found_at(std::uint32_t node, owner_id who, bool link_is_fit, bool for_ever);

    [[nodiscard]] std::uint32_t client_of(owner_id who) const { return attempts_[who].client; }
    [[nodiscard]] instant over_since(owner_id who) const { return attempts_[who].over_at; }
    [[nodiscard]] bool order_promised() const { return order_promised_; }

    // The register that a lock without fencing protects.
    [[nodiscard]] std::uint64_t plain_version() const { return plain_version_; }
    void plain_write(owner_id who, std::uint64_t version);

    void report(rule broken, std::string what);
    [[nodiscard]] const std::optional<violation>& found() const { return found_; }

    [[nodiscard]] std::uint64_t acquired() const { return acquired_; }
    [[nodiscard]] std::uint64_t attempts() const { return attempts_.size() - 1; }
    [[nodiscard]] std::string name_of_attempt(owner_id who) const;

  private:
    struct attempt {
        std::uint32_t client = 0;
        std::uint32_t worker = 0;
        instant started{};
        instant over_at = instant::max();
        instant expired{};
        owner_id shown_by = 0;
        core::node_set released_at{};
        core::node_set strayed_to{};  // its request came in over a connection given up before
    };
    struct lease {
        owner_id who = 0;
        instant deadline{};
    };
    struct success {
        owner_id who = 0;
        instant decided{};
        core::fencing_token token{};
        core::fencing_token largest{};  // of this and all earlier ones
    };
    struct clock_sample {
        connection_id on = 0;
        bool seen = false;
        instant asked{};
        instant told{};
        instant void_until{};
    };
    struct clock_jump {
        instant at{};
        std::uint32_t node = 0;
        core::duration by{};
    };

    void tell(const execution& what);
    void check_ownership(const execution& what);
    void check_floor(const execution& what);
    void check_exclusion(owner_id who, instant at, instant deadline);
    void check_order(owner_id who, core::fencing_token token);
    [[nodiscard]] bool must_be_clean(std::uint32_t node, const attempt& record) const;
    [[nodiscard]] core::duration jump_between(std::uint32_t node, instant from, instant to) const;

    world& world_;
    const network& network_;
    bool exclusion_promised_;
    bool order_promised_;
    std::vector<attempt> attempts_;
    std::vector<lease> leases_;  // returned, not released, deadline not known to have passed
    std::vector<success> successes_;
    std::vector<clock_jump> jumps_;
    std::array<std::array<clock_sample, 8>, 8> samples_{};
    std::array<instant, 8> rolled_back_{};
    std::uint64_t plain_version_ = 0;
    std::uint64_t acquired_ = 0;
    std::optional<violation> found_;
};

}  // namespace holdfast::sim
