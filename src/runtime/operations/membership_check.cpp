#include "runtime/operations/membership_check.hpp"

#include <utility>

#include "runtime/operations/attempt.hpp"

namespace holdfast::runtime {

membership_check::membership_check(engine& through) : engine_(through) {}
membership_check::~membership_check() = default;

void membership_check::wait(boost::intrusive_ptr<attempt> who, core::time_point now) {
    waiting_.push_back(std::move(who));
    if (state_ == state::idle) call(now);
}

void membership_check::call(core::time_point now) noexcept {
    state_ = state::calling;
    engine_.set(*this, now + engine_.settings().node_timeout);
    for (std::size_t n = 0; n < engine_.node_count(); ++n) {
        engine_.node(engine_.node_at(n)).call(now);
    }
}

void membership_check::heard() noexcept {
    if (over()) return;
    bool all = true;
    for (std::size_t n = 0; n < engine_.node_count(); ++n) {
        all = all && engine_.node(engine_.node_at(n)).was_tried();
    }
    if (all) end(engine_.now());
}

void membership_check::stop() noexcept {
    state_ = state::over;
    engine_.cancel(*this);
    waiting_.clear();
}

void membership_check::end(core::time_point now) noexcept {
    const auto resumed = std::exchange(waiting_, {});
    stop();
    for (const auto& each : resumed) each->resume(now);
}

}  // namespace holdfast::runtime
