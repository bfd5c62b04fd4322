#include "sim/world/driver.hpp"

#include <utility>

namespace holdfast::sim {

void simulated_driver::turn(std::span<stream* const> open) {
    const base::client_lock lock(guard_);
    look(open);
}

// A stream that cannot be written to has no descriptor to poll: the environment reads from it.
void simulated_driver::look(std::span<stream* const> open) {
    in_turn_ = true;
    driven_.flush();
    for (auto* const each : open) {
        if (!each->has_news()) continue;
        if (each->blocked()) {
            each->take_in();
        } else {
            const auto whose = process_.settings().grouped() ? 0 : each->server();
            driven_.take_in({each->descriptor(), whose});
        }
    }
    driven_.fire(process_.local());
    in_turn_ = false;
    polls_ = driven_.unattended();
    looks_at_ = driven_.wake_at();
    planned_at_ = core::never;
    if (polls_ && std::ranges::any_of(open, [](auto* s) { return s->has_news(); })) look_again();
}

void simulated_driver::settle() {
    if (!callbacks_.empty() && !std::exchange(callbacks_planned_, true)) {
        process_.in().schedule(process_.now(), event::kind::callbacks, process_.index());
    }
    if (looks_at_ >= planned_at_) return;
    planned_at_ = looks_at_;
    process_.in().schedule(std::max(process_.when(looks_at_), process_.now()),
                           event::kind::client_looks, process_.index(), 0, ++generation_);
}

void simulated_driver::run_callbacks() {
    callbacks_planned_ = false;
    while (!callbacks_.empty()) {
        auto& next = callbacks_.front();
        callbacks_.pop_front();
        next.run();
    }
}

void simulated_driver::wait(base::client_lock&, runtime::waiter& who) noexcept {
    while (!who.done) driven_.fire(driven_.wake_at());
}

}  // namespace holdfast::sim
