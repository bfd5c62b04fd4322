#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/fencing_token.hpp"
#include "core/hand_off.hpp"
#include "core/node_set.hpp"
#include "sim/check/clock_looks.hpp"
#include "sim/check/holders.hpp"
#include "sim/check/kind_watch.hpp"
#include "sim/check/latch_watch.hpp"
#include "sim/check/leader_watch.hpp"
#include "sim/check/line_pace.hpp"
#include "sim/check/line_watch.hpp"
#include "sim/check/rules.hpp"
#include "sim/server/server.hpp"
#include "sim/world/network.hpp"

namespace holdfast::sim {

using owner_id = std::uint32_t;   // an owner token, in the order in which servers saw them; 0: none
using holder_id = std::uint32_t;  // one hold of one caller; 0: none

/// What the checkers see of the servers' keys.
class key_watch {
  public:
    /// How many servers hold the lock, or all of these places, for that owner, and still do at
    /// `until`.
    [[nodiscard]] virtual std::size_t backing(std::string_view owner, places what,
                                              instant until) const = 0;

    /// How many hold the election for that owner, and have noted another leader, or none.
    [[nodiscard]] virtual std::size_t noting_others(const leader_watch::leading& who) const = 0;

  protected:
    ~key_watch() = default;
};

/// The rules, watched in true time by somebody who sees everything. They know nothing of how the
/// client decides: only what callers were told, when, and what happened at the servers.
///
/// Of attempts that came to nothing callers are not told: they are known by what servers were
/// asked. One is taken to be over when its client has no acquisition under way any more, or, where
/// a client has one caller only, when the next one follows it on the same connection.
class checkers {
  public:
    checkers(world& in, const network& on, const key_watch& keys);

    /// A caller was told that it holds.
    struct grant {
        std::uint32_t client = 0;
        std::uint32_t caller = 0;
        std::string_view owner;  // as the servers know it
        core::fencing_token token{};
        instant asked{};  // by the caller
        instant sent{};   // the attempt that won it
        instant at{};
        instant deadline{};
        bool stale = false;      // when it last looked at its clock, the deadline had passed
        core::duration least{};  // that must be left of it when it is handed on
        bool fair = false;       // it wants to be served in the order of the server's queue
        bool reads = false;
        places what = 1;
    };
    holder_id decided(const grant& what);
    void returned(holder_id who, instant at, instant deadline);
    /// One that wrote goes on as a reader. After `expired` nothing is left of what it wrote under.
    holder_id downgraded(holder_id who, std::string_view as, instant at, instant expired);
    /// Told or renewed just now, with so much to believe in.
    void check_quorum(holder_id who, std::string_view named, instant deadline);
    void shown(holder_id who, std::string_view as);
    void renewed(holder_id who, instant at, bool stale, instant deadline);
    void release_called(holder_id who);
    void released(holder_id who);
    /// `by_choice`: a lease that was not meant to be renewed any further.
    void lost(holder_id who, instant at, bool announced_in_time, bool by_choice);

    /// Its owner is wanted no more. After `expired` its keys are gone by themselves; `lapses`:
    /// nobody releases them before.
    void over(holder_id who, instant at, instant expired, bool lapses);
    /// A client has vanished: it believes in nothing any more, and nobody releases what it had.
    void crashed(std::uint32_t client);
    /// A client has no acquisition under way.
    void nobody_asks(std::uint32_t client, instant at);

    // What happens at the servers.
    struct place {
        std::uint32_t server = 0;
        std::uint32_t client = 0;
        std::uint32_t connection = 0;
        instant departed{};      // when the client wrote it
        bool abandoned = false;  // it came over a connection that the client has given up
    };
    /// Where some read, who held the lock at a server is noted before, and who does and who stands
    /// in line is told afterwards.
    struct sequel {
        holders held;
        std::span<const std::string> queue;
    };
    void about_to_run(holders held) { held_before_ = std::move(held); }
    void executed(const place& where, const execution& what, bool for_ever,
                  const sequel* after = nullptr);
    void rolled_back(std::uint32_t server) {
        rolled_back_[server] = world_.now();
        line_.rolled_back();
        pace_.forget();
    }
    void jumped(std::uint32_t server, core::duration by);
    clock_looks& clocks() { return clocks_; }
    line_watch& line() { return line_; }
    line_pace& pace() { return pace_; }
    kind_watch& kinds() { return kinds_; }
    leader_watch& leaders() { return leaders_; }
    latch_watch& latches() { return latches_; }

    /// The server still holds its key although its attempt is over; `link_is_fit`: the client could
    /// have told it, and its connection to the server has been in order.
    void found_at(std::uint32_t server, owner_id who, bool link_is_fit);

    /// The same, of its entry in the queue.
    void found_in_line(std::uint32_t server, owner_id who, bool link_is_fit);

    [[nodiscard]] std::string_view name_of(owner_id who) const { return owners_[who].name; }
    [[nodiscard]] owner_id owner_named(std::string_view text) const;
    [[nodiscard]] std::uint32_t client_of(owner_id who) const { return owners_[who].client; }
    /// Somebody waits under it, as far as the only server can know: it did not come over a
    /// connection that its client had given up, nor did a crash bring it back.
    [[nodiscard]] bool is_wanted(owner_id who) const {
        const auto& record = owners_[who];
        return record.over_at == instant::max() && record.strayed_to.empty() &&
               record.departed > rolled_back_[0];
    }
    [[nodiscard]] instant over_since(owner_id who) const { return owners_[who].over_at; }
    [[nodiscard]] bool order_promised() const { return order_promised_; }

    // The register that a lock without fencing protects.
    [[nodiscard]] std::uint64_t plain_version() const { return plain_version_; }
    void plain_write(holder_id who, std::uint64_t version);
    void plain_read(holder_id who, std::uint64_t version);

    void report(rule broken, std::string what);
    [[nodiscard]] const std::optional<violation>& found() const { return found_; }

    [[nodiscard]] std::uint64_t acquired() const { return holders_.size() - 1; }
    [[nodiscard]] std::uint64_t handed_off() const { return handed_off_; }
    /// How often somebody began to read, or read on, while another did.
    [[nodiscard]] std::uint64_t read_together() const { return read_together_; }
    /// How often somebody came to hold something while another held something else.
    [[nodiscard]] std::uint64_t held_together() const { return held_together_; }
    [[nodiscard]] std::uint64_t downgrades() const { return downgrades_; }
    [[nodiscard]] std::uint64_t attempts() const { return owners_.size() - 1; }
    [[nodiscard]] std::string name_of_holder(holder_id who) const;

  private:
    static constexpr std::uint32_t no_connection = ~std::uint32_t{0};
    struct owner {
        std::string_view name{};
        std::uint32_t client = 0;
        instant departed{};  // of its last request for a vote
        instant first_departed = instant::max();
        instant over_at = instant::max();
        instant expired{};
        bool lapses = false;
        bool orphaned = false;  // its client has crashed
        holder_id held_by = 0;  // the latest
        unsigned holders = 0;   // since the lock came to it
        instant first_sent{};   // the request that the first of them had it by
        instant last_sent{};    // the same, of the last
        holder_id shown_by = 0;
        core::node_set released_at{};
        std::uint32_t miscalled_on = no_connection;  // answered there with an entry that is wrong
        core::node_set strayed_to{};  // its request came in over a connection given up before
    };
    struct holder {
        std::uint32_t client = 0;
        std::uint32_t caller = 0;
        owner_id owner = 0;
        instant started{};
        bool reads = false;
        places what = 1;
    };
    struct lease {
        holder_id who = 0;
        instant deadline{};
    };
    struct success {
        holder_id who = 0;
        instant decided{};
        core::fencing_token token{};
        core::fencing_token largest{};  // of this and all earlier ones
        core::fencing_token written{};  // the same, of those that write
    };

    owner_id know(std::string_view text, std::uint32_t client, instant departed);
    void end_owner(owner_id which, instant at, instant expired, bool lapses);
    void hand_off(holder_id who, const grant& what);
    void follow(holder_id who, owner_id which, const grant& what);
    void check_batch(holder_id who, const grant& what);
    void begin_batches(const lock_change& made);
    void tell(const place& where, const execution& what) const;
    void voted(const place& where, owner_id who);
    void check_entry(const place& where, const execution& what, owner_id who);
    void check_shortcut(const place& where, const execution& what);
    void check_outsider(const place& where);
    void check_floor(const execution& what, owner_id who);
    void check_ownership(const place& where, const execution& what, std::string_view text,
                         const lock_change& made);
    void check_exclusion(holder_id who, instant at, instant deadline);
    void check_permits(holder_id who, instant at);
    void check_order(holder_id who, core::fencing_token token);
    void check_order_of_places(holder_id who, core::fencing_token token);
    [[nodiscard]] bool may_share_token(holder_id one, holder_id other) const {
        return world_.settings().nodes > 1 && holders_[one].reads && holders_[other].reads;
    }
    [[nodiscard]] bool must_be_clean(std::uint32_t server, const owner& record) const;
    [[nodiscard]] std::string name_of_owner(owner_id who) const;
    [[nodiscard]] std::string name_of_text(const std::string* text) const;

    world& world_;
    const network& network_;
    const key_watch& keys_;
    bool exclusion_promised_;
    bool quorum_promised_;
    bool order_promised_;
    struct text_hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };
    std::unordered_map<std::string, owner_id, text_hash, std::equal_to<>> names_;
    std::vector<owner> owners_;
    std::vector<holder> holders_;
    std::vector<lease> leases_;  // returned, not released, deadline not known to have passed
    std::vector<success> successes_;
    std::vector<std::vector<owner_id>> unheld_;  // of each client: seen, not held, not over
    std::set<std::uint32_t> called_on_;          // the connections that have their client's channel
    std::vector<owner_id> last_on_;              // of each connection: who asked last
    holders held_before_;
    std::array<instant, 8> rolled_back_{};
    struct {
        instant nobody_waits{};
        instant denied{};
    } told_[8];  // each client, by the only server, the last time
    clock_looks clocks_;
    line_watch line_;
    line_pace pace_;
    kind_watch kinds_;
    leader_watch leaders_;
    latch_watch latches_;
    std::uint64_t handed_off_ = 0;
    std::uint64_t read_together_ = 0;
    std::uint64_t held_together_ = 0;
    std::uint64_t downgrades_ = 0;
    std::uint64_t plain_version_ = 0;
    std::optional<violation> found_;
};

}  // namespace holdfast::sim
