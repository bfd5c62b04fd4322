#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "core/node_set.hpp"
#include "net/exchange.hpp"
#include "resp/encoder.hpp"
#include "runtime/engine.hpp"

namespace holdfast::runtime {

/// The last request to each node: when it is answered, all before it were.
class drain final : public net::exchange, private timer {
  public:
    /// Returns when all of them have answered, or at `until`.
    static void wait(engine& through, core::node_set whom, core::time_point until,
                     base::client_lock& lock) HOLDFAST_LOCKED {
        if (whom.empty()) return;
        const boost::intrusive_ptr<drain> self(new drain(through, whom));
        through.enroll_timer();
        for (const auto node : whom) through.send(node, self, node.value, through.now());
        through.set(*self, until);
        through.submit();
        through.driving().wait(lock, self->waiter_);
        through.cancel(*self);
        through.withdraw_timer();
    }

  private:
    drain(engine& through, core::node_set whom)
        : driver_(through.driving()), missing_(whom), waiter_(driver_) {}

    void encode(tag, bool, std::string& out) override HOLDFAST_LOCKED {
        resp::append_command(out, {"PING"});
    }
    void answered(tag node, std::string_view) override HOLDFAST_LOCKED { gone(node); }
    void failed(tag node, const net::failure&) noexcept override HOLDFAST_LOCKED { gone(node); }
    void due(core::time_point) noexcept override HOLDFAST_LOCKED { finish(); }

    void gone(tag node) HOLDFAST_LOCKED {
        missing_.erase({static_cast<std::uint8_t>(node)});
        if (missing_.empty()) finish();
    }

    void finish() HOLDFAST_LOCKED {
        if (!waiter_.done) driver_.finished(waiter_);
    }

    driver& driver_;
    core::node_set missing_;
    waiter waiter_;
};

}  // namespace holdfast::runtime
