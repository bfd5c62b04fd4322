#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/release.hpp"
#include "runtime/engine.hpp"

namespace holdfast::runtime {

/// A release whose outcome somebody may want: carries out core::release. What a node does not
/// take now it is owed, until the key would be gone by itself.
class releasing final : public net::exchange {
  public:
    struct request {
        plan_pointer what;
        std::shared_ptr<const std::string> owner;
        core::time_point key_gone_at;
    };
    using listener = std::function<void(const releasing&)>;

    /// `done` (may be empty) is called once, with the lock held, and must not throw. Throws
    /// std::bad_alloc before anything was sent.
    static boost::intrusive_ptr<releasing> start(engine& through, request wish,
                                                 core::time_point now,
                                                 listener done) HOLDFAST_LOCKED;

    [[nodiscard]] core::release::verdict outcome() const HOLDFAST_LOCKED {
        return machine_.outcome();
    }
    [[nodiscard]] const net::failure& last_failure() const HOLDFAST_LOCKED { return last_failure_; }

  private:
    releasing(engine& through, request wish, listener done) HOLDFAST_LOCKED;

    void encode(tag asked, bool by_text, std::string& out) override HOLDFAST_LOCKED;
    [[nodiscard]] bool encode_alone(tag asked, bool by_text,
                                    std::string& out) override HOLDFAST_LOCKED;
    void answered(tag asked, std::string_view reply) override HOLDFAST_LOCKED;
    void failed(tag asked, const net::failure& why) noexcept override HOLDFAST_LOCKED;

    void refused(core::node_index voter, const net::failure& why) noexcept HOLDFAST_LOCKED;
    void step(const core::release::event& happened) noexcept HOLDFAST_LOCKED;
    void carry_out(const core::release::actions& next,
                   core::time_point now) noexcept HOLDFAST_LOCKED;

    engine& engine_;
    request request_;
    electorate voters_;
    listener done_;
    core::release machine_;
    net::failure last_failure_;

    /// Sent a second time, by text, behind the next local attempt, which then was denied by the key
    /// that goes away only now. The server does not tell us of what we delete ourselves.
    bool overtaken_ = false;

    /// The queue could not be looked at: the next in line finds the lock free when it looks.
    bool alone_ = false;
};

}  // namespace holdfast::runtime
