#pragma once

#include "runtime/engine.hpp"

namespace holdfast::runtime {

/// Asks the only voter to tell when a key changes that somebody else holds: for releases that call
/// nobody, by other libraries or by hand. If it is gone already, whoever waits is told at once.
///
/// By PTTL, not by a script: up to Redis 7.0 a server tells of every key that a script names. Not
/// by GET: the value may be anybody's, and of any size.
class listening final : public net::exchange {
  public:
    /// Throws std::bad_alloc before anything was sent.
    /// `lock`: one of the plan's.
    static void start(engine& through, const plan_pointer& what, const std::string& lock,
                      core::time_point now) HOLDFAST_LOCKED;

  private:
    listening(engine& through, std::shared_ptr<const std::string> lock);

    void encode(tag, bool by_text, std::string& out) override HOLDFAST_LOCKED;
    [[nodiscard]] bool asks_for_notification(tag) const override { return true; }
    void answered(tag asked, std::string_view reply) override HOLDFAST_LOCKED;
    void failed(tag, const net::failure&) noexcept override {}  // who waits looks by itself

    engine& engine_;
    std::shared_ptr<const std::string> lock_;
};

}  // namespace holdfast::runtime
