#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "core/release.hpp"
#include "runtime/operations/acquiring.hpp"
#include "sim/check/checkers.hpp"
#include "sim/world/process.hpp"

namespace holdfast::sim {

class client;

/// One caller: wants the lock, waits for it, works under it, gives it back, thinks, and again. It
/// asks as src/api/async.cpp does, and is told by callbacks, without the client's lock.
///
///   thinking ---- timer ----> waiting ---- held ----> working ---- timer, notice ---> leaving
///      ^---------- gave up ------/                                                       |
///      ^------------------------------- told what came of it ---------------------------/
class caller {
  public:
    caller(client& of, std::uint32_t index);
    ~caller();
    caller(const caller&) = delete;
    caller& operator=(const caller&) = delete;

    void start() { think(); }
    void healed();
    void come_along();  // another caller of this process wants the lock now

    /// Its timer, if that is the one.
    void act(std::uint32_t generation);

    /// Looks at what has become of its lease: after everything that its client does.
    void observe();

    [[nodiscard]] bool satisfied() const { return satisfied_; }
    [[nodiscard]] bool waits() const { return state_ == state::waiting; }
    /// Has had the lock, wants nothing, and holds nothing.
    [[nodiscard]] bool at_rest() const {
        return satisfied_ && state_ == state::thinking && !extending_;
    }

  private:
    enum class state : std::uint8_t { thinking, waiting, working, leaving };

    /// What the client's driver calls back.
    class word final : public runtime::callback {
      public:
        word(caller& whom, void (caller::*what)()) : whom_(whom), what_(what) {}

      private:
        void run() override { (whom_.*what_)(); }
        caller& whom_;
        void (caller::*what_)();
    };

    // Waiting.
    void think(core::duration at_least = {});
    void ask();
    void cancel();
    void decided(runtime::acquiring& over);
    void answered();
    [[nodiscard]] runtime::acquiring::request draw_wish(core::time_point now);

    // Working.
    void work();
    void told_of_loss();
    void show_owner();
    void extend();
    void extended();
    void downgrade();
    void look_at_plain_register();
    void let_go();
    void send_release();
    void write_plain_register();
    void lost();
    void check_notice();
    void left();

    void set_timer(core::duration in);
    void say(const char* what);

    client& client_;
    process& process_;
    checkers& checkers_;
    std::uint32_t index_;
    state state_ = state::thinking;
    bool rests_ = false;       // after an error: does not come along with others
    std::uint32_t timer_ = 0;  // the latest
    bool satisfied_ = false;   // has had the lock since the faults ended

    boost::intrusive_ptr<runtime::acquiring> wish_;
    runtime::acquiring::result result_;
    instant asked_at_{};
    bool reads_ = false;
    bool limited_ = false;  // a fixed lease, or one with an end to its renewals
    word answered_{*this, &caller::answered};

    std::shared_ptr<runtime::hold> hold_;
    holder_id holder_ = 0;
    std::optional<std::stop_callback<std::function<void()>>> notice_;
    core::time_point deadline_{};  // as last observed
    core::duration rest_{};        // of the work, behind the extension
    bool extends_ = false;
    bool downgrades_ = false;
    bool extending_ = false;
    bool believed_ = false;
    bool noticed_ = false;
    bool announced_in_time_ = false;
    instant believed_since_{};
    std::uint64_t plain_version_ = 0;
    word extended_{*this, &caller::extended};

    core::release::verdict outcome_{};
    word left_{*this, &caller::left};
};

}  // namespace holdfast::sim
