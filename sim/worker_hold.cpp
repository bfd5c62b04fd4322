// What a caller does with the lock while it has it: the other half of `sim/worker.hpp`.

#include "sim/breakage.hpp"
#include "sim/client.hpp"
#include "sim/worker.hpp"

namespace holdfast::sim {
namespace {

std::int64_t in_ms(core::duration d) {
    return std::chrono::ceil<std::chrono::milliseconds>(d).count();
}

}  // namespace

void worker::hold() {
    const auto& settings = process_.settings();
    state_ = state::working;
    core::keeper::config wishes{.timing = timing(),
                                .renewing = settings.renewing,
                                .renew_every = settings.renew_every,
                                .retry_every = settings.timing.ttl / 12,
                                .notice = settings.notice};
    limited_ = !settings.renewing || process_.chance().per_mille(100);
    if (limited_ && settings.renewing) {
        wishes.hold_until = process_.local() + settings.timing.ttl * 2;
    }
    keeper_.emplace(wishes, gained_.sent_at, gained_.valid_until);
    announced_in_time_ = false;
    process_.maybe_pause();  // between the decision and the caller's next line
    believed_ = true;
    believed_since_ = process_.now();
    plain_version_ = checkers_.plain_version();
    checkers_.returned(holder_, process_.now(), process_.when(keeper_->valid_until()));
    if (settings.fencing) client_.visit_register(holder_, gained_.token);
    if (settings.workers > 1 && process_.chance().per_mille(100)) show_owner();
    if (process_.in().healed()) satisfied_ = true;
    auto longest = process_.in().healed() ? settings.timing.ttl / 4 : settings.longest_hold;
    if (settings.crowds && process_.chance().coin()) longest = std::chrono::milliseconds(10);
    process_.arm(slot_of(timer::plan),
                 process_.local() + process_.chance().between(core::duration{0}, longest));
    follow(keeper_->due(process_.local()));
}

void worker::show_owner() {
    say("shows its owner");
    gained_.shown = true;
    checkers_.shown(holder_, owner_);
}

void worker::follow(const core::keeper::decision& decision) {
    process_.arm(slot_of(timer::keeper), decision.wake_at);
    switch (decision.what) {
        case core::keeper::action::none: return;
        case core::keeper::action::renew: return renew(decision.ttl);
        case core::keeper::action::announce: return announce();
        case core::keeper::action::lose: return lose();
    }
}

void worker::renew(core::duration ttl) {
    auto asked_for = timing();
    asked_for.ttl = ttl;
    ++renewal_;
    renew_.emplace(core::renew::config{.nodes = process_.settings().nodes,
                                       .timing = asked_for,
                                       .old_deadline = keeper_->valid_until()});
    gone_by_ = std::max(gone_by_, process_.local() + ttl);
    gained_.unchanged = false;
    const auto actions = renew_->start(process_.local());
    process_.maybe_pause();
    core::node_set out_of_reach;
    actions.extend_on.for_each([&](core::node_index node) {
        if (!client_.to(node).ready()) return out_of_reach.insert(node);
        client_.to(node).send({.what = operation::extend,
                               .worker = index_,
                               .owner = owner_,
                               .ttl_ms = in_ms(ttl),
                               .attempt = renewal_});
    });
    out_of_reach.for_each([&](core::node_index node) {
        carry_out(renew_->step(core::renew::unknown{node}, process_.local()));
    });
    if (actions.decided) carry_out(actions);
}

void worker::carry_out(const core::renew::actions& actions) {
    if (!actions.decided || !keeper_) return;
    const auto before = keeper_->valid_until();
    const auto decision = keeper_->renewed(*renew_, process_.local());
    if (keeper_->valid_until() != before && believed_) {
        checkers_.renewed(holder_, process_.now(), process_.when(keeper_->valid_until()));
    }
    follow(decision);
}

// A careful caller stops working when told; a careless one goes on for a while.
void worker::announce() {
    say("is told that the lock will be lost");
    announced_in_time_ = process_.local() < keeper_->valid_until();
    if (process_.chance().per_mille(700)) process_.arm(slot_of(timer::plan), process_.local());
}

void worker::lose() {
    say("has lost the lock");
    check_notice();
    believed_ = false;
    client_.manners().freed(process_.local());
    client_.pass_turn(client_.line().freed(id_));
}

// Whoever stood still between notice and deadline could not have been told in time.
void worker::check_notice() {
    const auto deadline = process_.when(keeper_->valid_until());
    const auto notice = process_.when(keeper_->valid_until() - process_.settings().notice);
    const bool passed = process_.now() >= deadline;
    const bool excused = process_.paused_between(notice, deadline) || believed_since_ >= notice;
    const bool in_time = announced_in_time_ || !passed || excused;
    checkers_.lost(holder_, process_.now(), in_time, limited_);
}

// The caller looks at its deadline, then writes, all at once.
void worker::write_plain_register() {
    if (process_.local() < keeper_->valid_until()) checkers_.plain_write(holder_, plain_version_);
}

void worker::let_go() {
    if (believed_ && process_.local() >= keeper_->valid_until()) check_notice();
    if (believed_) write_plain_register();
    say("releases");
    auto left = gained_;
    left.unchanged = left.unchanged && believed_ && keeper_->current() == core::keeper::state::held;
    believed_ = false;
    keeper_->close();
    process_.arm(slot_of(timer::keeper), core::never);
    checkers_.release_called(holder_, process_.now());
    process_.maybe_pause();
    if (pass_on(left)) return;
    send_release();
    checkers_.over(owner_, process_.now(), process_.when(gone_by_));
    keeper_.reset();
    renew_.reset();
    const auto next = client_.line().freed(id_);
    client_.manners().freed(process_.local());
    const auto gap = next ? client_.manners().next(process_.local()) : core::courtesy::gap{};
    think();
    client_.pass_turn(next, gap);
}

void worker::send_release() {
    releasing_ = owner_;
    release_.emplace(process_.settings().nodes);
    const auto actions = release_->start();
    actions.release_on.for_each([&](core::node_index node) {
        const bool landed = written_.contains(node);
        const bool ready = client_.to(node).ready();
        const request asked{.what = operation::release, .worker = index_, .owner = owner_};
        client_.release_on(node, asked, gone_by_, landed);
        if (!ready) carry_out(release_->step(core::release::unknown{node}));
    });
}

bool worker::pass_on(const core::estate& left) {
    const auto next = client_.line().heir();
    if (!next || !client_.line().holds(id_)) return false;
    if (!client_.find(next->who)->inherit({left, owner_, written_, gone_by_}, next->joined)) {
        return false;
    }
    keeper_.reset();
    renew_.reset();
    if (broken(breakage::released_and_passed_on)) send_release();
    think();
    return true;
}

void worker::carry_out(const core::release::actions& actions) {
    if (actions.decided && release_->outcome() == core::release::verdict::released) {
        checkers_.released(releasing_);
    }
}

}  // namespace holdfast::sim
