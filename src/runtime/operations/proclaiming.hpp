#pragma once

#include "runtime/engine.hpp"

namespace holdfast::runtime {

/// Lets all voters know the term of a leader whom they have elected: each has noted the counter of
/// its own grant, and those of a minority may be others. Nobody waits for it.
class proclaiming final : public net::exchange {
  public:
    /// Does nothing where there is one voter. Throws std::bad_alloc before anything was sent.
    static void start(engine& through, plan_pointer what, std::string owner,
                      core::fencing_token term, core::time_point now) HOLDFAST_LOCKED;

  private:
    proclaiming(engine& through, plan_pointer what, std::string owner, core::fencing_token term);

    void encode(tag, bool by_text, std::string& out) override HOLDFAST_LOCKED;
    void answered(tag, std::string_view reply) override HOLDFAST_LOCKED;
    void failed(tag, const net::failure&) noexcept override {}  // the others are a majority

    engine& engine_;
    plan_pointer what_;
    std::string owner_;
    core::fencing_token term_;
};

}  // namespace holdfast::runtime
