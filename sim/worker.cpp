#include "sim/worker.hpp"

#include "sim/breakage.hpp"
#include "sim/client.hpp"

namespace holdfast::sim {
namespace {

// What the scripts' first integer means; each Lua file opens with the same list.
enum class acquire_answer : std::int64_t { held_by_other, granted };

std::int64_t in_ms(core::duration d) {
    return std::chrono::ceil<std::chrono::milliseconds>(d).count();
}

}  // namespace

worker::worker(client& of, std::uint32_t index)
    : client_(of), process_(of.self()), checkers_(of.watched()), index_(index), id_(index + 1) {}

process::slot worker::slot_of(timer which) const {
    return static_cast<process::slot>(client::worker_slots_from) + index_ * timers +
           static_cast<process::slot>(which);
}

core::timing worker::timing() const {
    auto result = process_.settings().timing;
    if (broken(breakage::no_allowance_for_clock_rate)) result.drift_per_mille = 0;
    return result;
}

std::uint64_t worker::chance() { return process_.chance().next(); }

void worker::say(const char* what) const {
    if (!process_.in().traced()) return;
    const auto who = "client " + std::to_string(process_.index()) + "." + std::to_string(index_);
    process_.in().tracer().line(process_.now(), who.c_str(), "%s (o%u)", what, owner_);
}

void worker::start() { think(); }

void worker::think() {
    state_ = state::thinking;
    if (process_.in().healed() && satisfied_) return;
    const auto longest = process_.in().healed() ? core::duration{std::chrono::milliseconds(50)}
                                                : process_.settings().longest_think;
    process_.arm(slot_of(timer::plan),
                 process_.local() + process_.chance().between(core::duration{0}, longest));
}

void worker::healed() {
    satisfied_ = false;
    if (state_ == state::thinking) think();
}

void worker::come_along() {
    if (state_ != state::thinking || process_.in().healed()) return;
    process_.arm(slot_of(timer::plan),
                 process_.local() +
                     process_.chance().between(core::duration{0}, std::chrono::milliseconds(5)));
}

void worker::begin() {
    const auto& settings = process_.settings();
    const bool hurried = settings.impatient && !process_.in().healed();
    core::contend::config wishes{.nodes = settings.nodes,
                                 .patience = settings.timing.ttl * 4,
                                 .longest_delay = settings.longest_poll};
    if (hurried && process_.chance().coin()) {
        wishes.waits = process_.chance().coin();
        wishes.give_up_at = process_.local() + process_.chance().between(settings.shortest_wait,
                                                                         settings.longest_wait);
    }
    state_ = state::waiting;
    asked_at_ = process_.now();
    contend_.emplace(wishes);
    process_.arm(slot_of(timer::contend), wishes.give_up_at);
    say("wants the lock");
    if (settings.crowds && client_.line().idle()) client_.gather();
    if (client_.line().join(id_)) turn(client_.manners().next(process_.local()));
}

void worker::turn(const core::courtesy::gap& left) {
    follow(contend_->step(
        core::contend::turn{
            .others = client_.rivals(), .pause = left.pause, .head_start = left.head_start},
        process_.local(), chance()));
}

void worker::told(core::node_index node) {
    if (state_ != state::waiting) return;
    follow(contend_->step(core::contend::told{node}, process_.local(), chance()));
}

void worker::follow(const core::contend::decision& decision) {
    process_.arm(slot_of(timer::contend), decision.wake_at);
    switch (decision.what) {
        case core::contend::action::none: return;
        case core::contend::action::attempt: return attempt(decision.listens);
        case core::contend::action::finish: return stop_waiting();
    }
}

void worker::attempt(bool listens) {
    const auto& settings = process_.settings();
    // Even without any answer there is a new owner for the next attempt.
    const bool again = broken(breakage::owner_token_used_again) && owner_ != 0;
    if (!again) owner_ = checkers_.begin_attempt(process_.index(), index_, process_.now());
    batch_ = core::batch_for(id_, client_.line());
    acquire_.emplace(core::acquire::config{.nodes = settings.nodes, .timing = timing()});
    remaining_.clear();
    deniers_.clear();
    listens_ = listens;
    all_tracked_ = listens;
    written_ = {};
    gone_by_ = process_.local() + settings.timing.ttl;
    say("attempts");
    const auto actions = acquire_->start(process_.local());
    process_.maybe_pause();
    carry_out(actions);
}

// Everything is written before anything is concluded: a conclusion may send releases, and those
// must follow the requests that they undo.
void worker::carry_out(const core::acquire::actions& actions) {
    actions.acquire_on.for_each([&](core::node_index node) {
        ask(node);
        if (broken(breakage::concluded_before_all_is_written) && !acquire_->decided()) {
            conclude_unasked(node);
        }
    });
    actions.commit_on.for_each([&](core::node_index node) {
        if (!client_.to(node).ready()) return;
        client_.to(node).send({.what = operation::commit,
                               .worker = index_,
                               .owner = owner_,
                               .token = actions.commit.value});
    });
    actions.release_on.for_each([&](core::node_index node) { clean_up(node); });
    const auto attempt = owner_;
    (actions.acquire_on | actions.commit_on).for_each([&](core::node_index node) {
        if (attempt == owner_ && !acquire_->decided()) conclude_unasked(node);
    });
    if (actions.decided) attempt_decided();
}

void worker::ask(core::node_index node) {
    auto& to = client_.to(node);
    if (!to.ready() || to.standing() != core::judge::standing::fit) return;
    written_.insert(node);
    checkers_.vote_asked(process_.index(), node.value, process_.now());
    to.send({.what = operation::acquire,
             .worker = index_,
             .owner = owner_,
             .ttl_ms = in_ms(process_.settings().timing.ttl),
             .tokens = broken(breakage::tokens_of_heirs_not_drawn) ? 1 : batch_.tokens,
             .floor = to.floor(),
             .listens = listens_});
}

// A node that is out of reach, or whose vote is void, was not asked and says nothing. Neither was
// one in quarantine, but of that one it is known.
void worker::conclude_unasked(core::node_index node) {
    auto& to = client_.to(node);
    if (to.ready() && written_.contains(node)) return;
    if (to.ready() && to.standing() == core::judge::standing::quarantined) {
        return denied(node, to.quarantine_left(), {}, false);
    }
    acquire_event(core::acquire::unknown{node});
}

void worker::clean_up(core::node_index node) {
    const bool unknown = acquire_->unknown_from().contains(node);
    if (unknown && broken(breakage::unknown_not_cleaned_up)) return;
    const request asked{.what = operation::release, .worker = index_, .owner = owner_};
    client_.release_on(node, asked, gone_by_, written_.contains(node));
}

void worker::acquire_event(const core::acquire::event& happened) {
    carry_out(acquire_->step(happened, process_.local()));
}

void worker::denied(core::node_index node, core::duration remaining, std::string_view by,
                    bool tracked) {
    if (!acquire_->decided()) {
        remaining_.push_back(remaining);
        deniers_.emplace_back(by);
        all_tracked_ = all_tracked_ && tracked;
    }
    acquire_event(core::acquire::denied{node});
}

core::rival worker::rival() const {
    std::ptrdiff_t strongest = 0;
    for (const auto& each : deniers_) {
        strongest = std::max(strongest, std::ranges::count(deniers_, each));
    }
    return core::summarize({.remaining = remaining_,
                            .nodes = process_.settings().nodes,
                            .unknown = acquire_->unknown_from().size(),
                            .strongest = static_cast<std::size_t>(strongest),
                            .tracked = all_tracked_});
}

void worker::attempt_decided() {
    const auto how = acquire_->outcome();
    if (how == core::acquire::verdict::contended) {
        client_.manners().denied();
        client_.rivals().known = true;
    }
    if (how == core::acquire::verdict::held) {
        say("has the lock");
        client_.manners().won(acquire_->started_at(), process_.local());
        gained_ =
            core::found(acquire_->started_at(), acquire_->valid_until(), acquire_->token(), batch_);
        holder_ = owner_;
        checkers_.decided(holder_, gained_.token, process_.now(),
                          process_.when(gained_.valid_until));
    } else {
        say("failed");
        checkers_.over(owner_, process_.now(), process_.when(gone_by_));
    }
    if (state_ != state::waiting || contend_->current() != core::contend::state::attempting) return;
    core::contend::attempted outcome{.how = how};
    if (how == core::acquire::verdict::contended) {
        outcome.other = rival();
    }
    follow(contend_->step(outcome, process_.local(), chance()));
}

bool worker::inherit(const legacy& from, core::arrival joined) {
    if (contend_->current() == core::contend::state::attempting ||
        !core::may_inherit(from.left, timing(), {timing(), joined}, process_.local())) {
        return false;
    }
    acquire_.reset();
    owner_ = from.owner;
    written_ = from.written;
    gone_by_ = from.gone_by;
    gained_ = core::inherit(from.left);
    holder_ = checkers_.begin_attempt(process_.index(), index_, asked_at_);
    say("is handed the lock");
    checkers_.handed_off(holder_, owner_);
    checkers_.decided(holder_, gained_.token, process_.now(), process_.when(gained_.valid_until));
    follow(contend_->step(core::contend::inherited{}, process_.local(), chance()));
    return true;
}

// The caller's wait is over, for better or worse. An attempt that still runs is called off.
void worker::stop_waiting() {
    process_.arm(slot_of(timer::contend), core::never);
    state_ = state::thinking;
    if (acquire_ && !acquire_->decided()) acquire_event(core::acquire::cancelled{});
    if (contend_->outcome() == core::acquire::verdict::held) {
        if (holder_ == owner_) client_.rivals() = contend_->met(gained_);  // not inherited
        client_.line().took(id_);
        return hold();
    }
    say("gave up");
    const auto next = client_.line().leave(id_);
    think();
    client_.pass_turn(next);
}

void worker::answered(core::node_index node, const request& asked, const value& answer) {
    process_.maybe_pause();
    const bool yes = answer.number == 1;
    switch (asked.what) {
        case operation::acquire:
            if (asked.owner == owner_ && acquire_) acquire_answered(node, answer);
            return;
        case operation::commit:
            if (asked.owner != owner_ || !acquire_) return;
            if (!yes) return acquire_event(core::acquire::disowned{node});
            return acquire_event(core::acquire::committed{node, core::fencing_token{asked.token}});
        case operation::extend:
            if (asked.attempt != renewal_ || !renew_) return;
            if (!yes) return carry_out(renew_->step(core::renew::disowned{node}, process_.local()));
            return carry_out(renew_->step(core::renew::extended{node}, process_.local()));
        case operation::release:
            if (asked.owner != releasing_ || !release_) return;
            if (!yes) return carry_out(release_->step(core::release::disowned{node}));
            return carry_out(release_->step(core::release::released{node}));
        default: return;
    }
}

void worker::acquire_answered(core::node_index node, const value& answer) {
    switch (static_cast<acquire_answer>(answer.items[0].number)) {
        case acquire_answer::granted: {
            const auto counter = static_cast<std::uint64_t>(answer.items[1].number);
            return acquire_event(core::acquire::granted{node, core::fencing_token{counter}});
        }
        case acquire_answer::held_by_other:
            return denied(node, std::chrono::milliseconds(answer.items[2].number),
                          answer.items[1].text, client_.to(node).tracked());
    }
}

void worker::unknown(core::node_index node, const request& asked) {
    switch (asked.what) {
        case operation::acquire:
        case operation::commit:
            if (asked.owner != owner_ || !acquire_) return;
            return acquire_event(core::acquire::unknown{node});
        case operation::extend:
            if (asked.attempt != renewal_ || !renew_) return;
            return carry_out(renew_->step(core::renew::unknown{node}, process_.local()));
        case operation::release:
            if (asked.owner != releasing_ || !release_) return;
            return carry_out(release_->step(core::release::unknown{node}));
        default: return;
    }
}

bool worker::still_wanted(core::node_index, const request& asked) const {
    switch (asked.what) {
        case operation::acquire:
        case operation::commit: return asked.owner == owner_ && acquire_ && !acquire_->decided();
        case operation::extend: return asked.attempt == renewal_ && renew_ && keeper_;
        default: return true;
    }
}

void worker::on_timer(timer which) {
    switch (which) {
        case timer::plan: return state_ == state::working ? let_go() : begin();
        case timer::contend:
            return follow(contend_->step(core::contend::tick{}, process_.local(), chance()));
        case timer::keeper:
            if (keeper_) follow(keeper_->due(process_.local()));
            return;
    }
}

}  // namespace holdfast::sim
