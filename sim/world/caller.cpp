#include "sim/world/caller.hpp"

#include <algorithm>
#include <utility>

#include "api/release.hpp"
#include "sim/world/client.hpp"

namespace holdfast::sim {

caller::caller(client& of, std::uint32_t index)
    : client_(of), process_(of.self()), checkers_(of.watched()), index_(index) {}

caller::~caller() {
    if (result_.won) detail::detach(*result_.won);
    if (hold_) detail::detach(*hold_);
}

void caller::say(const char* what) {
    if (!process_.in().traced()) return;
    const auto who = "client " + std::to_string(process_.index()) + "." + std::to_string(index_);
    process_.in().tracer().line(process_.now(), who.c_str(), "%s (h%u)", what, holder_);
}

void caller::set_timer(core::duration in) {
    process_.in().schedule(process_.when(process_.local() + in), event::kind::caller_acts,
                           process_.index(), static_cast<std::uint16_t>(index_), ++timer_);
}

void caller::think(core::duration at_least) {
    state_ = state::thinking;
    rests_ = at_least > core::duration{0};
    if (process_.in().healed() && satisfied_) return;
    const auto longest = process_.in().healed() ? core::duration{std::chrono::milliseconds(50)}
                                                : process_.settings().longest_think;
    set_timer(process_.chance().between(at_least, std::max(at_least, longest)));
}

void caller::healed() {
    satisfied_ = false;
    if (state_ == state::thinking) think();
}

void caller::come_along() {
    if (state_ != state::thinking || rests_ || process_.in().healed()) return;
    set_timer(process_.chance().between(core::duration{0}, std::chrono::milliseconds(5)));
}

void caller::act(std::uint32_t generation) {
    if (generation != timer_) return;
    switch (state_) {
        case state::thinking: return ask();
        case state::waiting: return cancel();
        case state::working:
            if (downgrades_) return downgrade();
            return extends_ ? extend() : let_go();
        case state::leaving: return;
    }
}

runtime::acquiring::request caller::draw_wish(core::time_point now) {
    const auto& settings = process_.settings();
    auto& chance = process_.chance();
    limited_ = !settings.renewing || chance.per_mille(100);
    reads_ = settings.shared && chance.per_mille(settings.reads_per_mille);
    runtime::acquiring::request wish{
        .what = client_.plan_for(index_, limited_, settings.is_fair(index_), reads_)};
    const bool hurried = settings.impatient && !process_.in().healed() && chance.coin();
    if (!hurried) return wish;
    const auto patience = chance.between(settings.shortest_wait, settings.longest_wait);
    wish.waits = chance.coin();
    if (wish.waits && chance.coin()) wish.give_up_at = now + patience;
    if (wish.waits && chance.coin()) set_timer(patience);  // to cancel it
    return wish;
}

void caller::ask() {
    process_.maybe_pause(network::pauses_per_write);
    state_ = state::waiting;
    asked_at_ = process_.now();
    ++timer_;
    holder_ = 0;
    say("wants the lock");
    if (process_.settings().crowds) client_.gather();
    auto& engine = *client_.engine();
    const auto lock = engine.lock();
    engine.driving().require_background();
    engine.begin_unattended();
    const auto now = engine.now();
    wish_ = new runtime::acquiring(client_.engine(), draw_wish(now),
                                   [this](runtime::acquiring& over) { decided(over); });
    wish_->start(now);
    engine.submit();
    engine.driving().attend_by(engine.now());
}

void caller::cancel() {
    say("gives up");
    auto& engine = *client_.engine();
    const auto lock = engine.lock();
    wish_->cancel(engine.now());
    engine.submit();
}

// With the client's lock held.
void caller::decided(runtime::acquiring& over) {
    result_ = over.take_result();
    if (result_.won) {
        auto& won = *result_.won;
        const auto until = won.valid_until();
        holder_ = checkers_.decided({.client = process_.index(),
                                     .caller = index_,
                                     .owner = won.owner(),
                                     .token = won.token(),
                                     .asked = asked_at_,
                                     .sent = process_.when(won.gained().sent_at),
                                     .at = process_.now(),
                                     .deadline = process_.when(until),
                                     .stale = until <= client_.around().last_seen(),
                                     .least = won.what().timing.min_validity,
                                     .fair = won.what().fair,
                                     .reads = reads_,
                                     .what = places_of(process_.settings().kind, won)});
        say("has the lock");
    }
    client_.engine()->end_unattended();
    client_.engine()->driving().call_back(answered_);
}

void caller::answered() {
    process_.maybe_pause(network::pauses_per_write);  // before the caller's next line
    wish_.reset();
    const auto result = std::exchange(result_, {});
    hold_ = result.won;
    if (hold_) return work();
    say("does not get the lock");
    // An error that does not pass, such as a server that may not vote, comes at once.
    constexpr core::duration after_error = std::chrono::milliseconds(50);
    think(result.failed ? after_error : core::duration{0});
}

}  // namespace holdfast::sim
