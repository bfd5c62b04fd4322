#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/acquire.hpp"
#include "core/contend.hpp"
#include "core/courtesy.hpp"
#include "core/estate.hpp"
#include "core/keeper.hpp"
#include "core/local_line.hpp"
#include "core/release.hpp"
#include "core/renew.hpp"
#include "sim/checkers.hpp"
#include "sim/process.hpp"

namespace holdfast::sim {

class client;

/// One caller: wants the lock, waits for it, works under it, gives it back, thinks, and again.
/// The machines of the core decide; here their actions are carried out, and nothing else.
///
///   thinking ---- timer ----> waiting ---- held ----> working ---- timer, loss ----> thinking
///      ^---------- gave up ------/
class worker {
  public:
    worker(client& of, std::uint32_t index);

    void start();

    // Events, from the client.
    void turn(const core::courtesy::gap& left = {});  // in the local line
    void answered(core::node_index node, const request& asked, const value& answer);
    void unknown(core::node_index node, const request& asked);
    [[nodiscard]] bool still_wanted(core::node_index node, const request& asked) const;
    void told(core::node_index node);
    void healed();
    void come_along();  // another caller of this process wants the lock now

    enum class timer : std::uint8_t { plan, contend, keeper };
    static constexpr process::slot timers = 3;
    void on_timer(timer which);

    /// Somebody of this process lets go. Returns whether this one goes on with what is left.
    struct legacy {
        core::estate left;
        owner_id owner = 0;
        core::node_set written{};
        core::time_point gone_by{};
    };
    bool inherit(const legacy& from, core::arrival joined);

    [[nodiscard]] core::local_id id() const { return id_; }
    [[nodiscard]] bool satisfied() const { return satisfied_; }
    [[nodiscard]] bool idle() const { return state_ == state::thinking; }

  private:
    enum class state : std::uint8_t { thinking, waiting, working };

    // Waiting: contend and acquire.
    void begin();
    void follow(const core::contend::decision& decision);
    void attempt(bool listens);
    void ask(core::node_index node);
    void conclude_unasked(core::node_index node);
    void clean_up(core::node_index node);
    void acquire_event(const core::acquire::event& happened);
    void carry_out(const core::acquire::actions& actions);
    void attempt_decided();
    void acquire_answered(core::node_index node, const value& answer);
    void stop_waiting();
    void denied(core::node_index node, core::duration remaining, std::string_view by, bool tracked);
    [[nodiscard]] core::rival rival() const;

    // Holding: keeper, renew and release.
    void hold();
    void show_owner();
    void follow(const core::keeper::decision& decision);
    void renew(core::duration ttl);
    void carry_out(const core::renew::actions& actions);
    void announce();
    void lose();
    void let_go();
    void send_release();
    bool pass_on(const core::estate& left);
    void carry_out(const core::release::actions& actions);
    void check_notice();
    void write_plain_register();

    void think();
    void say(const char* what) const;
    [[nodiscard]] process::slot slot_of(timer which) const;
    [[nodiscard]] core::timing timing() const;
    [[nodiscard]] std::uint64_t chance();

    client& client_;
    process& process_;
    checkers& checkers_;
    std::uint32_t index_;
    state state_ = state::thinking;
    core::local_id id_;
    bool satisfied_ = false;  // has had the lock since the faults ended
    instant asked_at_{};      // for the lock, whoever grants it

    std::optional<core::contend> contend_;
    std::optional<core::acquire> acquire_;
    std::vector<core::duration> remaining_;  // of the lease at each node that denied
    std::vector<std::string> deniers_;       // who held it there
    bool listens_ = false;                   // the attempt under way
    bool all_tracked_ = false;
    core::node_set written_{};  // nodes to which this attempt's request was written
    owner_id owner_ = 0;        // as the servers know it
    owner_id holder_ = 0;       // as the checkers know it: an heir is somebody else
    core::hand_off_batch batch_{};
    core::estate gained_{};

    std::optional<core::keeper> keeper_;
    std::optional<core::renew> renew_;
    std::uint32_t renewal_ = 0;
    std::optional<core::release> release_;
    owner_id releasing_ = 0;
    core::time_point gone_by_{};  // when the servers have forgotten the lease without our help
    bool announced_in_time_ = false;
    bool believed_ = false;
    bool limited_ = false;  // a fixed lease, or one with an end to its renewals
    instant believed_since_{};
    std::uint64_t plain_version_ = 0;
};

}  // namespace holdfast::sim
