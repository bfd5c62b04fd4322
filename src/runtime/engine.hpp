#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

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
/// Unless said otherwise, members are called with the lock held: lock() gives it.
class engine final : private driver::machinery,
                     private net::node::listener,
                     public std::enable_shared_from_this<engine> {
  public:
    /// Checks the options; throws as options.hpp says. One that is there to look takes no locks.
    engine(std::shared_ptr<environment> around, options given,
           net::purpose what_for = net::purpose::lock);
    ~engine();

    /// Without the lock. Completes everything under way with errc::closed, loses every lease, and
    /// stops the driver. Releases that nobody waits for are heard out, for a moment.
    void close() noexcept;

    /// Without the lock: whether this is a forked child, which must not touch anything.
    [[nodiscard]] bool in_child() const noexcept;

    [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(guard_); }
    [[nodiscard]] core::time_point now() const noexcept { return environment_->now(); }  // nor here
    [[nodiscard]] bool closed() const { return stage_ != stage::open; }
    [[nodiscard]] const options& settings() const { return settings_; }  // lock not needed

    /// Who votes on a lock: every node, whatever the key.
    [[nodiscard]] electorate voters_of(std::string_view) const { return electorate(all_nodes()); }

    /// For what concerns the client as a whole: connecting, looking after its servers, closing.
    [[nodiscard]] core::node_set all_nodes() const { return core::node_set::first(nodes_.size()); }
    [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }
    [[nodiscard]] net::node& node(core::node_index which) { return *nodes_[which.value]; }

    /// A copy that names the node.
    [[nodiscard]] net::failure named(core::node_index which,
                                     const net::failure& why) const noexcept;

    /// What cannot be sent has failed.
    void send(core::node_index to, boost::intrusive_ptr<net::exchange> who,
              net::exchange::tag request, core::time_point now) noexcept;

    /// When the first of the requests under way will be overdue.
    [[nodiscard]] core::time_point overdue_at() const { return wake_at(); }

    /// Lets what was appended go out: now, or with the driver's next write.
    void submit() noexcept;

    /// REQUIRES: enrolled, as of timer_queue.
    void set(timer& which, core::time_point when) noexcept;
    void cancel(timer& which) noexcept { timers_.cancel(which); }
    void enroll_timer() { timers_.enroll(); }
    void withdraw_timer() noexcept { timers_.withdraw(); }

    driver& driving() { return *driver_; }
    wait_queues& queues() { return queues_; }
    release_retries& owed() { return owed_; }
    runtime::membership_check& membership_check() { return membership_check_; }
    entropy& chance_source() { return entropy_; }
    /// For what chance only has to part from others.
    std::uint64_t chance() noexcept override;
    [[nodiscard]] const std::string& signature() const { return signature_; }
    holdfast::statistics& counters() { return statistics_; }
    [[nodiscard]] core::local_id next_id() { return ++last_id_; }

    /// Work that no caller waits for, while it lasts.
    void begin_unattended() { ++unattended_; }
    void end_unattended() { --unattended_; }

    /// So that the next enter() cannot fail. Throws std::bad_alloc.
    void reserve_hold();
    void enter(hold& lease) noexcept;
    void leave(hold& lease) noexcept;

    /// Logs it, if the server is in one.
    void tell_of_quarantine(net::node& which, core::time_point now);

    void log(log_level level, std::string_view event, std::string_view message,
             std::string_view key = {}, std::string_view node = {}) const noexcept;

    /// The same, of a node.
    void log_of(core::node_index node, log_level level, std::string_view event,
                std::string_view message, std::string_view key = {}) const noexcept;

    /// Closes the sockets of a forked child, without a word to the servers.
    void abandon() noexcept;

  private:
    engine(std::shared_ptr<environment> around, resolved what, net::purpose what_for);

    enum class stage : std::uint8_t {
        open,
        closing,  // nothing is acquired any more
        closed,
    };

    void flush() noexcept override;
    [[nodiscard]] bool list_sources(std::vector<driver::source>& all) override;
    void take_in(const driver::source& from) noexcept override;
    void watch_sources() override;
    void fire(core::time_point now) noexcept override;
    [[nodiscard]] core::time_point wake_at() const override;
    [[nodiscard]] bool unattended() const override;
    [[nodiscard]] bool may_spin() const override { return settings_.spin; }
    [[nodiscard]] std::shared_ptr<void> keep_alive() override { return shared_from_this(); }

    void on_ready(net::node& which) override;
    void on_caught_up(net::node& which) override;
    void on_down(net::node& which, const net::failure& why) noexcept override;
    void on_push(net::node& which, resp::view message) override;
    void on_change(net::node&) noexcept override { driver_->look_again(); }

    void make_node(const net::endpoint& where, bool patient, net::purpose what_for);
    void bar_conflicts();
    void hear_out(std::unique_lock<std::mutex>& lock) noexcept;
    void fail_everything() noexcept;

    options settings_;
    core::duration node_timeout_;
    unsigned generation_;  // of forks
    mutable std::mutex guard_;
    stage stage_ = stage::open;

    std::shared_ptr<environment> environment_;
    timer_queue timers_;
    wait_queues queues_;
    entropy entropy_{*environment_};
    std::string signature_ = environment_->signature();  // a forked child has an engine of its own
    holdfast::statistics statistics_;
    core::local_id last_id_ = 0;
    std::size_t unattended_ = 0;
    release_retries owed_{*this};
    runtime::membership_check membership_check_{*this};
    std::vector<hold*> holds_;

    std::unique_ptr<heartbeat> heartbeat_;
    std::unique_ptr<driver> driver_;
    std::vector<std::unique_ptr<net::node>> nodes_;
};

using engine_pointer = std::shared_ptr<engine>;

}  // namespace holdfast::runtime
