#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/node_set.hpp"
#include "net/exchange.hpp"
#include "resp/encoder.hpp"
#include "runtime/engine.hpp"

namespace holdfast::runtime {

/// The last request to each node: when it is answered, all before it were.
class drain final : public net::exchange, private timer {
  public:
    /// Returns when all of them have answered, or at `until`.
    static void wait(engine& through, const std::vector<core::node_index>& whom,
                     core::time_point until, base::client_lock& lock) HOLDFAST_LOCKED {
        if (whom.empty()) return;
        const boost::intrusive_ptr<drain> self(new drain(through, whom.size()));
        through.enroll_timer();
        for (const auto node : whom) through.send(node, self, node.value, through.now());
        through.set(*self, until);
        through.submit();
        through.driving().wait(lock, self->waiter_);
        through.cancel(*self);
        through.withdraw_timer();
    }

  private:
    drain(engine& through, std::size_t answers)
        : driver_(through.driving()), missing_(answers), waiter_(driver_) {}

    void encode(tag, bool, std::string& out) override HOLDFAST_LOCKED {
        resp::append_command(out, {"PING"});
    }
    void answered(tag, std::string_view) override HOLDFAST_LOCKED { gone(); }
    void failed(tag, const net::failure&) noexcept override HOLDFAST_LOCKED { gone(); }
    void due(core::time_point) noexcept override HOLDFAST_LOCKED { finish(); }

    void gone() HOLDFAST_LOCKED {
        if (--missing_ == 0) finish();
    }

    void finish() HOLDFAST_LOCKED {
        if (!waiter_.done) driver_.finished(waiter_);
    }

    driver& driver_;
    std::size_t missing_;
    waiter waiter_;
};

}  // namespace holdfast::runtime
