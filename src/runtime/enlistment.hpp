#pragma once

#include <string>
#include <utility>

#include "net/exchange.hpp"
#include "runtime/wire.hpp"

namespace holdfast::runtime {

/// Runs the enlist script on a node that is connected but has forgotten its marker. Nobody waits
/// for it: until it is done, the node grants nothing anyway.
class enlistment final : public net::exchange {
  public:
    enlistment(std::string run_id, core::duration quarantine)
        : run_id_(std::move(run_id)), quarantine_(quarantine) {}

  private:
    void encode(tag, bool by_text, std::string& out) override {
        wire::enlist(out, by_text, run_id_, quarantine_);
    }
    void answered(tag, std::string_view) override {}
    void failed(tag, const net::failure&) override {}

    std::string run_id_;
    core::duration quarantine_;
};

}  // namespace holdfast::runtime
