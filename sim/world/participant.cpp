#include "sim/world/participant.hpp"

#include "holdfast/detail/async.hpp"
#include "sim/world/client.hpp"

namespace holdfast::sim {

participant::participant(client& of, std::uint32_t index)
    : client_(of), process_(of.self()), checkers_(of.watched()), index_(index) {}

void participant::say(const char* what) {
    if (!process_.in().traced()) return;
    const auto who = "client " + std::to_string(process_.index()) + "." + std::to_string(index_);
    process_.in().tracer().line(process_.now(), who.c_str(), "%s latch %zu", what, round_);
}

void participant::think(core::duration at_least) {
    state_ = state::thinking;
    if (satisfied()) return;
    const auto longest = process_.in().healed() ? core::duration{std::chrono::milliseconds(50)}
                                                : process_.settings().longest_think;
    const auto pause = process_.chance().between(at_least, std::max(at_least, longest));
    process_.in().schedule(process_.when(process_.local() + pause), event::kind::caller_acts,
                           process_.index(), static_cast<std::uint16_t>(index_), ++timer_);
}

void participant::healed() {
    last_ = checkers_.latches().last();
    if (state_ == state::thinking) think();
}

void participant::act(std::uint32_t generation) {
    if (generation != timer_ || state_ != state::thinking || satisfied()) return;
    process_.maybe_pause(network::pauses_per_write);
    if (!latch_) {
        latch_.emplace(client_.as_public(), "gate" + std::to_string(round_),
                       process_.settings().kind.permits);
        has_counted_ = false;
    }
    return has_counted_ ? wait() : count();
}

void participant::count() {
    say("counts down");
    state_ = state::counting;
    checkers_.latches().begins_to_count(round_);
    detail::start_count_down(*latch_, [this](const std::exception_ptr& why) { counted(why); });
}

// Where it is not known whether it counted, it counts as another.
void participant::counted(const std::exception_ptr& why) {
    constexpr core::duration after_error = std::chrono::milliseconds(50);
    process_.maybe_pause(network::pauses_per_write);
    if (client_.is_closed()) return;
    if (why) return think(after_error);
    say("has counted down");
    has_counted_ = true;
    checkers_.latches().has_counted(round_);
    wait();
}

void participant::wait() {
    state_ = state::waiting;
    asked_ = process_.now();
    checkers_.latches().waits(round_);
    detail::start_wait(*latch_, clock::time_point::max(),
                       [this](const std::exception_ptr& why, bool open) { waited(why, open); });
}

void participant::waited(const std::exception_ptr& why, bool open) {
    constexpr core::duration after_error = std::chrono::milliseconds(50);
    process_.maybe_pause(network::pauses_per_write);
    if (client_.is_closed()) return;
    if (why || !open) {
        // Gone, most likely, with what was counted: it begins anew, as another who counts.
        has_counted_ = has_counted_ && !process_.settings().forgets();
        return think(after_error);
    }
    say("finds open");
    checkers_.latches().told_open(round_, asked_);
    latch_.reset();
    ++round_;
    think();
}

}  // namespace holdfast::sim
