#pragma once

#include <memory>

#include "core/renew.hpp"
#include "runtime/operations/hold.hpp"

namespace holdfast::runtime {

/// One attempt to extend a lease: carries out core::renew, and tells the hold what came of it.
class renewal final : public net::exchange {
  public:
    /// The watchdog's: nobody waits for it. Throws std::bad_alloc before anything was begun.
    static void start(std::shared_ptr<hold> lease, core::duration ttl,
                      core::time_point now) HOLDFAST_LOCKED;

    /// A caller's. `done` is called once with the lock held, and must not throw.
    using listener = std::function<void(const renewal&)>;
    static boost::intrusive_ptr<renewal> start(std::shared_ptr<hold> lease, core::duration ttl,
                                               core::time_point now, listener done) HOLDFAST_LOCKED;

    [[nodiscard]] const core::renew& machine() const HOLDFAST_LOCKED { return machine_; }
    [[nodiscard]] const net::failure& last_failure() const HOLDFAST_LOCKED { return last_failure_; }

  private:
    renewal(std::shared_ptr<hold> lease, core::duration ttl, listener done) HOLDFAST_LOCKED;

    void encode(tag request, bool by_text, std::string& out) override HOLDFAST_LOCKED;
    [[nodiscard]] bool encode_alone(tag request, bool by_text,
                                    std::string& out) override HOLDFAST_LOCKED;
    void answered(tag request, std::string_view reply) override HOLDFAST_LOCKED;
    void failed(tag request, const net::failure& why) noexcept override HOLDFAST_LOCKED;
    void acknowledged(tag request) noexcept override HOLDFAST_LOCKED;

    void begin(core::time_point now) noexcept HOLDFAST_LOCKED;
    void step(const core::renew::event& happened) noexcept HOLDFAST_LOCKED;
    void carry_out(const core::renew::actions& next, core::time_point now) noexcept HOLDFAST_LOCKED;

    std::shared_ptr<hold> lease_;
    electorate voters_;
    core::duration ttl_;
    listener done_;
    core::renew machine_;
    net::failure last_failure_;
};

}  // namespace holdfast::runtime
