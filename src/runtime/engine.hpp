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

class heartbeat;
class hold;

/// Where a request went whose tag is nothing but its node, or the voter that this is.
inline core::node_index node_of(net::exchange::tag request) {
    return {static_cast<std::uint8_t>(request)};
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

    /// Who votes on a lock: every node, whatever the key.
    [[nodiscard]] electorate voters_of(std::string_view) const { return electorate(all_nodes()); }

    /// For what concerns the client as a whole: connecting, looking after its servers, closing.
    [[nodiscard]] core::node_set all_nodes() const { return core::node_set::first(nodes_.size()); }
    [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }
    [[nodiscard]] net::node& node(core::node_index which) { return *nodes_[which.value]; }

    /// A copy that names the node.
    [[nodiscard]] net::failure named(core::node_index which,
                                     const net::failure& why) const noexcept HOLDFAST_LOCKED;

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
        return make_owner_token(entropy_, of.owner_start(), channel_, signature_, label);
    }
    /// By which servers call this client; empty: no server has to.
    [[nodiscard]] const std::string& channel() const { return channel_; }
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

    /// Logs it, if the server is in one.
    void tell_of_quarantine(net::node& which, core::time_point now) HOLDFAST_LOCKED;

    void log(log_level level, std::string_view event, std::string_view message,
             std::string_view key = {}, std::string_view node = {}) const noexcept HOLDFAST_LOCKED;

    /// The same, of a node.
    void log_of(core::node_index node, log_level level, std::string_view event,
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
    void on_push(net::node& which, resp::view message) override HOLDFAST_LOCKED;
    void decline(core::node_index by, const kinds::call& whom,
                 core::time_point now) HOLDFAST_LOCKED;
    [[nodiscard]] bool in_use(std::string_view owner) const HOLDFAST_LOCKED;
    void on_change(net::node& which) noexcept override HOLDFAST_LOCKED;

    /// How many replicas have to acknowledge what counts there.
    [[nodiscard]] replicas acks_at(const net::endpoint& where) const;
    /// Null: its address is known.
    [[nodiscard]] std::shared_ptr<net::resolver> make_resolver(const net::endpoint& of);
    void make_node(const net::endpoint& where, bool patient, net::purpose what_for);
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
    std::vector<hold*> holds_ HOLDFAST_GUARDED;
    std::vector<std::string> detached_ HOLDFAST_GUARDED;  // the owners of detached leases
    bool declines_ HOLDFAST_GUARDED = true;               // grants: until those are too many

    std::unique_ptr<heartbeat> heartbeat_ HOLDFAST_GUARDED;
    std::unique_ptr<driver> driver_;
    std::vector<std::unique_ptr<net::node>> nodes_;
};

using engine_pointer = std::shared_ptr<engine>;

}  // namespace holdfast::runtime
