#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/hash_slot.hpp"
#include "net/node.hpp"
#include "net/redirect.hpp"
#include "net/slot_map.hpp"

namespace holdfast::net {

/// One slot of a Cluster, as the voter on its keys: enlists it at the server that serves it, and
/// follows it when it moves. Its server is a node, which many slots share.
///
///   state       meaning                                        a request that comes
///   away        not enlisted on the server's connection        is enlisted for, and waits
///   seeking     nobody knows who serves it: the map is asked   waits
///   enlisting   the record of the slot is being compared       waits
///   moving      the slot is being moved, its record is on the  is sent; a vote is denied, for a
///               way: it cannot be enlisted                     moment
///   ready       enlisted                                       is sent; votes only where judged
///   fit
///
/// It is enlisted anew for every connection of its server, for every server, and when the record
/// changed: the server tells us of that (tracking), and so of a slot that went away and came back.
/// An answer to a vote that was asked for before that does not count. Before it is enlisted, the
/// channel of the slot is subscribed to, so that whoever waits there can be called (SSUBSCRIBE, of
/// Redis 7; SUBSCRIBE where that is not known; where it is not allowed, who waits looks now and
/// then).
///
/// - MOVED: the slot is placed at the server that is named, enlisted there, and the request
///   repeated, within its deadline.
/// - ASK: repeated there behind ASKING, unless it asks for a vote: to enlist a slot that has not
///   arrived would keep its record from arriving.
/// - TRYAGAIN: repeated with the lock key alone, where that makes sense, and at the slot's own
///   server, whoever said it: that one knows where the lock is (ASK), and the server that the slot
///   is moved to would take one that has not arrived for one that is gone. Otherwise, and for
///   votes, the slot is being moved: that is contention, and no outage (failure::moving).
/// - CLUSTERDOWN: an outage.
///
/// Where replicas have to acknowledge what counts, those of the server that has answered are asked,
/// on its second connection (see acknowledging), and so are they for the record before a quarantine
/// begins. What the server answered that the slot is being moved to (ASK) counts only if the slot's
/// own one is still followed by a majority of its shard, too: whoever took its place does not know
/// of the move, and waits for no longer than its quarantine. How many are asked, follows from the
/// size of the shard: what the record says, unless the map names more, which is refused until
/// somebody vouches for it. A record of fewer than the map may know of is never made: see
/// shard_size.
///
/// Everything is called with the client's lock held.
class slot final : public voter {
  public:
    /// Who knows the servers of the Cluster.
    class directory {
      public:
        [[nodiscard]] virtual clock::time_point present() const noexcept = 0;
        /// Null: not known. Then placed() or not_placed() follows.
        [[nodiscard]] virtual node* server_of(slot& which) HOLDFAST_LOCKED = 0;
        /// The server that it is being moved to, as the one says that it is moved from.
        [[nodiscard]] virtual node& target_of(slot& which, const redirection& where,
                                              const node& by) HOLDFAST_LOCKED = 0;
        /// How many servers there are in its shard.
        [[nodiscard]] virtual shard_size size_around(const node& which) HOLDFAST_LOCKED = 0;
        /// A server says that another one serves the slot.
        virtual void moved(slot& which, const redirection& where,
                           const node& by) HOLDFAST_LOCKED = 0;
        /// A server did not answer, or not as it should: what is known may be out of date.
        virtual void unsettled() noexcept HOLDFAST_LOCKED = 0;
        /// Something waits in it: expire() it, at wake_at().
        virtual void on_waiting(slot& which) HOLDFAST_LOCKED = 0;
        virtual void on_ready(slot& which) HOLDFAST_LOCKED = 0;
        /// What was asked while it was not ready has been sent.
        virtual void on_caught_up(slot& which) HOLDFAST_LOCKED = 0;
        /// Requests were appended, perhaps to another server than the one that is being read from.
        virtual void on_appended() noexcept HOLDFAST_LOCKED = 0;

      protected:
        ~directory() = default;
    };

    struct settings {
        core::judge_policy policy;
        purpose what_for = purpose::lock;
        std::string channel{};             // of the client; empty: it need not be called
        clock::duration first_contact{};   // how long enlisting may take, connecting included
        replicas acks = replicas::none();  // that have to know what counts
    };

    slot(std::uint16_t number, const settings& how, directory& among);

    void send(boost::intrusive_ptr<exchange> who, exchange::tag request, clock::time_point deadline,
              clock::time_point now) noexcept override HOLDFAST_LOCKED;

    /// Enlists it, if it is not.
    void call(clock::time_point now) noexcept HOLDFAST_LOCKED;

    void placed(clock::time_point now) noexcept HOLDFAST_LOCKED;
    void not_placed(const failure& why) noexcept HOLDFAST_LOCKED;

    /// Its server's connection is down.
    void on_down(const failure& why) noexcept HOLDFAST_LOCKED;
    /// Its server says that the record changed, or is gone.
    void on_record_changed() noexcept HOLDFAST_LOCKED;
    /// Its server says that it does not pass on what is published in the slot any more: it moved.
    void on_unsubscribed(clock::time_point now) noexcept HOLDFAST_LOCKED;
    /// The map has changed: it may be at another server now.
    void look_where() noexcept HOLDFAST_LOCKED;

    /// What waits here for too long has failed.
    void expire(clock::time_point now) noexcept HOLDFAST_LOCKED;
    [[nodiscard]] clock::time_point wake_at() const HOLDFAST_LOCKED;
    /// Fails what waits here.
    void close(const failure& why) noexcept HOLDFAST_LOCKED { fail_waiting(why); }

    [[nodiscard]] std::uint16_t number() const { return number_; }
    [[nodiscard]] const std::string& record_key() const { return record_; }
    /// Where it was last enlisted, or is to be; null: it was never placed.
    [[nodiscard]] node* server() const HOLDFAST_LOCKED { return server_; }

    [[nodiscard]] std::string name() const override HOLDFAST_LOCKED;
    [[nodiscard]] bool ready() const override HOLDFAST_LOCKED { return state_ == state::ready; }
    [[nodiscard]] bool was_tried() const override HOLDFAST_LOCKED { return tried_; }
    [[nodiscard]] bool stalled() const override HOLDFAST_LOCKED { return server_->stalled(); }
    [[nodiscard]] const failure& last_failure() const override HOLDFAST_LOCKED {
        return last_failure_;
    }
    [[nodiscard]] bool tracking() const override HOLDFAST_LOCKED {
        return ready() && server_->tracking();
    }
    [[nodiscard]] bool subscribed() const override HOLDFAST_LOCKED {
        return ready() && subscribed_;
    }
    /// By which servers call this client when a lock of this slot is granted to it: a channel that
    /// is in the slot, too; or one that is in none, and is heard of in the whole Cluster, where
    /// servers know no other. Scripts tell them apart by the hash tag.
    [[nodiscard]] const std::string& channel() const HOLDFAST_LOCKED {
        return sharded_ ? channel_ : plain_channel_;
    }
    /// How many servers its shard has, and how many of them have to know what counts.
    [[nodiscard]] const core::replication& group() const HOLDFAST_LOCKED { return group_; }
    [[nodiscard]] bool acknowledges() const override HOLDFAST_LOCKED {
        const auto group = group_of_answer();
        return group_.acks > 0 || !group || group->acks > 0;
    }
    void acknowledge(boost::intrusive_ptr<exchange> who,
                     exchange::tag request) override HOLDFAST_LOCKED;
    [[nodiscard]] core::judge& judge() override HOLDFAST_LOCKED { return judge_; }
    [[nodiscard]] std::uint64_t time_at(clock::time_point now) const override HOLDFAST_LOCKED;
    [[nodiscard]] failure disagreement() const override HOLDFAST_LOCKED;

  private:
    enum class state : std::uint8_t { away, seeking, enlisting, moving, ready };
    class routed;
    class enlisting_request;
    class subscription;
    class joint;

    struct waiting {
        boost::intrusive_ptr<exchange> who;
        exchange::tag request;
        clock::time_point deadline;
        unsigned hops = 0;
    };

    void accept(waiting& asked, clock::time_point now) HOLDFAST_LOCKED;
    void wait(waiting& asked) HOLDFAST_LOCKED;
    void transmit(waiting& asked, clock::time_point now) HOLDFAST_LOCKED;
    void begin(clock::time_point now) HOLDFAST_LOCKED;
    void enlist(clock::time_point now) HOLDFAST_LOCKED;
    /// Who has to know what has been answered just now; nullopt: a part of a shard whose size is
    /// not known.
    [[nodiscard]] std::optional<core::replication> group_of_answer() const HOLDFAST_LOCKED;
    /// Whether it has to be enlisted as of another size of the shard.
    [[nodiscard]] bool adopt_group(const core::enlistment& found) HOLDFAST_LOCKED;
    void look_again_if_kept_out(const waiting& asked, clock::time_point now) HOLDFAST_LOCKED;
    void assess(clock::time_point now) HOLDFAST_LOCKED;
    void on_nothing_to_enlist() HOLDFAST_LOCKED;
    void on_enlisted(std::variant<core::enlistment, failure> found) HOLDFAST_LOCKED;
    /// Its clients agreed on another max_ttl, or on another size of the shard.
    [[nodiscard]] bool disagrees() const HOLDFAST_LOCKED {
        return judge_.reason() == core::judge::flaw::other_max_ttl ||
               judge_.reason() == core::judge::flaw::other_group;
    }
    void on_not_enlisted(const failure& why) noexcept HOLDFAST_LOCKED;
    void on_redirected(const redirection& where, const node& by) HOLDFAST_LOCKED;
    void begin_moving(clock::time_point now) HOLDFAST_LOCKED;
    void become_ready(clock::time_point now) HOLDFAST_LOCKED;
    /// Its server knows no channels of a slot.
    void do_without_shards() noexcept HOLDFAST_LOCKED;
    /// Before anything more is asked of it, it has to be enlisted again.
    void forget() noexcept HOLDFAST_LOCKED;
    void begin_again() noexcept HOLDFAST_LOCKED;
    void fail_waiting(const failure& why) noexcept HOLDFAST_LOCKED;
    void send_waiting(clock::time_point now) HOLDFAST_LOCKED;
    [[nodiscard]] std::optional<failure> why_no_vote(const waiting& asked,
                                                     clock::time_point now) const HOLDFAST_LOCKED;

    const std::uint16_t number_;
    const std::string record_;
    const std::string channel_;
    const std::string plain_channel_;
    const settings settings_;
    directory& directory_;

    state state_ = state::away;
    bool tried_ = false;
    node* server_ = nullptr;
    node* answering_ = nullptr;  // whose answer is being read
    core::replication group_;
    std::size_t named_ = 0;         // servers of the shard, by the map
    std::uint64_t generation_ = 0;  // of what was enlisted: answers of an earlier one do not count
    unsigned hops_ = 0;  // since it was last ready, or failed to be: servers that named another one
    clock::time_point moving_until_{};
    std::vector<waiting> waiting_;
    failure last_failure_;

    core::judge judge_;
    bool sharded_ = true;      // its channel is in the slot
    bool subscribed_ = false;  // to the channel, at the server where it is enlisted
    bool assessed_ = false;    // since its server was connected
    std::optional<core::enlistment> enlisted_;
    std::optional<failure> not_enlisted_;  // why the ACL keeps that from us
    clock::time_point enlisted_at_{};
};

}  // namespace holdfast::net
