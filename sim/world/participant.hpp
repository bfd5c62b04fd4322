#pragma once

#include <memory>
#include <optional>

#include "holdfast/latch.hpp"
#include "sim/check/checkers.hpp"
#include "sim/world/process.hpp"

namespace holdfast::sim {

class client;

/// One who counts a latch down, waits until it is open, and goes on to the next latch. It asks as
/// those do who use holdfast/asio.hpp.
///
///   thinking ---- timer ----> counting ---- counted ----> waiting ---- open ---> thinking ...
///                                ^---- not known whether ----/ (once more: another who counts)
class participant {
  public:
    participant(client& of, std::uint32_t index);
    participant(const participant&) = delete;
    participant& operator=(const participant&) = delete;

    void start() { think(); }
    void healed();
    /// Its timer, if that is the one.
    void act(std::uint32_t generation);

    /// Has passed the last latch that anybody had begun with when the faults ended.
    [[nodiscard]] bool satisfied() const {
        return state_ == state::thinking && process_.in().healed() && round_ > last_;
    }

  private:
    enum class state : std::uint8_t { thinking, counting, waiting };

    void think(core::duration at_least = {});
    void count();
    void counted(const std::exception_ptr& why);
    void wait();
    void waited(const std::exception_ptr& why, bool open);
    void say(const char* what);

    client& client_;
    process& process_;
    checkers& checkers_;
    std::uint32_t index_;
    std::size_t round_ = 0;
    std::size_t last_ = 0;
    state state_ = state::thinking;
    bool has_counted_ = false;  // in this round
    instant asked_{};
    std::uint32_t timer_ = 0;  // the latest
    std::optional<::holdfast::latch> latch_;
};

}  // namespace holdfast::sim
