#include "runtime/heartbeat.hpp"

#include "holdfast/clock.hpp"
#include "holdfast/duration.hpp"
#include "resp/encoder.hpp"
#include "resp/view.hpp"

namespace holdfast::runtime {
namespace {

constexpr core::duration period = std::chrono::seconds(1);

/// One look at one server's clock.
class look final : public net::exchange {
  public:
    look(engine& through, net::node& whom, core::time_point now)
        : engine_(through), node_(whom), sent_(now) {
        engine_.begin_unattended();
    }
    ~look() override { engine_.end_unattended(); }

  private:
    void encode(tag, bool, std::string& out) override { resp::append_command(out, {"TIME"}); }

    void answered(tag, std::string_view reply) override {
        const auto seconds = resp::view(reply).at(0);
        const auto micros = resp::view(reply).at(1);
        if (!seconds || !micros || !seconds->as_integer() || !micros->as_integer()) return;
        const auto server = std::chrono::seconds(*seconds->as_integer()) +
                            std::chrono::microseconds(*micros->as_integer());
        const auto jump = node_.judge().heartbeat(server, sent_, clock::now());
        if (!jump) return;
        engine_.log(log_level::error, "clock_jumped",
                    "the server's clock jumped by " + std::string(jump->count() < 0 ? "-" : "") +
                        format_duration(jump->count() < 0 ? -*jump : *jump) +
                        "; its vote does not count for max_ttl",
                    {}, node_.name());
    }

    void failed(tag, const net::failure&) override {}

    engine& engine_;
    net::node& node_;
    core::time_point sent_;
};

}  // namespace

void heartbeat::start(core::time_point now) { engine_.set(*this, now + period); }

void heartbeat::stop() { engine_.cancel(*this); }

void heartbeat::due(core::time_point now) {
    for (std::size_t n = 0; n < engine_.node_count(); ++n) {
        const core::node_index which{static_cast<std::uint8_t>(n)};
        auto& node = engine_.node(which);
        if (node.ready()) engine_.send(which, new look(engine_, node, now), 0, now);
    }
    engine_.set(*this, now + period);
}

}  // namespace holdfast::runtime
