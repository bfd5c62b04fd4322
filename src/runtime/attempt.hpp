#pragma once

#include <array>
#include <optional>
#include <string>

#include "core/acquire.hpp"
#include "core/contend.hpp"
#include "core/estate.hpp"
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
        virtual void decided(const attempt& what, core::time_point now) = 0;

      protected:
        ~listener() = default;
    };

    /// Who denied it. Owner empty: not told.
    struct denial {
        std::string owner;
        core::duration remaining{-1};
        bool quarantine = false;
    };

    struct manner {
        bool listens = false;      // asks denying nodes to tell when the key goes away
        bool inquires = false;     // wants to know who denied it
        std::uint32_t tokens = 1;  // for itself, and for heirs in this process
    };

    attempt(engine& through, plan_pointer what, manner how, listener& whom);

    void start(core::time_point now);

    /// The caller gave up: it is cleaned up, and nobody is told.
    void cancel(core::time_point now);

    /// The lease that it became: while that lasts, a straggler's vote is still wanted.
    void became(std::weak_ptr<const hold> lease) { lease_ = std::move(lease); }

    [[nodiscard]] const core::acquire& machine() const { return machine_; }

    /// The owner token, for the lease. Stragglers are asked under it still; with one node there are
    /// none, and nothing is copied. REQUIRES: held.
    [[nodiscard]] std::string give_owner();

    /// What the first holder has of it. REQUIRES: held.
    [[nodiscard]] core::estate gain() const;

    [[nodiscard]] core::rival rival() const;
    [[nodiscard]] std::optional<denial> denied_by() const;

    /// Why no majority could be reached.
    [[nodiscard]] net::failure why() const;

  private:
    /// A vote is asked for in the cheapest way that the node and the lock allow; where that tells
    /// too little about the holder, the script asks again.
    enum class kind : std::uint8_t { vote, script, commit };

    void encode(tag request, bool by_text, std::string& out) override;
    [[nodiscard]] bool wanted(tag) const override;
    [[nodiscard]] bool asks_for_vote(tag request) const override;
    [[nodiscard]] bool asks_to_be_told(tag request) const override;
    void answered(tag request, std::string_view reply) override;
    void failed(tag request, const net::failure& why) override;

    void on_vote(core::node_index node, kind how, const wire::acquire_answer& answer);
    void on_commit(core::node_index node, core::fencing_token token,
                   const wire::ownership_answer& answer);
    void note(core::node_index node, const net::failure& why);
    void deny(core::node_index node, denial why);
    void step(const core::acquire::event& happened);
    void carry_out(const core::acquire::actions& next, core::time_point now);
    void ask(core::node_index node, kind how, core::fencing_token token, core::time_point now);
    [[nodiscard]] const denial* strongest_denial() const;
    [[nodiscard]] std::size_t votes_for(const denial& who) const;
    [[nodiscard]] core::node_set silent() const;
    [[nodiscard]] bool plain(core::node_index node) const;

    engine& engine_;
    plan_pointer what_;
    manner how_;
    listener* listener_;
    std::string owner_;
    core::acquire machine_;
    std::weak_ptr<const hold> lease_;
    std::vector<std::optional<net::failure>> failures_;  // one place per node, when first needed
    std::vector<std::optional<denial>> denials_;
    bool tracked_;  // every denying node will tell us when the key goes away
};

}  // namespace holdfast::runtime
