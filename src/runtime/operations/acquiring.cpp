#include "runtime/operations/acquiring.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "runtime/operations/cleanup.hpp"
#include "runtime/operations/listening.hpp"
#include "runtime/operations/proclaiming.hpp"

namespace holdfast::runtime {
namespace {

core::contend::config configure(engine& through, const acquiring::request& wish) HOLDFAST_LOCKED {
    return {.nodes = through.voters_of(wish.what->keys.lock).size(),
            .waits = wish.waits,
            .give_up_at = wish.give_up_at,
            .patience = through.settings().patience};
}

}  // namespace

acquiring::acquiring(engine_pointer through, request wish, listener done)
    : engine_(std::move(through)),
      request_(std::move(wish)),
      done_(std::move(done)),
      id_(engine_->next_id()),
      machine_(configure(*engine_, request_)) {}

acquiring::~acquiring() { assert(queue_ == nullptr || engine_->in_child()); }

template <typename Step>
void acquiring::contain(core::time_point now, Step&& step) noexcept {
    const boost::intrusive_ptr<acquiring> alive(this);
    try {
        step();
    } catch (...) {
        if (concluded_) return;
        if (attempt_) attempt_->cancel(now);
        conclude({.thrown = std::current_exception()}, now);
    }
}

void acquiring::start(core::time_point now) noexcept {
    started_at_ = now;
    if (engine_->closed()) return abort();
    contain(now, [&]() HOLDFAST_LOCKED { begin(now); });
}

void acquiring::begin(core::time_point now) {
    engine_->enroll_timer();
    enrolled_ = true;
    queue_ = &engine_->queues().open(request_.what);
    under_way_ = this;
    if (!request_.waits) {
        // A lease of this very client holds the key: the servers have nothing to add.
        const auto other = local_holder(now);
        if (!other) {
            return step(core::contend::turn{.others = queue_->known_contention()}, now);
        }
        ++engine_->counters().denied;
        return conclude({.denied = *other}, now);
    }
    in_line_ = true;
    engine_->set(*this, request_.give_up_at);
    if (apart()) {
        each_queue([&](wait_queue& here) HOLDFAST_LOCKED { here.join_apart(*this); });
        return step(core::contend::turn{}, now);
    }
    // All at one moment: so the order of who wants several keys is the same in all of them.
    each_queue([&](wait_queue& here) HOLDFAST_LOCKED { here.join(*this, now); });
    waited_ = attempts_ == 0;
}

template <typename Visit>
void acquiring::each_queue(Visit&& visit) const {
    engine_->queues().each(*request_.what, *queue_, std::forward<Visit>(visit));
}

bool acquiring::wants_several() const { return !request_.what->keys.rest().empty(); }

std::optional<attempt::denial> acquiring::local_holder(core::time_point now) const {
    std::optional<attempt::denial> found;
    each_queue([&](const wait_queue& here) HOLDFAST_LOCKED {
        if (!found) found = local_holder(here, now);
    });
    return found;
}

std::optional<attempt::denial> acquiring::local_holder(const wait_queue& here,
                                                       core::time_point now) const {
    const auto* const other = here.holder();
    const bool believed = other != nullptr && !other->lost(now);
    const bool shares = believed && core::compatible(sharing(), other->what().kind->sharing());
    // For who wants what cannot be at the same key the server has an error.
    if (believed && !shares &&
        request_.what->kind->stored_as() == other->what().kind->stored_as()) {
        return attempt::denial{other->owner(), other->valid_until() - now, false};
    }
    // At the only voter whoever waits stands in line, and is not passed there.
    const bool passes = !request_.waits && !request_.what->keys.queued;
    if (passes && here.holds_back(sharing())) return attempt::denial{};
    return std::nullopt;
}

// As it is now: here, or where the last attempt met it.
attempt::denial acquiring::denied_by(core::time_point now) const {
    if (auto here = local_holder(now)) return *here;
    auto there = denial_.value_or(attempt::denial{});
    const bool expires = there.remaining >= core::duration{0};
    if (expires) there.remaining = std::max(there.remaining - (now - denied_at_), core::duration{});
    return there;
}

void acquiring::cancel(core::time_point now) noexcept { step(core::contend::cancelled{}, now); }
// Who wants several keys has its turn when it has that of all of them.
void acquiring::turn(core::duration pause, core::time_point now) noexcept {
    bool everywhere = true;
    if (wants_several()) {
        each_queue([&](const wait_queue& here)
                       HOLDFAST_LOCKED { everywhere = everywhere && here.is_turn_of(*this); });
    }
    if (!everywhere) return;
    step(
        core::contend::turn{
            .others = queue_->known_contention(),
            .pause = pause,
            .stood_behind = waited_,
            // Those who wait behind each other wait for the same servers, each from when it came.
            .out_since = std::max(queue_->out_since(), started_at_)},
        now);
}
// Of many who stand in line apart only the first has to know that the key changed.
void acquiring::notified(core::node_index where, core::time_point now) noexcept {
    if (apart() && denial_ && denial_->place > 1) return;
    listened_to_.clear();  // a server tells of one change only
    const auto voter = engine_->voters_of(request_.what->keys.lock).voter_at(where);
    if (voter) step(core::contend::notified{*voter}, now);
}
bool acquiring::waits_as(std::string_view owner) const {
    if (place_) return place_->owner == owner;
    return attempt_ && !attempt_->machine().decided() && attempt_->owner() == owner;
}
void acquiring::called(core::time_point now) noexcept { step(core::contend::notified{{0}}, now); }
void acquiring::untracked(core::time_point now) noexcept {
    if (listened_to_.empty()) return;
    listened_to_.clear();
    if (place_) contain(now, [&]() HOLDFAST_LOCKED { listen(now); });
}
void acquiring::due(core::time_point now) noexcept { step(core::contend::tick{}, now); }

void acquiring::abort() noexcept { step(core::contend::cancelled{}, engine_->now()); }

void acquiring::step(const core::contend::event& happened, core::time_point now) noexcept {
    if (concluded_) return;
    contain(now, [&]() HOLDFAST_LOCKED {
        carry_out(machine_.step(happened, now, engine_->chance_source().bits64()), now);
    });
}

void acquiring::decided(const attempt& what, core::time_point now) noexcept {
    contain(now, [&]() HOLDFAST_LOCKED {
        const auto verdict = what.outcome();
        core::contend::attempted outcome{.how = verdict};
        if (verdict == core::acquire::verdict::contended) {
            ++engine_->counters().denied;
            outcome.other = what.summary();
            denial_ = what.denied_by();
            denied_at_ = now;
            place_ = attempt_->give_place();
            each_queue([](wait_queue& here) HOLDFAST_LOCKED { here.denied(); });
        }
        if (verdict == core::acquire::verdict::unreachable) {
            const auto why = what.why();
            outcome.hopeless = why.hopeless;
            outcome.emptied = why.emptied;
            each_queue([&](wait_queue& here) HOLDFAST_LOCKED { here.unreachable(now); });
        }
        step(outcome, now);
    });
}

void acquiring::carry_out(const core::contend::decision& next, core::time_point now) {
    if (next.what == core::contend::action::finish) return finish(now);
    engine_->set(*this, next.wake_at);
    if (next.what == core::contend::action::attempt) {
        leave_useless_place(now);
        ++attempts_;
        attempt_ = new attempt(*engine_, request_.what,
                               {.listens = next.listens,
                                .inquires = !request_.waits,
                                .waits = request_.waits,
                                .quiet = queue_->quiet(now)},
                               *this, place_);
        attempt_->start(now);
    } else if (place_) {
        listen(now);
    }
}

// A release by Holdfast calls the first in line. For all others who may let go there is this.
void acquiring::listen(core::time_point now) {
    const auto& what = *request_.what;
    if (what.kind->woken_by(what.keys.lock).empty()) return;
    if (!denial_ || denial_->place != 1 || listened_to_ == denial_->owner) return;
    listened_to_ = denial_->owner;
    const auto& keys = request_.what->keys;
    for (std::size_t n = 0; n < keys.locks(); ++n) {
        listening::start(*engine_, request_.what, keys.lock_at(n), now);
    }
}

core::hand_off_batch acquiring::batch() const {
    const bool by_itself =
        apart() || sharing() != core::alone || wants_several() || request_.what->candidate;
    return by_itself ? core::hand_off_batch{} : queue_->batch_for(*this);
}

// Nobody can tell the next holder from the first holder by the owner token, so its readable part
// must fit.
bool acquiring::may_own_as(const hold& from) const {
    const auto& wish = *request_.what;
    return wish.kind == from.what().kind && sharing() == core::alone && !wants_several() &&
           !wish.candidate && wish.keys.fenced == from.what().keys.fenced &&
           wish.label == from.what().label;
}

bool acquiring::take_over(const core::grant& left, hold& from, core::arrival joined,
                          core::time_point now) noexcept {
    const auto& wished = request_.what->timing;
    if (!may_own_as(from) || machine_.current() == core::contend::state::attempting ||
        !core::may_hand_off(left, from.what().timing, {wished, joined}, now)) {
        return false;
    }
    auto owner = from.hand_off_owner();
    if (!owner) return false;
    const boost::intrusive_ptr<acquiring> alive(this);
    handed_off_ = {
        .what = request_.what, .owner = std::move(*owner), .gained = core::hand_off(left)};
    step(core::contend::handed_off{}, now);
    if (!won_) from.take_back_owner(std::move(handed_off_->owner));
    return won_;
}

void acquiring::finish(core::time_point now) {
    if (handed_off_) return win(*handed_off_, now);
    if (machine_.outcome() == core::acquire::verdict::held) return win_attempt(now);
    if (attempt_) attempt_->cancel(now);  // it may still be under way: the caller's time is over
    if (machine_.outcome() == core::acquire::verdict::contended) {
        return conclude({.denied = denied_by(now)}, now);
    }
    conclude({.failed = why_not()}, now);
}

net::failure acquiring::why_not() const {
    switch (machine_.outcome()) {
        case core::acquire::verdict::too_late:
            return {.message = "granted too late: too little of the ttl is left for a lease"};
        case core::acquire::verdict::cancelled:
            if (engine_->closed())
                return {.code = errc::closed, .message = "the client was closed"};
            return {.code = errc::cancelled, .message = "the caller gave up"};
        case core::acquire::verdict::unreachable: return attempt_->why();
        default: return {.message = "not attempted"};
    }
}

void acquiring::win_attempt(core::time_point now) {
    hold::acquired what{.what = request_.what, .owner = {}, .gained = attempt_->gain()};
    try {
        what.owner = attempt_->give_owner();
        win(what, now);
    } catch (...) {
        attempt_->undo(std::move(what.owner), now);
        throw;
    }
}

// Whatever throws does so first, and leaves the grant as it is.
void acquiring::win(hold::acquired& what, core::time_point now) {
    engine_->reserve_hold();
    each_queue([&](wait_queue& here)
                   HOLDFAST_LOCKED { here.reserve_holder(*request_.what->kind); });
    auto lease = std::make_shared<hold>(engine_, *queue_, std::move(what), now);
    auto& counters = engine_->counters();
    ++counters.acquired;
    if (waited_ || attempts_ > 1) ++counters.waited;
    counters.wait_time.add(now - started_at_);
    if (handed_off_) {
        ++counters.inherited;
    } else {
        const auto asked_at = attempt_->machine().started_at();
        each_queue([&](wait_queue& here)
                       HOLDFAST_LOCKED { here.won(machine_.met(), asked_at, now); });
        attempt_->became(lease);
    }
    won_ = true;
    const auto alive = std::exchange(under_way_, nullptr);
    tell({.won = lease});
    // After its holder was told: to write may take so long that the lease is over meanwhile. That
    // is done for who is next, too.
    lease->start(now);
    lead(lease, now);
    withdraw(now);
    lease->attend(now);
}

void acquiring::lead(const std::shared_ptr<hold>& by, core::time_point now) noexcept {
    const auto& what = request_.what;
    if (!what->candidate) return;
    what->candidate->lease = by;
    engine_->changed_here(what->keys.lock);
    try {
        proclaiming::start(*engine_, what, by->owner(), by->token(), now);
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): a majority knows it
    }
}

// An entry says whether its waiter can be called. Where that has changed with the connection it
// would be passed over as dead, or polled for without need.
void acquiring::leave_useless_place(core::time_point now) noexcept {
    if (!place_) return;
    const auto& voter = engine_->voter(engine_->voters_of(request_.what->keys.lock).node_of({0}));
    if (voter.ready() && voter.subscribed() != place_->entry.callable) leave_place(now);
}

// Whoever of this client is next goes on from where this one stands.
void acquiring::pass_place_on() noexcept {
    if (!place_ || !in_line_ || apart() || wants_several()) return;
    if (queue_->pass_place_on(*this, place_->owner, place_->entry)) place_.reset();
}

bool acquiring::take_place(const plan& of, std::string& owner, const kinds::entry& entry) {
    const bool idle = machine_.current() == core::contend::state::idle && !place_;
    if (!idle || apart() || wants_several() || of.kind != request_.what->kind ||
        of.label != request_.what->label) {
        return false;
    }
    place_ = {std::move(owner), entry};
    return true;
}

// Where it was granted the lock meanwhile that goes to the next.
void acquiring::leave_place(core::time_point now) noexcept {
    const auto left = std::exchange(place_, std::nullopt);
    if (!left) return;
    const auto voter = engine_->voters_of(request_.what->keys.lock).node_of({0});
    const auto until = request_.what->gone_at(now, true);
    const auto entry = kinds::text_of(left->entry, engine_->channel_at(voter));
    try {
        cleanup::start(*engine_, voter, {request_.what, left->owner, until, std::string(entry)},
                       now);
        engine_->submit();
    } catch (const std::bad_alloc&) {
        engine_->owed().owe(voter, request_.what, left->owner, until, entry);
    }
}

void acquiring::conclude(result what, core::time_point now) noexcept {
    const auto alive = std::exchange(under_way_, nullptr);
    tell(std::move(what));
    withdraw(now);
}

void acquiring::tell(result what) noexcept {
    concluded_ = true;
    if (what.failed || what.thrown) ++engine_->counters().failed;
    result_ = std::move(what);
    if (done_) std::exchange(done_, nullptr)(*this);
}

// The queue comes last: whose turn is next may already be finished when leave() returns.
void acquiring::withdraw(core::time_point now) noexcept {
    if (!won_) pass_place_on();
    leave_place(now);
    engine_->cancel(*this);
    if (std::exchange(enrolled_, false)) engine_->withdraw_timer();
    if (std::exchange(in_line_, false)) {
        each_queue([&](wait_queue& here) HOLDFAST_LOCKED { here.leave(*this, now); });
    }
    auto* const from = std::exchange(queue_, nullptr);
    if (from != nullptr) engine_->queues().close(*request_.what, *from);
}

}  // namespace holdfast::runtime
