// What a caller does with the lock while it has it: the other half of `sim/world/caller.hpp`.

#include <utility>

#include "api/release.hpp"
#include "sim/world/client.hpp"

namespace holdfast::sim {

void caller::work() {
    const auto& settings = process_.settings();
    auto& chance = process_.chance();
    const bool healed = process_.in().healed();
    state_ = state::working;
    believed_ = true;
    noticed_ = announced_in_time_ = false;
    believed_since_ = process_.now();
    deadline_ = hold_->valid_until();
    plain_version_ = checkers_.plain_version();
    checkers_.returned(holder_, process_.now(), process_.when(deadline_));
    notice_.emplace(hold_->stop_token(), [this] { told_of_loss(); });
    if (settings.fencing && !reads_ && !settings.of_other_kind())
        client_.visit_register(holder_, hold_->token());
    if (settings.workers > 1 && chance.per_mille(100)) show_owner();
    if (healed) satisfied_ = true;
    auto longest = healed ? settings.timing.ttl / 4 : settings.longest_hold;
    if (settings.crowds && chance.coin()) longest = std::chrono::milliseconds(10);
    const auto whole = chance.between(core::duration{0}, longest);
    extends_ = !healed && chance.per_mille(150);
    downgrades_ =
        settings.shared && !reads_ && !extends_ && chance.per_mille(settings.downgrades_per_mille);
    rest_ = extends_ || downgrades_ ? whole / 2 : core::duration{0};
    set_timer(whole - rest_);
}

void caller::show_owner() {
    say("shows its owner");
    checkers_.shown(holder_, hold_->show_owner());
}

// A careful caller stops working when told; a careless one goes on for a while.
void caller::told_of_loss() {
    say("is told that the lock will be lost");
    noticed_ = true;
    announced_in_time_ = process_.local() < hold_->valid_until();
    if (state_ != state::working || !process_.chance().per_mille(700)) return;
    extends_ = downgrades_ = false;
    set_timer(core::duration{0});
}

void caller::extend() {
    extends_ = false;
    set_timer(rest_);
    if (hold_->announced() || extending_) return;
    say("extends");
    extending_ = true;
    auto& engine = *client_.engine();
    const auto lock = engine.lock();
    engine.begin_unattended();
    const auto ttl = hold_->what().timing.ttl * process_.chance().between(500, 1000) / 1000;
    runtime::renewal::start(hold_, std::max<core::duration>(ttl, std::chrono::milliseconds(50)),
                            engine.now(), [this](const runtime::renewal&) {
                                client_.engine()->end_unattended();
                                client_.engine()->driving().call_back(extended_);
                            });
    engine.submit();
    engine.driving().attend_by(engine.now());
}

void caller::extended() { extending_ = false; }

// What it has written is what it reads from now on.
void caller::downgrade() {
    downgrades_ = false;
    set_timer(rest_);
    if (hold_->announced() || extending_ || hold_->lost(process_.local())) return;
    say("goes on reading");
    write_plain_register();
    plain_version_ = checkers_.plain_version();
    notice_.reset();
    auto& engine = *client_.engine();
    {
        const auto lock = engine.lock();
        extending_ = true;
        engine.begin_unattended();
        const auto gone_at = process_.when(hold_->key_gone_at());
        auto reader = hold_->become_reader(
            [this](const runtime::renewal&) {
                client_.engine()->end_unattended();
                client_.engine()->driving().call_back(extended_);
            },
            engine.now());
        reads_ = true;
        holder_ = checkers_.downgraded(holder_, reader->owner(), process_.now(), gone_at);
        hold_ = std::move(reader);
        engine.submit();
        engine.driving().attend_by(engine.now());
    }
    notice_.emplace(hold_->stop_token(), [this] { told_of_loss(); });
}

void caller::observe() {
    if (!hold_ || !believed_) return;
    const auto until = hold_->valid_until();
    if (until != deadline_) {
        const bool stale = client_.around().first_seen() >= deadline_;
        deadline_ = until;
        say("is renewed");
        checkers_.renewed(holder_, process_.now(), stale, process_.when(until));
        checkers_.check_quorum(holder_, hold_->owner(), process_.when(until));
    }
    if (hold_->lost(process_.local())) lost();
}

void caller::lost() {
    say("has lost the lock");
    check_notice();
    believed_ = false;
}

// Whoever stood still between notice and deadline could not have been told in time.
void caller::check_notice() {
    const auto deadline = process_.when(deadline_);
    const auto notice = process_.when(deadline_ - hold_->what().notice);
    const bool passed = process_.now() >= deadline;
    const bool excused = process_.paused_between(notice, deadline) || believed_since_ >= notice;
    const bool in_time = announced_in_time_ || !passed || excused;
    checkers_.lost(holder_, process_.now(), in_time, limited_);
}

// The caller looks at its deadline, then writes, all at once.
void caller::write_plain_register() {
    if (process_.settings().of_other_kind()) return;  // it protects nothing that is one
    if (process_.local() < hold_->valid_until()) checkers_.plain_write(holder_, plain_version_);
}

// Nobody has written while it read.
void caller::look_at_plain_register() {
    if (process_.local() < hold_->valid_until()) checkers_.plain_read(holder_, plain_version_);
}

void caller::let_go() {
    process_.maybe_pause(network::pauses_per_write);
    if (believed_ && hold_->lost(process_.local())) lost();
    if (believed_ && reads_) look_at_plain_register();
    if (believed_ && !reads_) write_plain_register();
    believed_ = false;
    notice_.reset();
    ++timer_;
    checkers_.release_called(holder_);
    const auto gone_at = process_.when(hold_->key_gone_at());
    const auto how = process_.chance().below(10);
    if (how == 0 && !process_.in().healed()) {
        say("leaves it to lapse");
        detail::detach(*hold_);
        checkers_.over(holder_, process_.now(), gone_at, true);
        hold_.reset();
        return think();
    }
    state_ = state::leaving;
    say("releases");
    if (how < 4) {
        detail::let_go(*hold_);
        // Whoever was handed it has its owner now.
        if (!hold_->owner().empty()) checkers_.over(holder_, process_.now(), gone_at, false);
        hold_.reset();
        return think();
    }
    send_release();
}

void caller::send_release() {
    auto& engine = *client_.engine();
    const auto gone_at = process_.when(hold_->key_gone_at());
    const auto lock = engine.lock();
    engine.begin_unattended();
    const auto how = hold_->release([this](const runtime::releasing& over) {
        outcome_ = over.outcome();
        client_.engine()->end_unattended();
        client_.engine()->driving().call_back(left_);
    });
    if (how != runtime::release_path::handed_off) {
        checkers_.over(holder_, process_.now(), gone_at, false);
    }
    if (how != runtime::release_path::sent) {
        outcome_ = core::release::verdict::none;
        engine.end_unattended();
        engine.driving().call_back(left_);
    }
    engine.driving().attend_by(engine.now());
}

void caller::left() {
    if (outcome_ == core::release::verdict::released) checkers_.released(holder_);
    hold_.reset();
    think();
}

}  // namespace holdfast::sim
