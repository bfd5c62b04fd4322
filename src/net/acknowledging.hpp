#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "base/locks.hpp"
#include "holdfast/replicas.hpp"
#include "net/acknowledgement.hpp"
#include "net/connection.hpp"

namespace holdfast::net {

/// How many replicas have to acknowledge what counts at the master of a group of so many servers.
/// Not said by anybody: a majority where the size of the group is known, none where it is not.
/// nullopt: it depends on the size, and that is not known.
std::optional<std::size_t> acks_needed(const std::optional<replicas>& wanted, std::size_t members);

/// Why nothing counts there then.
failure unknown_group() noexcept;

/// Has the replicas of one server acknowledge what it granted, on a connection of its own, beside
/// the one that the grants came by: WAIT lets nothing else pass.
///
/// What it is for. A fail-over leaves an old master behind that does not know of it. With clients
/// that are cut off along with it, or as long as some replicas still follow it, it goes on giving
/// locks away, while the new one does, too. So a grant, a renewal or a raised counter counts only
/// when so many replicas know it that they and the master are a majority of the group, and so does
/// the note of a new master's life with which its quarantine begins (net::handshake). Then:
///
/// - Two majorities of one group share a server: one has the grant of the old master, and the note
///   of the new one's life. A third server followed the old master first, left it, and does not go
///   back (that is assumed). The new master followed it until it was promoted. The old master
///   itself follows the new one when it is none any more, and then the life is over that its
///   clients look for behind each WAIT. In every case the grant was acknowledged, and still earlier
///   asked for, before the note was; and whatever the old master grants after that is never
///   acknowledged.
/// - The quarantine begins after that, and outlasts every lease that was asked for before. When it
///   is over the old master has no lease left that counts, and can give none that will.
/// - A lease that the new master knows can be renewed there during the quarantine: the renewal
///   counts when a majority knows it, before the lease is over, and the key that kept others out at
///   the old master stood until then. From then on nobody gets a majority there.
///
/// What is confirmed. WAIT counts the replicas that have carried out the last write of its own
/// connection, and so all that the server did before that write. A grant that was received before
/// the write was sent had been carried out before. It may have been given in another life than that
/// of the write, which has forgotten it: therefore the life is read again behind WAIT, and compared
/// with the one that the connection of the grants was judged by. Between two looks at one life lies
/// nothing else: each promotion brings a replication id that was never there before. Both
/// connections show the same run_id, or neither is used; and they live and die together, so that
/// nothing of an earlier pair is ever confirmed by a later one.
///
/// In a Cluster the key that is written must be one that the server serves: that of another slot is
/// tried where the slot of the last one has moved, or is on its way.
///
/// Group commit: one round (write, WAIT, life, in one write to the socket) confirms all that was
/// received before it began; what comes while it is under way is confirmed by the next. A round
/// ends in time: WAIT has a time-out, and the request a deadline. So each request is answered
/// after two of these at most, without a timer of its own; after one more when a replica that is
/// not of the group has begun to follow, and was the first to answer.
///
///   state       meaning                                    request()
///   closed      not connected, or no longer                must not be called
///   opening     the handshake of its connection            the same
///   ready       no round is under way                      waits for flush(), which begins one
///   waiting     a round is under way                       waits for its end, and the next
///
/// Everything is called with the client's lock held.
class acknowledging final : private connection::owner {
  public:
    struct waiting {
        boost::intrusive_ptr<exchange> who;
        exchange::tag request;
        std::optional<core::replication> group;  // nullopt: what need() says when it ends
    };

    class listener {
      public:
        virtual void on_second_ready() HOLDFAST_LOCKED = 0;
        virtual void on_second_down(const failure& why) noexcept HOLDFAST_LOCKED = 0;
        /// The server lives another life than its grants were given in, as of life().
        virtual void on_another_life(const failure& why) noexcept HOLDFAST_LOCKED = 0;
        /// Its replicas have not acknowledged what was asked for, in the same life.
        virtual void on_unacknowledged() noexcept HOLDFAST_LOCKED = 0;
        /// The life that the connection of the grants is judged by.
        [[nodiscard]] virtual const core::server_facts& life() const HOLDFAST_LOCKED = 0;
        /// What the next round is to write: a key that the server serves. `another`: the last one
        /// was redirected.
        [[nodiscard]] virtual acknowledgement::place place_to_write(bool another)
            HOLDFAST_LOCKED = 0;
        /// From now on only the environment can tell what becomes of it.
        virtual void on_second_blocked() HOLDFAST_LOCKED = 0;

      protected:
        ~listener() = default;
    };

    acknowledging(network& through, base::client_mutex& guard, listener& whom)
        : network_(through), guard_(guard), listener_(whom) {}

    /// REQUIRES: closed. `how`: as the connection of the grants was made.
    void open(connection::settings how, clock::duration answer_within,
              clock::time_point now) HOLDFAST_LOCKED;
    /// Its connection, and all that waits for it: to be failed when nobody can mistake it for the
    /// next one any more.
    struct remains {
        connection* last = nullptr;
        std::vector<waiting> left{};
    };
    [[nodiscard]] remains close() noexcept HOLDFAST_LOCKED;
    static void fail(remains of, const failure& why) noexcept HOLDFAST_LOCKED;
    void abandon() noexcept;

    [[nodiscard]] bool is_open() const HOLDFAST_LOCKED { return connection_ != nullptr; }
    [[nodiscard]] bool ready() const HOLDFAST_LOCKED { return is_open() && connection_->ready(); }
    /// The group is another one from now on, and more of it have to acknowledge what counts.
    void need(const core::replication& group) HOLDFAST_LOCKED {
        terms_.needed = group.acks;
        terms_.members = group.members;
        terms_.strangers = 0;
    }
    /// What the server said on this connection. REQUIRES: ready.
    [[nodiscard]] const core::server_facts& facts() const HOLDFAST_LOCKED { return facts_; }

    /// `who` has received what it asked for: exactly one of acknowledged() and failed() follows.
    /// `group`: how many have to know it, where that is not the same for all. REQUIRES: ready.
    /// Throws std::bad_alloc, and then nothing follows.
    void request(boost::intrusive_ptr<exchange> who, exchange::tag request,
                 std::optional<core::replication> group) HOLDFAST_LOCKED;

    /// Begins a round, if one can be, and writes it.
    void flush() noexcept HOLDFAST_LOCKED;

    void notice_hang_up(clock::time_point now) HOLDFAST_LOCKED;
    void expire(clock::time_point now) noexcept HOLDFAST_LOCKED;
    [[nodiscard]] clock::time_point wake_at() const HOLDFAST_LOCKED;

    /// As of connection. REQUIRES: is_open().
    [[nodiscard]] int descriptor() const HOLDFAST_LOCKED { return connection_->descriptor(); }
    void take_in() noexcept HOLDFAST_LOCKED { connection_->take_in(); }
    void watch() HOLDFAST_LOCKED { connection_->watch(); }

  private:
    class round;

    void on_ready(const greeting& said) override HOLDFAST_LOCKED;
    void on_down(const failure& why) noexcept override HOLDFAST_LOCKED;
    void on_push(resp::view) override HOLDFAST_LOCKED {}
    [[nodiscard]] std::optional<failure> why_not_again(const exchange&,
                                                       exchange::tag) override HOLDFAST_LOCKED {
        return std::nullopt;
    }
    void on_blocked() override HOLDFAST_LOCKED { listener_.on_second_blocked(); }

    void begin_round() HOLDFAST_LOCKED;
    [[nodiscard]] bool write_elsewhere(std::vector<waiting>& whom) noexcept HOLDFAST_LOCKED;
    static void fail_all(const std::vector<waiting>& whom,
                         const failure& why) noexcept HOLDFAST_LOCKED;

    network& network_;
    base::client_mutex& guard_;
    listener& listener_;
    std::unique_ptr<connection> connection_;
    std::unique_ptr<connection> retired_;  // and those before it, until nobody is inside them
    acknowledgement::terms terms_;
    clock::duration answer_within_{};
    core::server_facts facts_;
    std::vector<waiting> waiting_;  // for the next round
    const round* under_way_ = nullptr;
    unsigned redirected_ = 0;  // rounds, one after the other
};

}  // namespace holdfast::net
