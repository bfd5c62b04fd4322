#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/locks.hpp"
#include "core/backoff.hpp"
#include "core/judge.hpp"
#include "net/acknowledging.hpp"
#include "net/connection.hpp"
#include "net/resolver.hpp"
#include "net/voter.hpp"

namespace holdfast::net {

/// One server that votes: makes its connection, makes it again, and knows what it is worth.
///
///   state        meaning                               a request that comes
///   idle         never used                            connects, and waits
///   connecting   the first try, or a patient one       waits, until its own deadline
///   probing      trying again after a failure          fails at once: callers do not probe
///   ready        connected and judged                  is sent; votes only where judged fit, and
///                                                      while no earlier answer is overdue. One
///                                                      that is unfit, or would not be enlisted,
///                                                      is looked at again for them
///   out          failed, waiting to try again          fails at once; a patient node tries now
///
/// To connect is to ask the resolver where the server is, and then to open a connection, together
/// within connect_timeout. Where replicas have to acknowledge what counts, that is two connections,
/// which live and die together: ready means that both are, and show the same life. Where the
/// resolver says that the server is elsewhere now, whatever is there still is left at once. Patient
/// is the node of a client that has no other: there is nobody else to ask. Everything is called
/// with the client's lock held.
class node final : public voter,
                   private connection::owner,
                   private resolver::asker,
                   private acknowledging::listener {
  public:
    class listener {
      public:
        virtual void on_ready(node& which) HOLDFAST_LOCKED = 0;
        /// What was asked while it was not ready has been sent.
        virtual void on_caught_up(node& which) HOLDFAST_LOCKED = 0;
        virtual void on_down(node& which, const failure& why) noexcept HOLDFAST_LOCKED = 0;
        virtual void on_push(node& which, resp::view message) HOLDFAST_LOCKED = 0;
        /// Too few of its replicas have acknowledged something.
        virtual void on_unacknowledged(node&) noexcept HOLDFAST_LOCKED {}

        /// What has to be driven for it has changed.
        virtual void on_change(node& which) noexcept HOLDFAST_LOCKED = 0;
        /// A key in a slot that the server serves, or in another than last. REQUIRES: it is a
        /// server of a Cluster.
        [[nodiscard]] virtual acknowledgement::place place_at(
            [[maybe_unused]] node& which, [[maybe_unused]] bool another) HOLDFAST_LOCKED {
            return {};
        }
        virtual std::uint64_t chance() noexcept HOLDFAST_LOCKED = 0;

      protected:
        ~listener() = default;
    };

    struct settings {
        std::size_t index = 0;
        connection::settings link;
        bool patient = true;
        std::shared_ptr<resolver> resolves{};    // null: link.where is the address for ever
        std::optional<replicas> replica_acks{};  // as of acks_needed()
        bool acknowledges_slots = false;         // of a Cluster: each slot knows how many
        clock::duration answer_within{};         // of one that asks the replicas
        bool prepared = false;                   // link.shows is as of network::prepare()
    };

    /// Throws as network::prepare() does, which is not asked where `how` brings the credentials of
    /// a neighbour.
    node(network& through, base::client_mutex& guard, settings how, listener& whom);
    ~node();

    /// What cannot be sent has failed.
    void send(boost::intrusive_ptr<exchange> who, exchange::tag request, clock::time_point deadline,
              clock::time_point now) noexcept override HOLDFAST_LOCKED;
    void flush() noexcept HOLDFAST_LOCKED;

    [[nodiscard]] bool acknowledges() const override HOLDFAST_LOCKED {
        return settings_.link.group.acks > 0;
    }
    void acknowledge(boost::intrusive_ptr<exchange> who,
                     exchange::tag request) override HOLDFAST_LOCKED {
        acknowledge(std::move(who), request, std::nullopt);
    }
    /// `group`: of a slot. REQUIRES: it acknowledges slots, or acknowledges().
    void acknowledge(boost::intrusive_ptr<exchange> who, exchange::tag request,
                     std::optional<core::replication> group) HOLDFAST_LOCKED;
    /// The group as it was when it was last connected to.
    [[nodiscard]] const core::replication& group() const HOLDFAST_LOCKED {
        return settings_.link.group;
    }

    /// What its connections load: the one that is there now, all later ones in their handshake. It
    /// begins with what was given before. Where that cannot be sent, requests find out (NOSCRIPT).
    void load(std::span<const scripts::script* const> which) noexcept HOLDFAST_LOCKED;

    /// Connects, if it was never used.
    void call(clock::time_point now) HOLDFAST_LOCKED {
        if (state_ == state::idle) connect(now, state::connecting);
    }

    /// Connects, reconnects, and reports what is overdue. Call it at wake_at().
    void expire(clock::time_point now) noexcept HOLDFAST_LOCKED;
    [[nodiscard]] clock::time_point wake_at() const HOLDFAST_LOCKED;

    /// Calls `add(descriptor)` for all that something can arrive by: the connections to its server,
    /// and its resolver's. False: some of it has no descriptor, as of connection.
    template <typename Add>
    [[nodiscard]] bool list_sources(Add&& add) const HOLDFAST_LOCKED {
        const auto& book = *settings_.resolves;
        const bool two = replicas_ && replicas_->is_open();
        const int own = connection_ ? connection_->descriptor() : 0;
        const int second = two ? replicas_->descriptor() : 0;
        const int others = book.silent() ? 0 : book.descriptor();
        if (own == -1 || second == -1 || others == -1) return false;
        if (connection_) add(own);
        if (two) add(second);
        if (!book.silent()) add(others);
        return true;
    }
    /// Meanwhile the descriptor may be another connection's, or nobody's.
    void take_in(int descriptor) noexcept HOLDFAST_LOCKED;
    void watch() HOLDFAST_LOCKED;

    [[nodiscard]] std::size_t index() const { return settings_.index; }
    /// As of endpoint; of a master that Sentinels name, `mymaster at 127.0.0.1:6379`.
    [[nodiscard]] std::string name() const override HOLDFAST_LOCKED;
    [[nodiscard]] const endpoint& where() const HOLDFAST_LOCKED { return settings_.link.where; }
    [[nodiscard]] const std::shared_ptr<credentials>& shows() const { return settings_.link.shows; }
    /// Where it was found last, and how many belong to its group.
    [[nodiscard]] const net::location& location() const HOLDFAST_LOCKED { return location_; }
    /// It may be told that its server is elsewhere.
    [[nodiscard]] bool follows() const { return settings_.resolves->names_masters(); }
    [[nodiscard]] bool tls() const HOLDFAST_LOCKED { return settings_.link.where.tls; }
    [[nodiscard]] bool ready() const override HOLDFAST_LOCKED { return state_ == state::ready; }
    [[nodiscard]] bool was_tried() const override HOLDFAST_LOCKED { return tried_; }
    [[nodiscard]] bool opening() const HOLDFAST_LOCKED {
        return state_ == state::connecting || state_ == state::probing;
    }
    /// It has to be driven although nobody may be waiting.
    [[nodiscard]] bool busy() const HOLDFAST_LOCKED {
        return opening() || settings_.resolves->busy();
    }
    [[nodiscard]] bool stalled() const override HOLDFAST_LOCKED { return connection_->stalled(); }
    [[nodiscard]] bool has_unsent() const HOLDFAST_LOCKED {
        return ready() && connection_->has_unsent();
    }

    /// Requests that were sent before those still unsent, and will be answered.
    [[nodiscard]] bool answers_on_their_way() const HOLDFAST_LOCKED {
        return ready() && connection_->answers_on_their_way();
    }
    [[nodiscard]] const failure& last_failure() const override HOLDFAST_LOCKED {
        return last_failure_;
    }
    [[nodiscard]] bool tracking() const override HOLDFAST_LOCKED { return said_.tracking; }
    [[nodiscard]] bool subscribed() const override HOLDFAST_LOCKED { return said_.subscribed; }
    [[nodiscard]] const greeting& said() const HOLDFAST_LOCKED { return said_; }
    [[nodiscard]] const core::server_facts& facts() const HOLDFAST_LOCKED { return facts_; }
    [[nodiscard]] core::judge& judge() override HOLDFAST_LOCKED { return judge_; }

    /// What it says of itself has changed, in the same life.
    void learned(core::server_facts facts) HOLDFAST_LOCKED { facts_ = std::move(facts); }

    /// Enlisted, in the handshake or again.
    void enlisted(const core::enlistment& found, clock::time_point now) HOLDFAST_LOCKED {
        said_.enlisted = found;
        judge_.enlisted(found, now);
        time_ = found.time;
        told_time_at_ = now;
    }

    [[nodiscard]] std::uint64_t time_at(clock::time_point now) const override HOLDFAST_LOCKED;

    /// Why its votes cannot be asked for where other clients agreed on another max_ttl, or on
    /// another size of the group.
    [[nodiscard]] failure disagreement(const core::enlistment& found) const HOLDFAST_LOCKED {
        return disagreement(found, settings_.link.group);
    }
    [[nodiscard]] failure disagreement(const core::enlistment& found,
                                       const core::replication& group) const HOLDFAST_LOCKED;
    [[nodiscard]] failure disagreement() const override HOLDFAST_LOCKED {
        return disagreement(*said_.enlisted);
    }

    /// From now on connecting vouches for the server: what it has in place of a record does not
    /// keep the operator out who comes to replace it. Begins anew, if that has failed so far.
    /// `life`: for no other than this; empty: for whichever it lives.
    void vouch(std::string life, clock::time_point now) HOLDFAST_LOCKED;
    void stop_vouching() noexcept HOLDFAST_LOCKED;

    /// What it says of itself does not fit what was known: the connection is made anew.
    void start_over(const failure& why) HOLDFAST_LOCKED { connection_->hang_up(why); }

    /// Nobody needs it at present: its connection is closed, and made again when somebody asks.
    /// Not while it owes answers, or somebody waits for it.
    void rest() noexcept HOLDFAST_LOCKED;

    /// Refuses votes for a reason that this node cannot know by itself; nullopt lets it vote again.
    void bar(std::optional<failure> why) HOLDFAST_LOCKED { barred_ = std::move(why); }

    /// Fails whatever waits or is under way, and connects no more.
    void close(const failure& why) noexcept HOLDFAST_LOCKED;

    void abandon() noexcept;

  private:
    enum class state : std::uint8_t { idle, connecting, probing, ready, out, closed };

    struct waiting {
        boost::intrusive_ptr<exchange> who;
        exchange::tag request;
        clock::time_point deadline;
    };

    void on_ready(const greeting& said) override HOLDFAST_LOCKED;
    void on_down(const failure& why) noexcept override HOLDFAST_LOCKED;
    void on_push(resp::view message) override HOLDFAST_LOCKED;
    [[nodiscard]] std::optional<failure> why_not_again(
        const exchange& who, exchange::tag request) override HOLDFAST_LOCKED {
        return why_no_vote(who, request, network_.now());
    }
    void on_blocked() override HOLDFAST_LOCKED { listener_.on_change(*this); }
    void on_found(const net::location& found) noexcept override HOLDFAST_LOCKED;
    void on_not_found(const failure& why) noexcept override HOLDFAST_LOCKED;
    void on_moved(const net::location& found) noexcept override HOLDFAST_LOCKED;
    void on_change() noexcept override HOLDFAST_LOCKED { listener_.on_change(*this); }
    std::uint64_t chance() noexcept override HOLDFAST_LOCKED { return listener_.chance(); }
    void on_second_ready() override HOLDFAST_LOCKED;
    void on_second_down(const failure& why) noexcept override HOLDFAST_LOCKED;
    void on_another_life(const failure& why) noexcept override HOLDFAST_LOCKED;
    void on_unacknowledged() noexcept override HOLDFAST_LOCKED {
        settings_.resolves->suspect();
        listener_.on_unacknowledged(*this);
    }
    [[nodiscard]] const core::server_facts& life() const override HOLDFAST_LOCKED { return facts_; }
    [[nodiscard]] acknowledgement::place place_to_write(bool another) override HOLDFAST_LOCKED {
        if (settings_.link.clustered) return listener_.place_at(*this, another);
        return settings_.link.acks.at;
    }
    void on_second_blocked() override HOLDFAST_LOCKED { listener_.on_change(*this); }

    /// Its server is reached by two connections.
    [[nodiscard]] bool paired() const HOLDFAST_LOCKED {
        return acknowledges() || settings_.acknowledges_slots;
    }
    void regrouped(std::size_t members) noexcept HOLDFAST_LOCKED;
    void raise_acks(core::replication group) noexcept HOLDFAST_LOCKED;
    void connect(clock::time_point now, state as) noexcept HOLDFAST_LOCKED;
    void open(const endpoint& where) HOLDFAST_LOCKED;
    void begin() HOLDFAST_LOCKED;
    void load_rest(clock::time_point now) noexcept HOLDFAST_LOCKED;
    void accept(waiting& request, clock::time_point now) HOLDFAST_LOCKED;
    void transmit(waiting& request, clock::time_point now) HOLDFAST_LOCKED;
    static void fail_all(const std::vector<waiting>& whom,
                         const failure& why) noexcept HOLDFAST_LOCKED;
    [[nodiscard]] acknowledging::remains stop_acknowledging() noexcept HOLDFAST_LOCKED {
        return replicas_ ? replicas_->close() : acknowledging::remains{};
    }
    void expire_waiting(clock::time_point now) noexcept HOLDFAST_LOCKED;
    void retire(std::unique_ptr<connection> last) noexcept HOLDFAST_LOCKED;
    void stop_resolving() noexcept HOLDFAST_LOCKED;
    [[nodiscard]] clock::time_point resolved_by() const HOLDFAST_LOCKED {
        return connecting_since_ + settings_.link.connect_timeout;
    }
    void notice_hang_up(clock::time_point now) HOLDFAST_LOCKED;
    /// Why whatever answered is not the master that was meant.
    [[nodiscard]] std::optional<failure> why_no_master(const greeting& said) const HOLDFAST_LOCKED;
    [[nodiscard]] bool must_wait(clock::time_point now) HOLDFAST_LOCKED;
    void look_again_if_unfit(const waiting& asked, clock::time_point now) HOLDFAST_LOCKED;
    /// Why a request must not be sent, if it asks for a vote.
    [[nodiscard]] std::optional<failure> why_no_vote(const exchange& who, exchange::tag request,
                                                     clock::time_point now) const HOLDFAST_LOCKED;
    [[nodiscard]] failure why_unfit() const HOLDFAST_LOCKED;

    network& network_;
    base::client_mutex& guard_;
    settings settings_;
    endpoint given_;  // settings_.link.where, until it is found
    listener& listener_;

    state state_ = state::idle;
    bool tried_ = false;
    bool resolving_ = false;
    bool located_ = false;
    net::location location_;
    clock::time_point connecting_since_{};
    std::unique_ptr<connection> connection_;
    std::unique_ptr<connection> retired_;      // and those before it, until nobody is inside them
    std::unique_ptr<acknowledging> replicas_;  // made when first needed
    std::size_t loaded_ = 0;                   // of its scripts, by this connection
    std::vector<waiting> waiting_;
    core::backoff delay_;
    clock::time_point retry_at_{};
    failure last_failure_;

    greeting said_;
    core::server_facts facts_;
    std::size_t agreed_on_ = 0;  // how many servers its clients agreed on, when it was enlisted
    clock::time_point assessed_at_{};
    std::uint64_t time_ = 0;  // by its clock, when it was enlisted
    clock::time_point told_time_at_{};
    core::judge judge_;
    std::optional<failure> barred_;
};

}  // namespace holdfast::net
