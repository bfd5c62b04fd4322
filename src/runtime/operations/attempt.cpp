#include "runtime/operations/attempt.hpp"

#include <algorithm>
#include <utility>

#include "kinds/owners.hpp"
#include "runtime/operations/failures.hpp"
#include "runtime/operations/hold.hpp"

namespace holdfast::runtime {
namespace {

// A tag names the node in four bits, the question in four, and the token of a commit
// in the rest: tokens stay below 2^53.
net::exchange::tag pack(core::node_index node, std::uint8_t question, core::fencing_token token) {
    return token.value << 8U | static_cast<net::exchange::tag>(question) << 4U | node.value;
}
core::node_index node_in(net::exchange::tag request) {
    return {static_cast<std::uint8_t>(request & 15U)};
}
std::uint8_t question_in(net::exchange::tag request) {
    return static_cast<std::uint8_t>(request >> 4U & 15U);
}
core::fencing_token token_in(net::exchange::tag request) { return {request >> 8U}; }

}  // namespace

attempt::attempt(engine& through, plan_pointer what, manner how, listener& whom,
                 std::optional<place>& held)
    : engine_(through),
      what_(std::move(what)),
      voters_(through.voters_of(what_->keys.lock)),
      how_(how),
      listener_(&whom),
      machine_({.nodes = voters_.size(), .timing = what_->timing}),
      tracked_(how.listens) {
    if (!held) {
        owner_ = through.make_owner(*what_->kind, what_->label);
        return;
    }
    owner_ = std::move(held->owner);
    entry_ = held->entry;
    in_line_ = true;
    held.reset();
}

void attempt::start(core::time_point now) {
    if (engine_.membership_check().over()) return carry_out(machine_.start(now), now);
    engine_.membership_check().wait(this, now);
}

void attempt::resume(core::time_point now) noexcept {
    if (listener_ != nullptr) carry_out(machine_.start(now), now);
}

void attempt::cancel(core::time_point now) noexcept {
    listener_ = nullptr;
    if (!started()) return;
    carry_out(machine_.step(core::acquire::cancelled{}, now), now);
}

void attempt::undo(std::string owner, core::time_point now) noexcept {
    if (!owner.empty()) owner_ = std::move(owner);
    release_on(voters_.voters(), now);
}

std::string attempt::give_owner() { return voters_.size() == 1 ? std::move(owner_) : owner_; }

// Who asked to stand in line for the first time, and was not let in, has nothing to leave.
std::optional<attempt::place> attempt::give_place() {
    const auto* const denied = strongest_denial();
    const bool kept_out = !in_line_ && denied != nullptr && denied->place == 0;
    if (!entry_ || kept_out) return std::nullopt;
    return place{std::move(owner_), *std::exchange(entry_, std::nullopt)};
}

std::string_view attempt::entry() const {
    if (!entry_) return {};
    return kinds::text_of(*entry_, engine_.channel_at(voters_.node_of({0})));
}

// It passes the queue, if there is one.
bool attempt::takes_shortcut() const {
    const bool passes_nobody = !what_->keys.queued || (how_.quiet && !in_line_);
    return what_->kind->has_shortcut(what_->keys) && !how_.listens && passes_nobody;
}

// When it is first written: the connection is there then, and says how we can be called.
kinds::claim attempt::claim_in_line(const net::voter& voter) {
    if (how_.waits && what_->keys.queued && !entry_) {
        entry_ = {.since = voter.time_at(engine_.now()), .callable = voter.subscribed()};
    }
    auto claim = what_->claim_by(owner_, entry());
    claim.in_line = in_line_;
    return claim;
}

void attempt::encode(tag request, bool by_text, std::string& out) {
    const auto node = node_in(request);
    const auto how = static_cast<question>(question_in(request));
    if (how == question::undo) {
        // By text: nobody may be there to read that the server does not know the script.
        return what_->kind->release(out, true, what_->claim_by(owner_, entry()));
    }
    if (how == question::commit) {
        return what_->kind->commit(out, by_text, what_->claim_by(owner_), token_in(request));
    }
    const auto tokens = batch().tokens;
    if (how == question::vote && takes_shortcut()) {
        what_->kind->acquire_by_shortcut(out, what_->claim_by(owner_));
    } else {
        what_->kind->acquire(out, by_text, claim_in_line(at(node)),
                             {.tokens = tokens, .floor = at(node).judge().floor()});
    }
}

// All nodes are asked for as many tokens, whenever they are: a token is counted back from the last.
const core::hand_off_batch& attempt::batch() {
    if (!batch_) batch_ = listener_ != nullptr ? listener_->batch() : core::hand_off_batch{};
    return *batch_;
}

bool attempt::wanted(tag request) const {
    if (!machine_.decided() || static_cast<question>(question_in(request)) == question::undo)
        return true;
    const auto lease = lease_.lock();
    return lease && !lease->ended();
}

bool attempt::asks_for_vote(tag request) const {
    const auto how = static_cast<question>(question_in(request));
    return how == question::vote || how == question::inquiry;
}

bool attempt::asks_for_token(tag request) const {
    return what_->keys.fenced && asks_for_vote(request);
}

bool attempt::asks_for_notification(tag request) const {
    return how_.listens && !what_->keys.queued && asks_for_vote(request);
}

void attempt::answered(tag request, std::string_view reply) {
    const auto node = node_in(request);
    const auto how = static_cast<question>(question_in(request));
    const auto& kind = *what_->kind;
    const resp::view said(reply);
    if (how == question::undo) return on_undo(node, kind.read_release(said));
    if (how == question::commit) {
        return on_commit(node, token_in(request), kind.read_ownership(said));
    }
    const bool shortcut = how == question::vote && takes_shortcut();
    on_vote(node, how, shortcut ? kind.read_shortcut(said) : kind.read_acquire(said));
}

// What is in quarantine, or is being moved, was not asked: it denies, and there is nothing to clean
// up.
void attempt::failed(tag request, const net::failure& why) noexcept {
    const auto node = node_in(request);
    if (static_cast<question>(question_in(request)) == question::undo) {
        return engine_.owed().owe(voters_.node_of(node), what_, owner_, key_gone_at(), entry());
    }
    if (why.quarantine || why.moving) {
        try {
            deny(node,
                 {{}, *(why.quarantine ? why.quarantine : why.moving), why.quarantine.has_value()});
            return step(core::acquire::denied{node});
        } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): it did not answer, then
        }
    }
    note(node, why);
    step(core::acquire::unknown{node});
}

void attempt::on_vote(core::node_index node, question how, const kinds::vote_answer& answer) {
    if (const auto* won = std::get_if<kinds::granted>(&answer)) {
        slot_ = won->slot;
        return gained(node, question::vote, won->counter);
    }
    if (const auto* other = std::get_if<kinds::denied>(&answer)) {
        // The inquiry learns who, and for how long, or stands in line. It may even win.
        const bool knows_little = how == question::vote && takes_shortcut();
        const bool wants_more = how_.inquires || (how_.waits && what_->keys.queued);
        if (knows_little && wants_more && !machine_.decided()) {
            ask(node, question::inquiry, {}, engine_.now());
            return engine_.submit();
        }
        deny(node, {std::string(other->owner), other->remaining, false, other->place});
    } else {
        note(node, std::get<net::failure>(answer));
        return step(core::acquire::unknown{node});
    }
    step(core::acquire::denied{node});
}

void attempt::on_commit(core::node_index node, core::fencing_token token,
                        const kinds::ownership_answer& answer) {
    if (const auto* why = std::get_if<net::failure>(&answer)) {
        note(node, *why);
        step(core::acquire::unknown{node});
    } else if (std::get<kinds::ownership>(answer) == kinds::ownership::ours) {
        gained(node, question::commit, token);
    } else {
        step(core::acquire::disowned{node});
    }
}

void attempt::gained(core::node_index node, question how, core::fencing_token token) {
    auto& voter = at(node);
    if (!voter.acknowledges()) return count(node, how, token);
    voter.acknowledge(this, pack(node, static_cast<std::uint8_t>(how), token));
}

void attempt::acknowledged(tag request) noexcept {
    count(node_in(request), static_cast<question>(question_in(request)), token_in(request));
}

void attempt::count(core::node_index node, question how, core::fencing_token token) noexcept {
    if (how == question::commit) {
        step(core::acquire::committed{node, token});
    } else {
        step(core::acquire::granted{node, token});
    }
}

void attempt::on_undo(core::node_index node, const kinds::release_answer& answer) {
    if (const auto* why = std::get_if<net::failure>(&answer)) {
        engine_.owed().refused(voters_.node_of(node), what_, owner_, key_gone_at(), *why, entry());
    } else {
        engine_.owed().settled(voters_.node_of(node), owner_);
    }
}

void attempt::note(core::node_index node, const net::failure& why) noexcept {
    try {
        failures_.resize(voters_.size());
    } catch (const std::bad_alloc&) {
        return;  // it has failed for no reason that could be told
    }
    failures_[node.value] = net::copy_of(why);
}

void attempt::deny(core::node_index node, denial why) {
    tracked_ = tracked_ && !why.quarantine && at(node).tracking();
    denials_.resize(voters_.size());
    denials_[node.value] = std::move(why);
}

void attempt::step(const core::acquire::event& happened) noexcept {
    const auto now = engine_.now();
    carry_out(machine_.step(happened, now), now);
}

void attempt::carry_out(const core::acquire::actions& next, core::time_point now) noexcept {
    const boost::intrusive_ptr<attempt> alive(this);
    // A node that is known to be out fails at once, and that may decide the attempt: what has not
    // been asked by then must not be, or its grant would follow the release.
    for (const auto node : next.acquire_on) {
        if (!machine_.decided()) ask(node, question::vote, {}, now);
    }
    for (const auto node : next.commit_on) ask(node, question::commit, next.commit, now);
    if (!next.release_on.empty()) release_on(next.release_on, now);
    if (next.decided && listener_ != nullptr) {
        std::exchange(listener_, nullptr)->decided(*this, now);
    }
}

void attempt::ask(core::node_index node, question how, core::fencing_token token,
                  core::time_point now) noexcept {
    engine_.send(voters_.node_of(node), this, pack(node, static_cast<std::uint8_t>(how), token),
                 now);
}

// Nobody waits for it: the answers are read when they would be overdue, at the latest.
void attempt::release_on(core::node_set nodes, core::time_point now) noexcept {
    for (const auto node : nodes) ask(node, question::undo, {}, now);
    engine_.driving().attend_by(engine_.overdue_at());
}

core::time_point attempt::key_gone_at() const {
    return what_->gone_at(engine_.now(), entry_.has_value());
}

core::grant attempt::gain() const {
    auto first = core::first_grant(machine_.started_at(), machine_.valid_until(), machine_.token(),
                                   batch_.value_or(core::hand_off_batch{}));
    first.slot = slot_;
    return first;
}

core::denial_summary attempt::summary() const {
    std::array<core::duration, core::max_nodes> remaining{};
    std::size_t count = 0;
    for (const auto& other : denials_) {
        if (other) remaining[count++] = other->remaining;
    }
    const auto* const strongest = strongest_denial();
    auto learned = core::summarize({.remaining = {remaining.data(), count},
                                    .nodes = voters_.size(),
                                    .unknown = machine_.unknown_from().size(),
                                    .strongest = strongest == nullptr ? 0 : votes_for(*strongest),
                                    .tracked = tracked_});
    if (what_->keys.queued && strongest != nullptr) {
        learned.place = strongest->place;
        learned.called = at({0}).subscribed() && entry_ && entry_->callable;
    }
    return learned;
}

std::size_t attempt::votes_for(const denial& who) const {
    return static_cast<std::size_t>(std::count_if(
        denials_.begin(), denials_.end(),
        [&](const auto& other) { return other && kinds::same_holders(other->owner, who.owner); }));
}

const attempt::denial* attempt::strongest_denial() const {
    const denial* strongest = nullptr;
    for (const auto& candidate : denials_) {
        if (!candidate) continue;
        if (strongest == nullptr || votes_for(*candidate) > votes_for(*strongest)) {
            strongest = &*candidate;
        }
    }
    return strongest;
}

// A server in quarantine was not asked. Where those out of reach alone keep a majority from it, it
// keeps nobody: waiting for its end does not help.
core::acquire::verdict attempt::outcome() const {
    const auto decided = machine_.outcome();
    const bool asked = std::any_of(denials_.begin(), denials_.end(),
                                   [](const auto& other) { return other && !other->quarantine; });
    if (decided != core::acquire::verdict::contended || asked) return decided;
    std::size_t in_reach = 0;
    for (const auto node : voters_.voters()) {
        if (at(node).ready()) ++in_reach;
    }
    return voters_.carries(in_reach) ? decided : core::acquire::verdict::unreachable;
}

// Servers in quarantine that leave a majority keep the lock from nobody: whoever holds it does.
std::optional<attempt::denial> attempt::denied_by() const {
    const auto* const strongest = strongest_denial();
    if (strongest == nullptr) return std::nullopt;
    if (!strongest->quarantine || voters_.prevents(votes_for(*strongest))) {
        return *strongest;
    }
    const auto holder = std::find_if(denials_.begin(), denials_.end(),
                                     [](const auto& other) { return other && !other->quarantine; });
    return holder != denials_.end() ? *holder : *strongest;
}

net::failure attempt::why() const {
    auto all = failures_;
    if (!started() || machine_.outcome() == core::acquire::verdict::cancelled) {
        all.resize(voters_.size());
        for (const auto node : silent()) {
            if (!all[node.value]) all[node.value] = why_silent(node);
        }
    }
    return summarize_failures(engine_, voters_, all, machine_.granted_by().size(),
                              machine_.denied_by().size());
}

net::failure attempt::why_silent(core::node_index which) const {
    const auto& node = at(which);
    if (node.was_tried() && !node.ready()) return node.last_failure();
    if (started() || !node.was_tried()) return {.message = "no answer yet"};
    return {.message = "not asked before every server was tried"};
}

core::node_set attempt::silent() const {
    return voters_.voters() - machine_.granted_by() - machine_.denied_by();
}

}  // namespace holdfast::runtime
