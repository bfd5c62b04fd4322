#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/locks.hpp"
#include "core/node_set.hpp"
#include "holdfast/options.hpp"
#include "holdfast/statistics.hpp"
#include "net/node.hpp"
#include "runtime/driving/environment.hpp"
#include "runtime/driving/timer_queue.hpp"
#include "runtime/electorate.hpp"
#include "runtime/endpoints.hpp"
#include "runtime/operations/membership_check.hpp"
#include "runtime/operations/release_retries.hpp"
#include "runtime/owner_token.hpp"
#include "runtime/plan.hpp"
#include "runtime/waiting/wait_queues.hpp"

namespace holdfast::runtime {

class cluster;
class heartbeat;
class hold;
class watching;

/// Where a request went whose tag is nothing but its node, or the voter that this is.
inline core::node_index node_of(net::exchange::tag request) {
    return {static_cast<std::uint16_t>(request)};
}
inline core::node_index voter_of(net::exchange::tag request) { return node_of(request); }

/// What all operations of one client share: its nodes, its timers, its wait queues, its lock.
///
/// What is neither guarded nor const here is made by the constructor, and stays: the driver, and
/// the nodes, whose members say themselves what they need.
class engine final : private driver::machinery,
                     private net::node::listener,
                     public std::enable_shared_from_this<engine> {
  public:
    /// Checks the options; throws as options.hpp says. One that is there to look takes no locks.
    engine(std::shared_ptr<environment> around, options given,
           net::purpose what_for = net::purpose::lock);
    ~engine();

    /// Completes everything under way with errc::closed, loses every lease, and
    /// stops the driver. Releases that nobody waits for are heard out, for a moment.
    void close() noexcept HOLDFAST_UNLOCKED;

    /// Whether this is a forked child, which must not touch anything.
    [[nodiscard]] bool in_child() const noexcept;

    /// Unchecked: it is still held at the end.
    [[nodiscard]] base::client_lock lock() HOLDFAST_UNLOCKED HOLDFAST_UNCHECKED {
        return base::client_lock(guard_);
    }
    [[nodiscard]] core::time_point now() const noexcept { return environment_->now(); }
    [[nodiscard]] bool closed() const HOLDFAST_LOCKED { return stage_ != stage::open; }
    [[nodiscard]] const options& settings() const { return settings_; }

    /// Who votes on a lock: every node, whatever the key; in a Cluster its slot.
    [[nodiscard]] electorate voters_of(std::string_view key) HOLDFAST_LOCKED {
        if (cluster_) return slot_of(key);
        return electorate(core::node_set::first(nodes_.size()));
    }
    /// REQUIRES: one of somebody's voters, or a server.
    [[nodiscard]] net::voter& voter(core::node_index which) HOLDFAST_LOCKED {
        if (which.value < first_node_) return slot_at(which);
        return *nodes_[which.value - first_node_];
    }

    /// For what concerns the client as a whole: connecting, looking after its servers, closing. In
    /// a Cluster there are more of them with time, behind the slots.
    [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }
    [[nodiscard]] core::node_index node_at(std::size_t position) const {
        return {static_cast<std::uint16_t>(first_node_ + position)};
    }
    /// REQUIRES: a server.
    [[nodiscard]] net::node& node(core::node_index which) {
        return *nodes_[which.value - first_node_];
    }
    /// Those that keep locks: all nodes, and in a Cluster its masters, of which it is asked first.
    /// Throws std::system_error where it does not say.
    [[nodiscard]] std::vector<core::node_index> servers(base::client_lock& lock) HOLDFAST_LOCKED;
    /// Null: it is none.
    [[nodiscard]] runtime::cluster* cluster() HOLDFAST_LOCKED { return cluster_.get(); }
    /// The Cluster names one that is new. REQUIRES: a Cluster.
    net::node& add_server(const std::string& host, std::uint16_t port) HOLDFAST_LOCKED;

    /// A copy that names the node.
    [[nodiscard]] net::failure named(core::node_index which,
                                     const net::failure& why) noexcept HOLDFAST_LOCKED {
        return named(voter(which), why);
    }
    [[nodiscard]] static net::failure named(const net::voter& which,
                                            const net::failure& why) noexcept HOLDFAST_LOCKED;

    /// What cannot be sent has failed.
    void send(core::node_index to, boost::intrusive_ptr<net::exchange> who,
              net::exchange::tag request, core::time_point now) noexcept HOLDFAST_LOCKED;

    /// When the first of the requests under way will be overdue.
    [[nodiscard]] core::time_point overdue_at() const HOLDFAST_LOCKED { return wake_at(); }

    /// Lets what was appended go out: now, or with the driver's next write.
    void submit() noexcept HOLDFAST_LOCKED;

    /// REQUIRES: enrolled, as of timer_queue.
    void set(timer& which, core::time_point when) noexcept HOLDFAST_LOCKED;
    void cancel(timer& which) noexcept HOLDFAST_LOCKED { timers_.cancel(which); }
    void enroll_timer() HOLDFAST_LOCKED { timers_.enroll(); }
    void withdraw_timer() noexcept HOLDFAST_LOCKED { timers_.withdraw(); }

    driver& driving() { return *driver_; }
    wait_queues& queues() HOLDFAST_LOCKED { return queues_; }
    release_retries& owed() HOLDFAST_LOCKED { return owed_; }
    runtime::membership_check& membership_check() HOLDFAST_LOCKED { return membership_check_; }
    entropy& chance_source() HOLDFAST_LOCKED { return entropy_; }
    /// For what chance only has to part from others.
    std::uint64_t chance() noexcept override HOLDFAST_LOCKED;
    [[nodiscard]] const std::string& signature() const { return signature_; }
    [[nodiscard]] std::string make_owner(const kinds::kind& of,
                                         std::string_view label) HOLDFAST_LOCKED {
        note_use(of);
        return make_owner_token(entropy_, of.owner_start(), channel_, signature_, label);
    }
    /// Connections load the scripts of the kinds that are used: those that are there now, and every
    /// later one in its handshake.
    void note_use(const kinds::kind& which) noexcept HOLDFAST_LOCKED;
    /// By which servers call this client; empty: no server has to. In a Cluster it is where the
    /// channels of all slots begin.
    [[nodiscard]] const std::string& channel() const { return channel_; }
    [[nodiscard]] const std::string& channel_at(core::node_index voter) const HOLDFAST_LOCKED {
        return cluster_ ? slot_channel(voter) : channel_;
    }
    holdfast::statistics& counters() HOLDFAST_LOCKED { return statistics_; }
    [[nodiscard]] core::local_id next_id() HOLDFAST_LOCKED { return ++last_id_; }

    /// Work that no caller waits for, while it lasts.
    void begin_unattended() HOLDFAST_LOCKED { ++unattended_; }
    void end_unattended() HOLDFAST_LOCKED { --unattended_; }

    /// So that the next enter() cannot fail. Throws std::bad_alloc.
    void reserve_hold() HOLDFAST_LOCKED;
    /// A lease under this owner has no holder here any more, and its key is to stay.
    void detached(const std::string& owner) noexcept HOLDFAST_LOCKED;
    void enter(hold& lease) noexcept HOLDFAST_LOCKED;
    void leave(hold& lease) noexcept HOLDFAST_LOCKED;

    /// Who is told of what changes at the servers. Throws std::bad_alloc.
    void watch(watching& who) HOLDFAST_LOCKED;
    void unwatch(watching& who) noexcept HOLDFAST_LOCKED;
    /// This client has changed a lock, or what stands beside it: servers do not tell it of that.
    void changed_here(std::string_view lock) noexcept HOLDFAST_LOCKED {
        if (!watches_.empty()) tell_of_own_change(lock);
    }

    /// What was asked of it while it was not ready has been sent, or it tells of nothing any more.
    void caught_up(core::node_index voter) HOLDFAST_LOCKED;
    void out_of_reach(core::node_index voter) noexcept HOLDFAST_LOCKED;

    /// Logs it, if the server is in one.
    void tell_of_quarantine(net::voter& which, core::time_point now) HOLDFAST_LOCKED;

    void log(log_level level, std::string_view event, std::string_view message,
             std::string_view key = {}, std::string_view node = {}) const noexcept HOLDFAST_LOCKED;

    /// The same, of a node.
    void log_of(core::node_index node, log_level level, std::string_view event,
                std::string_view message, std::string_view key = {}) noexcept HOLDFAST_LOCKED {
        log_of(voter(node), level, event, message, key);
    }
    void log_of(const net::voter& node, log_level level, std::string_view event,
                std::string_view message, std::string_view key = {}) const noexcept HOLDFAST_LOCKED;

    /// Closes the sockets of a forked child, without a word to the servers.
    void abandon() noexcept;

  private:
    engine(std::shared_ptr<environment> around, resolved what, net::purpose what_for);

    enum class stage : std::uint8_t {
        open,
        closing,  // nothing is acquired any more
        closed,
    };

    void flush() noexcept override HOLDFAST_LOCKED;
    [[nodiscard]] bool list_sources(std::vector<driver::source>& all) override HOLDFAST_LOCKED;
    void take_in(const driver::source& from) noexcept override HOLDFAST_LOCKED;
    void watch_sources() override HOLDFAST_LOCKED;
    void fire(core::time_point now) noexcept override HOLDFAST_LOCKED;
    [[nodiscard]] core::time_point wake_at() const override HOLDFAST_LOCKED;
    [[nodiscard]] bool unattended() const override HOLDFAST_LOCKED;
    [[nodiscard]] bool may_spin() const override { return settings_.spin; }
    [[nodiscard]] std::shared_ptr<void> keep_alive() override { return shared_from_this(); }

    void on_ready(net::node& which) override HOLDFAST_LOCKED;
    void on_caught_up(net::node& which) override HOLDFAST_LOCKED;
    void on_down(net::node& which, const net::failure& why) noexcept override HOLDFAST_LOCKED;
    void on_unacknowledged(net::node& which) noexcept override HOLDFAST_LOCKED;
    void on_push(net::node& which, resp::view message) override HOLDFAST_LOCKED;
    void decline(core::node_index by, const kinds::call& whom,
                 core::time_point now) HOLDFAST_LOCKED;
    [[nodiscard]] bool in_use(std::string_view owner) const HOLDFAST_LOCKED;
    void on_change(net::node& which) noexcept override HOLDFAST_LOCKED;
    [[nodiscard]] net::acknowledgement::place place_at(net::node& which,
                                                       bool another) override HOLDFAST_LOCKED;
    void tell_of_own_change(std::string_view lock) noexcept HOLDFAST_LOCKED;
    template <typename Concerns>
    void tell_watches(Concerns&& concerns) noexcept HOLDFAST_LOCKED;

    /// How many replicas have to acknowledge what counts there.
    [[nodiscard]] replicas acks_at(const net::endpoint& where) const;
    /// Null: its address is known.
    [[nodiscard]] std::shared_ptr<net::resolver> make_resolver(const net::endpoint& of);
    void make_node(const net::endpoint& where, bool patient, net::purpose what_for);
    [[nodiscard]] net::node::settings settings_for(const net::endpoint& where, bool patient,
                                                   net::purpose what_for);
    [[nodiscard]] electorate slot_of(std::string_view key) HOLDFAST_LOCKED;
    [[nodiscard]] const std::string& slot_channel(core::node_index slot) const HOLDFAST_LOCKED;
    [[nodiscard]] net::voter& slot_at(core::node_index which) const HOLDFAST_LOCKED;
    [[nodiscard]] core::node_index place_of(const net::node& which,
                                            std::string_view key) HOLDFAST_LOCKED;
    [[nodiscard]] kinds::topology topology() const;
    void bar_conflicts() HOLDFAST_LOCKED;
    void tell_of_no_calls(net::node& which) HOLDFAST_LOCKED;
    void hear_out(base::client_lock& lock) noexcept HOLDFAST_LOCKED;
    void fail_everything() noexcept HOLDFAST_LOCKED;

    const options settings_;
    const core::duration node_timeout_;
    const unsigned generation_;  // of forks
    base::client_mutex guard_;
    stage stage_ HOLDFAST_GUARDED = stage::open;

    std::shared_ptr<environment> environment_;
    timer_queue timers_ HOLDFAST_GUARDED;
    wait_queues queues_ HOLDFAST_GUARDED;
    entropy entropy_ HOLDFAST_GUARDED{*environment_};
    const std::string signature_ =
        environment_->signature();  // a forked child has an engine of its own
    const std::string channel_;
    holdfast::statistics statistics_ HOLDFAST_GUARDED;
    core::local_id last_id_ HOLDFAST_GUARDED = 0;
    std::size_t unattended_ HOLDFAST_GUARDED = 0;
    release_retries owed_ HOLDFAST_GUARDED{*this};
    runtime::membership_check membership_check_ HOLDFAST_GUARDED{*this};
    std::vector<const kinds::kind*> used_ HOLDFAST_GUARDED;       // both have room for all kinds,
    std::vector<const scripts::script*> loads_ HOLDFAST_GUARDED;  // and stay where they are
    std::vector<hold*> holds_ HOLDFAST_GUARDED;
    std::vector<watching*> watches_ HOLDFAST_GUARDED;
    std::vector<std::string> detached_ HOLDFAST_GUARDED;  // the owners of detached leases
    bool declines_ HOLDFAST_GUARDED = true;               // grants: until those are too many

    std::unique_ptr<heartbeat> heartbeat_ HOLDFAST_GUARDED;
    std::unique_ptr<driver> driver_;
    std::size_t first_node_ = 0;  // behind the slots of a Cluster
    const net::purpose what_for_;
    std::unique_ptr<runtime::cluster> cluster_;  // null: it is none. Outlives what its nodes asked
    std::vector<std::unique_ptr<net::node>> nodes_;
};

using engine_pointer = std::shared_ptr<engine>;

}  // namespace holdfast::runtime
