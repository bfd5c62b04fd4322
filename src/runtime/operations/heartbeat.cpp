#include "runtime/operations/heartbeat.hpp"

#include <utility>

#include "core/tuning.hpp"
#include "holdfast/duration.hpp"
#include "net/enlisting.hpp"
#include "resp/encoder.hpp"
#include "resp/view.hpp"

namespace holdfast::runtime {
namespace {

/// One look at one server.
class look final : public net::exchange {
  public:
    /// What is asked, in this order: a clock that jumped is known before the end of a quarantine,
    /// and the record is compared with the life that it is now.
    enum question : tag { clock_of_it, life, its_record };

    look(engine& through, core::node_index whom, core::time_point now)
        : engine_(through), index_(whom), node_(through.node(whom)), sent_(now) {
        engine_.begin_unattended();
    }
    ~look() override { engine_.end_unattended(); }

  private:
    void encode(tag request, bool, std::string& out) override HOLDFAST_LOCKED {
        switch (request) {
            case clock_of_it: return resp::append_command(out, {"TIME"});
            case life: return resp::append_command(out, {"INFO", "replication"});
            default:
                // Of this life: the handshake saw to it that the replicas know that.
                return net::append_enlist(out, node_.facts(), net::enlisting::guarded,
                                          node_.judge(), node_.group());
        }
    }

    void answered(tag request, std::string_view reply) override HOLDFAST_LOCKED {
        const resp::view said(reply);
        switch (request) {
            case clock_of_it: return compare_clocks(said);
            case life: return compare_lives(said);
            default: return read_record(said);
        }
    }

    void failed(tag, const net::failure&) noexcept override HOLDFAST_LOCKED {}

    void compare_clocks(resp::view said) HOLDFAST_LOCKED {
        const auto seconds = said.at(0);
        const auto micros = said.at(1);
        if (!seconds || !micros || !seconds->as_integer() || !micros->as_integer()) return;
        const auto server = std::chrono::seconds(*seconds->as_integer()) +
                            std::chrono::microseconds(*micros->as_integer());
        const auto jump = node_.judge().heartbeat(server, sent_, engine_.now());
        if (!jump) return;
        engine_.log(log_level::error, "clock_jumped",
                    "the server's clock jumped by " + std::string(jump->count() < 0 ? "-" : "") +
                        format_duration(jump->count() < 0 ? -*jump : *jump) +
                        "; its vote does not count for max_ttl",
                    {}, node_.name());
    }

    void compare_lives(resp::view said) HOLDFAST_LOCKED {
        if (said.is_error()) return ask_record();
        auto now = net::facts_in(said.text(), node_.facts());
        if (core::same_life(node_.facts(), now)) {
            node_.learned(std::move(now));
            return ask_record();
        }
        node_.start_over({.code = errc::unsafe_server,
                          .message = now.is_replica ? "is a replica now"
                                                    : "was a replica meanwhile: its locks may be "
                                                      "gone"});
    }

    // Somebody may have vouched for it, or set another max_ttl. A replica has no record to keep.
    // With the ids of before, the record of a life that goes on would be written as another's, and
    // everybody quarantined, by each client in turn that knows only one of them. In a Cluster each
    // slot has a record, of whose changes the server tells.
    void ask_record() HOLDFAST_LOCKED {
        if (node_.facts().is_replica || engine_.cluster() != nullptr) return;
        engine_.send(index_, this, its_record, engine_.now());
        engine_.submit();
    }

    void read_record(resp::view said) HOLDFAST_LOCKED {
        const auto found = net::read_enlist(said);
        const auto* record = std::get_if<core::enlistment>(&found);
        if (record == nullptr) return;
        const auto now = engine_.now();
        const bool voted = node_.judge().may_vote(now);
        node_.enlisted(*record, now);
        if (voted) engine_.tell_of_quarantine(node_, now);
    }

    engine& engine_;
    core::node_index index_;
    net::node& node_;
    core::time_point sent_;
};

}  // namespace

void heartbeat::start(core::time_point now) {
    if (std::exchange(beats_, true)) return;
    engine_.set(*this, now + core::tuning::heartbeat_period);
}

void heartbeat::stop() { engine_.cancel(*this); }

void heartbeat::due(core::time_point now) noexcept {
    engine_.set(*this, now + core::tuning::heartbeat_period);
    try {
        look_at_all(now);
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the next one will
    }
}

void heartbeat::look_at_all(core::time_point now) {
    for (std::size_t n = 0; n < engine_.node_count(); ++n) {
        const auto which = engine_.node_at(n);
        if (!engine_.node(which).ready()) continue;
        const boost::intrusive_ptr<look> asks(new look(engine_, which, now));
        engine_.send(which, asks, look::clock_of_it, now);
        engine_.send(which, asks, look::life, now);
    }
}

}  // namespace holdfast::runtime
