#pragma once

#include <array>
#include <optional>
#include <string>

#include "core/acquire.hpp"
#include "core/contend.hpp"
#include "core/hand_off.hpp"
#include "kinds/calls.hpp"
#include "runtime/engine.hpp"

namespace holdfast::runtime {

/// One attempt to get a lock, under an owner token of its own: carries out core::acquire.
///
/// Outlives its decision until the last node has answered, for the stragglers' sake.
class attempt final : public net::exchange {
  public:
    class listener {
      public:
        /// Once, with the lock held.
        virtual void decided(const attempt& what,
                             core::time_point now) noexcept HOLDFAST_LOCKED = 0;

        /// For whom it asks, as of now: the request is about to be written.
        [[nodiscard]] virtual core::hand_off_batch batch() const HOLDFAST_LOCKED = 0;

      protected:
        ~listener() = default;
    };

    /// Who denied it. Owner empty: not told.
    struct denial {
        std::string owner;
        core::duration remaining{-1};
        bool quarantine = false;
        std::size_t place = 0;  // in line at the only voter; 0: in none
    };

    /// A place in line at the only voter: the owner token that was deposited there, and the entry.
    /// It goes from attempt to attempt of one caller, until one of them is granted the lock, or
    /// fails.
    struct place {
        std::string owner;
        kinds::entry entry;
    };

    struct manner {
        bool listens = false;   // asks denying nodes of a quorum to tell when the key goes away
        bool inquires = false;  // wants to know who denied it
        bool waits = false;     // where it is denied by the only voter it stands in line
        bool quiet = false;     // nobody stood in line there when we last heard
    };

    /// Takes the place, if there is one.
    attempt(engine& through, plan_pointer what, manner how, listener& whom,
            std::optional<place>& held) HOLDFAST_LOCKED;

    /// With the first acquire of a client only after the membership check. Throws std::bad_alloc
    /// before anything was asked.
    void start(core::time_point now) HOLDFAST_LOCKED;
    /// The membership check is over.
    void resume(core::time_point now) noexcept HOLDFAST_LOCKED;

    /// The caller gave up: it is cleaned up, and nobody is told.
    void cancel(core::time_point now) noexcept HOLDFAST_LOCKED;

    /// No lease could be made of it: it is cleaned up. `owner`: what give_owner() gave, if it did.
    /// REQUIRES: held.
    void undo(std::string owner, core::time_point now) noexcept HOLDFAST_LOCKED;

    /// The lease that it became: while that lasts, a straggler's vote is still wanted.
    void became(std::weak_ptr<const hold> lease) HOLDFAST_LOCKED { lease_ = std::move(lease); }

    [[nodiscard]] const core::acquire& machine() const HOLDFAST_LOCKED { return machine_; }
    /// What its machine decided, in the light of why nodes were not asked.
    [[nodiscard]] core::acquire::verdict outcome() const HOLDFAST_LOCKED;

    /// The owner token, for the lease. Stragglers are asked under it still; with one node there are
    /// none, and nothing is copied. REQUIRES: held.
    [[nodiscard]] std::string give_owner() HOLDFAST_LOCKED;

    /// The place that it has in line, for the next attempt, or to be left. nullopt: it was never
    /// asked for. REQUIRES: contended.
    [[nodiscard]] std::optional<place> give_place() HOLDFAST_LOCKED;
    /// Under which it stands in line, or will.
    [[nodiscard]] const std::string& owner() const HOLDFAST_LOCKED { return owner_; }

    /// What the first holder has of it. REQUIRES: held.
    [[nodiscard]] core::grant gain() const HOLDFAST_LOCKED;

    [[nodiscard]] core::denial_summary summary() const HOLDFAST_LOCKED;
    [[nodiscard]] std::optional<denial> denied_by() const HOLDFAST_LOCKED;

    /// Why no majority could be reached.
    [[nodiscard]] net::failure why() const HOLDFAST_LOCKED;

  private:
    /// A vote is asked for in the cheapest way that the caller and the kind of lock allow; where
    /// that tells too little about the holder, an inquiry follows. What is to be undone is released
    /// under the same owner, which takes no memory.
    enum class question : std::uint8_t { vote, inquiry, commit, undo };

    void encode(tag request, bool by_text, std::string& out) override HOLDFAST_LOCKED;
    [[nodiscard]] bool wanted(tag) const override HOLDFAST_LOCKED;
    [[nodiscard]] bool asks_for_vote(tag request) const override HOLDFAST_LOCKED;
    [[nodiscard]] bool asks_for_token(tag request) const override HOLDFAST_LOCKED;
    [[nodiscard]] bool asks_for_notification(tag request) const override HOLDFAST_LOCKED;
    void answered(tag request, std::string_view reply) override HOLDFAST_LOCKED;
    void failed(tag request, const net::failure& why) noexcept override HOLDFAST_LOCKED;
    void acknowledged(tag request) noexcept override HOLDFAST_LOCKED;

    [[nodiscard]] const core::hand_off_batch& batch() HOLDFAST_LOCKED;
    void on_vote(core::node_index node, question how,
                 const kinds::vote_answer& answer) HOLDFAST_LOCKED;
    void on_commit(core::node_index node, core::fencing_token token,
                   const kinds::ownership_answer& answer) HOLDFAST_LOCKED;
    /// A grant or a commit, of this token. It counts when the replicas have acknowledged it, where
    /// they have to.
    void gained(core::node_index node, question how, core::fencing_token token) HOLDFAST_LOCKED;
    void count(core::node_index node, question how,
               core::fencing_token token) noexcept HOLDFAST_LOCKED;
    void on_undo(core::node_index node, const kinds::release_answer& answer) HOLDFAST_LOCKED;
    [[nodiscard]] kinds::claim claim_in_line(const net::voter& voter) HOLDFAST_LOCKED;
    [[nodiscard]] std::string_view entry() const HOLDFAST_LOCKED;
    void note(core::node_index node, const net::failure& why) noexcept;
    void deny(core::node_index node, denial why) HOLDFAST_LOCKED;
    void step(const core::acquire::event& happened) noexcept HOLDFAST_LOCKED;
    void carry_out(const core::acquire::actions& next,
                   core::time_point now) noexcept HOLDFAST_LOCKED;
    void ask(core::node_index node, question how, core::fencing_token token,
             core::time_point now) noexcept HOLDFAST_LOCKED;
    void release_on(core::node_set nodes, core::time_point now) noexcept HOLDFAST_LOCKED;
    [[nodiscard]] core::time_point key_gone_at() const;
    [[nodiscard]] const denial* strongest_denial() const;
    [[nodiscard]] std::size_t votes_for(const denial& who) const;
    [[nodiscard]] bool started() const { return machine_.current() != core::acquire::state::idle; }
    [[nodiscard]] core::node_set silent() const;
    [[nodiscard]] net::failure why_silent(core::node_index which) const HOLDFAST_LOCKED;
    [[nodiscard]] bool takes_shortcut() const;

    [[nodiscard]] net::voter& at(core::node_index voter) const HOLDFAST_LOCKED {
        return engine_.voter(voters_.node_of(voter));
    }

    engine& engine_;
    plan_pointer what_;
    electorate voters_;
    manner how_;
    listener* listener_;
    std::string owner_;
    std::optional<kinds::entry> entry_;  // in the queue of the only voter; nullopt: not asked for
    bool in_line_ = false;               // it may stand there already
    std::optional<core::hand_off_batch> batch_;  // from the first request on
    core::acquire machine_;
    std::uint32_t slot_ = 0;  // that the only voter granted
    std::weak_ptr<const hold> lease_;
    std::vector<std::optional<net::failure>> failures_;  // one place per voter, when first needed
    std::vector<std::optional<denial>> denials_;
    bool tracked_;  // every denying node will tell us when the key goes away
};

}  // namespace holdfast::runtime
