#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/node_set.hpp"
#include "core/owed_releases.hpp"
#include "holdfast/options.hpp"
#include "holdfast/statistics.hpp"
#include "net/node.hpp"
#include "runtime/driver.hpp"
#include "runtime/endpoints.hpp"
#include "runtime/owner_token.hpp"
#include "runtime/plan.hpp"
#include "runtime/rooms.hpp"
#include "runtime/timer_queue.hpp"

namespace holdfast::runtime {

class heartbeat;
class hold;

/// What all operations of one client share: its nodes, its timers, its waiting rooms, its lock.
///
/// Unless said otherwise, members are called with the lock held: lock() gives it.
class engine final : private driver::machinery,
                     private net::node::listener,
                     public std::enable_shared_from_this<engine> {
  public:
    explicit engine(options given);  // checks them; throws as options.hpp says
    ~engine();

    /// Without the lock. Completes everything under way with errc::closed, loses every lease, and
    /// joins the background thread. Releases that nobody waits for are heard out, for a moment.
    void close() noexcept;

    /// Without the lock: whether this is a forked child, which must not touch anything.
    [[nodiscard]] bool in_child() const noexcept;

    [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(guard_); }
    [[nodiscard]] bool closed() const { return stage_ != stage::open; }
    [[nodiscard]] const options& settings() const { return settings_; }  // lock not needed
    [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }
    [[nodiscard]] net::node& node(core::node_index which) { return *nodes_[which.value]; }

    void send(core::node_index to, boost::intrusive_ptr<net::exchange> who,
              net::exchange::tag request, core::time_point now);

    /// When the first of the requests under way will be overdue.
    [[nodiscard]] core::time_point overdue_at() const { return wake_at(); }

    /// Lets what was appended go out: now, or with the driver's next write.
    void submit();

    /// A release that could not be delivered is repeated when the node is back, until the key
    /// would be gone by itself.
    void owe_release(core::node_index to, plan_pointer what, std::string owner,
                     core::time_point until);
    void settle_release(core::node_index by, const std::string& owner);

    /// Asks a node that has lost its restart marker to note its present life, and to wait.
    void enlist(core::node_index which);

    void set(timer& which, core::time_point when);
    void cancel(timer& which) { timers_.cancel(which); }

    driver& driving() { return driver_; }
    rooms& waiting() { return rooms_; }
    entropy& chance_source() { return entropy_; }
    [[nodiscard]] const std::string& signature() const { return signature_; }
    holdfast::statistics& counters() { return statistics_; }
    [[nodiscard]] core::local_id next_id() { return ++last_id_; }

    /// Work that no caller waits for, while it lasts.
    void begin_unattended() { ++unattended_; }
    void end_unattended() { --unattended_; }

    void enter(hold& lease);
    void leave(hold& lease);

    void log(log_level level, std::string_view event, std::string_view message,
             std::string_view key = {}, std::string_view node = {}) const noexcept;

    /// Closes the sockets of a forked child, without a word to the servers.
    void abandon() noexcept;

  private:
    explicit engine(resolved what);

    enum class stage : std::uint8_t {
        open,
        closing,  // nothing is acquired any more
        closed,
    };

    struct debt {
        plan_pointer what;
        std::string owner;
        core::time_point until;
        friend bool operator==(const debt& a, const debt& b) { return a.owner == b.owner; }
    };

    void flush() override;
    [[nodiscard]] bool list_sources(std::vector<driver::source>& all) override;
    void take_in(const driver::source& from) override;
    void watch_sources() override;
    void fire(core::time_point now) override;
    [[nodiscard]] core::time_point wake_at() const override;
    [[nodiscard]] bool unattended() const override;
    [[nodiscard]] std::shared_ptr<void> keep_alive() override { return shared_from_this(); }

    void on_ready(net::node& which) override;
    void on_down(net::node& which, const net::failure& why) override;
    void on_push(net::node& which, resp::view message) override;
    void on_change(net::node&) override { driver_.look_again(); }
    std::uint64_t chance() override { return entropy_.bits64(); }

    void pay_debts(core::node_index to, core::time_point now);
    void make_node(const net::endpoint& where, bool patient);
    void bar_conflicts();
    void hear_out(std::unique_lock<std::mutex>& lock);
    void fail_everything();

    options settings_;
    core::duration node_timeout_;
    unsigned generation_;  // of forks
    mutable std::mutex guard_;
    stage stage_ = stage::open;

    timer_queue timers_;
    rooms rooms_;
    entropy entropy_;
    std::string signature_ = runtime::signature();  // a forked child has an engine of its own
    holdfast::statistics statistics_;
    core::local_id last_id_ = 0;
    std::size_t unattended_ = 0;
    core::owed_releases<debt> debts_;
    std::vector<hold*> holds_;

    std::unique_ptr<heartbeat> heartbeat_;
    driver driver_;
    std::vector<std::unique_ptr<net::node>> nodes_;
};

using engine_pointer = std::shared_ptr<engine>;

}  // namespace holdfast::runtime
