#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/locks.hpp"
#include "core/judge.hpp"
#include "holdfast/clock.hpp"
#include "net/exchange.hpp"
#include "net/failure.hpp"

namespace holdfast::net {

/// Who votes on a key, as those see it who ask: a server, or one slot of a Cluster, whichever
/// server that is at.
///
/// Everything is called with the client's lock held.
class voter {
  public:
    /// What cannot be sent has failed.
    virtual void send(boost::intrusive_ptr<exchange> who, exchange::tag request,
                      clock::time_point deadline,
                      clock::time_point now) noexcept HOLDFAST_LOCKED = 0;

    /// The server's.
    [[nodiscard]] virtual std::string name() const HOLDFAST_LOCKED = 0;
    /// Connected, and enlisted.
    [[nodiscard]] virtual bool ready() const HOLDFAST_LOCKED = 0;
    /// It was reached, or could not be.
    [[nodiscard]] virtual bool was_tried() const HOLDFAST_LOCKED = 0;
    /// An answer is overdue. REQUIRES: ready.
    [[nodiscard]] virtual bool stalled() const HOLDFAST_LOCKED = 0;
    /// REQUIRES: neither ready nor untried.
    [[nodiscard]] virtual const failure& last_failure() const HOLDFAST_LOCKED = 0;

    /// It tells us of changes, and of calls to our channel.
    [[nodiscard]] virtual bool tracking() const HOLDFAST_LOCKED = 0;
    [[nodiscard]] virtual bool subscribed() const HOLDFAST_LOCKED = 0;

    /// Whether its answers count only when its replicas have acknowledged them.
    [[nodiscard]] virtual bool acknowledges() const HOLDFAST_LOCKED = 0;
    /// `who` has been answered just now: exactly one of acknowledged() and failed() follows, unless
    /// this throws. REQUIRES: acknowledges().
    virtual void acknowledge(boost::intrusive_ptr<exchange> who,
                             exchange::tag request) HOLDFAST_LOCKED = 0;

    [[nodiscard]] virtual core::judge& judge() HOLDFAST_LOCKED = 0;
    /// Microseconds of its clock, as far as it was told; 0: it was not. For people to read.
    [[nodiscard]] virtual std::uint64_t time_at(clock::time_point now) const HOLDFAST_LOCKED = 0;
    /// Why its votes cannot be asked for. REQUIRES: its clients agreed on another max_ttl.
    [[nodiscard]] virtual failure disagreement() const HOLDFAST_LOCKED = 0;

  protected:
    ~voter() = default;
};

}  // namespace holdfast::net
