#pragma once

#include "runtime/engine.hpp"

namespace holdfast::runtime {

/// A release that is owed. Whoever waits here may have been denied by the key since, and the server
/// does not tell us of what we delete ourselves: they are told when it is gone. What the node does
/// not take now it is owed again.
class cleanup final : public net::exchange {
  public:
    static void start(engine& through, core::node_index where, release_retries::release what,
                      core::time_point now) HOLDFAST_LOCKED;

  private:
    cleanup(engine& through, release_retries::release what);

    void encode(tag request, bool by_text, std::string& out) override HOLDFAST_LOCKED;
    void answered(tag request, std::string_view reply) override HOLDFAST_LOCKED;
    void failed(tag request, const net::failure& why) noexcept override HOLDFAST_LOCKED;

    engine& engine_;
    release_retries::release release_;
};

}  // namespace holdfast::runtime
