#pragma once

#include "runtime/engine.hpp"

namespace holdfast::runtime {

/// Releases that nobody waits for: after an attempt that failed, and after a reconnect. What a
/// node does not take now it is owed, until the key would be gone by itself.
class cleanup final : public net::exchange {
  public:
    static void start(engine& through, core::node_set where, plan_pointer what, std::string owner,
                      core::time_point until, core::time_point now);

  private:
    cleanup(engine& through, plan_pointer what, std::string owner, core::time_point until);

    void encode(tag request, bool by_text, std::string& out) override;
    void answered(tag request, std::string_view reply) override;
    void failed(tag request, const net::failure& why) override;

    engine& engine_;
    plan_pointer what_;
    std::string owner_;
    core::time_point until_;
};

}  // namespace holdfast::runtime
