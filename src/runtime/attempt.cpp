#include "runtime/attempt.hpp"

#include <algorithm>
#include <utility>

#include "holdfast/clock.hpp"
#include "runtime/cleanup.hpp"
#include "runtime/failures.hpp"
#include "runtime/hold.hpp"

namespace holdfast::runtime {
namespace {

// A tag names the node in four bits, the kind of request in four, and the token of a commit
// in the rest: tokens stay below 2^53.
net::exchange::tag pack(core::node_index node, std::uint8_t kind, core::fencing_token token) {
    return token.value << 8U | static_cast<net::exchange::tag>(kind) << 4U | node.value;
}
core::node_index node_in(net::exchange::tag request) {
    return {static_cast<std::uint8_t>(request & 15U)};
}
std::uint8_t kind_in(net::exchange::tag request) {
    return static_cast<std::uint8_t>(request >> 4U & 15U);
}
core::fencing_token token_in(net::exchange::tag request) { return {request >> 8U}; }

}  // namespace

attempt::attempt(engine& through, plan_pointer what, manner how, listener& whom)
    : engine_(through),
      what_(std::move(what)),
      how_(how),
      listener_(&whom),
      owner_(make_owner_token(through.chance_source(), through.signature(), what_->label)),
      machine_({.nodes = through.node_count(), .timing = what_->timing}),
      tracked_(how.listens) {}

void attempt::start(core::time_point now) { carry_out(machine_.start(now), now); }

void attempt::cancel(core::time_point now) {
    listener_ = nullptr;
    carry_out(machine_.step(core::acquire::cancelled{}, now), now);
}

std::string attempt::give_owner() { return engine_.node_count() == 1 ? std::move(owner_) : owner_; }

// SET NX PX needs no script, but tells nothing about who holds the key, and reads nothing that the
// server could tell us about.
bool attempt::plain(core::node_index node) const {
    return !what_->keys.fenced && !engine_.node(node).guarded() && !how_.listens;
}

void attempt::encode(tag request, bool by_text, std::string& out) {
    const auto node = node_in(request);
    const auto how = static_cast<kind>(kind_in(request));
    if (how == kind::commit) {
        wire::commit(out, by_text, what_->keys, owner_, token_in(request), what_->retention);
    } else if (how == kind::vote && plain(node)) {
        wire::set_if_absent(out, what_->keys, owner_, what_->timing.ttl);
    } else {
        wire::acquire(out, by_text, what_->keys, engine_.node(node).guarded(), owner_,
                      what_->timing.ttl, what_->retention, how_.tokens);
    }
}

bool attempt::wanted(tag) const {
    if (!machine_.decided()) return true;
    const auto lease = lease_.lock();
    return lease && !lease->ended();
}

bool attempt::asks_for_vote(tag request) const {
    return static_cast<kind>(kind_in(request)) != kind::commit;
}

bool attempt::asks_to_be_told(tag request) const { return how_.listens && asks_for_vote(request); }

void attempt::answered(tag request, std::string_view reply) {
    const auto node = node_in(request);
    const auto how = static_cast<kind>(kind_in(request));
    if (how == kind::commit) {
        return on_commit(node, token_in(request), wire::read_ownership(resp::view(reply)));
    }
    const bool plainly = how == kind::vote && plain(node);
    on_vote(node, how,
            plainly ? wire::read_set_if_absent(resp::view(reply))
                    : wire::read_acquire(resp::view(reply)));
}

void attempt::failed(tag request, const net::failure& why) {
    note(node_in(request), why);
    step(core::acquire::unknown{node_in(request)});
}

void attempt::on_vote(core::node_index node, kind how, const wire::acquire_answer& answer) {
    if (const auto* won = std::get_if<wire::granted>(&answer)) {
        return step(core::acquire::granted{node, won->counter});
    }
    if (const auto* other = std::get_if<wire::held>(&answer)) {
        // The script learns who, and for how long. It may even win.
        if (how_.inquires && how == kind::vote && plain(node) && !machine_.decided()) {
            ask(node, kind::script, {}, clock::now());
            return engine_.submit();
        }
        deny(node, {std::string(other->owner), other->remaining, false});
    } else if (const auto* wait = std::get_if<wire::quarantined>(&answer)) {
        tracked_ = false;
        deny(node, {{}, wait->remaining, true});
    } else if (std::holds_alternative<wire::unlisted>(answer)) {
        tracked_ = false;
        engine_.enlist(node);
        deny(node, {{}, core::duration{-1}, true});
    } else {
        note(node, std::get<net::failure>(answer));
        return step(core::acquire::unknown{node});
    }
    step(core::acquire::denied{node});
}

void attempt::on_commit(core::node_index node, core::fencing_token token,
                        const wire::ownership_answer& answer) {
    if (const auto* why = std::get_if<net::failure>(&answer)) {
        note(node, *why);
        step(core::acquire::unknown{node});
    } else if (std::get<wire::ownership>(answer) == wire::ownership::ours) {
        step(core::acquire::committed{node, token});
    } else {
        step(core::acquire::disowned{node});
    }
}

void attempt::note(core::node_index node, const net::failure& why) {
    failures_.resize(engine_.node_count());
    failures_[node.value] = why;
}

void attempt::deny(core::node_index node, denial why) {
    tracked_ = tracked_ && engine_.node(node).said().tracking;
    denials_.resize(engine_.node_count());
    denials_[node.value] = std::move(why);
}

void attempt::step(const core::acquire::event& happened) {
    const auto now = clock::now();
    carry_out(machine_.step(happened, now), now);
}

void attempt::carry_out(const core::acquire::actions& next, core::time_point now) {
    const boost::intrusive_ptr<attempt> alive(this);
    // A node that is known to be out fails at once, and that may decide the attempt: what has not
    // been asked by then must not be, or its grant would follow the release.
    next.acquire_on.for_each([&](core::node_index node) {
        if (!machine_.decided()) ask(node, kind::vote, {}, now);
    });
    next.commit_on.for_each(
        [&](core::node_index node) { ask(node, kind::commit, next.commit, now); });
    if (!next.release_on.empty()) {
        cleanup::start(engine_, next.release_on, what_, owner_,
                       machine_.started_at() + what_->timing.ttl, now);
    }
    if (next.decided && listener_ != nullptr) {
        std::exchange(listener_, nullptr)->decided(*this, now);
    }
}

void attempt::ask(core::node_index node, kind how, core::fencing_token token,
                  core::time_point now) {
    engine_.send(node, this, pack(node, static_cast<std::uint8_t>(how), token), now);
}

core::estate attempt::gain() const {
    return core::found(machine_.started_at(), machine_.valid_until(), machine_.token(),
                       how_.tokens);
}

core::rival attempt::rival() const {
    std::array<core::duration, core::max_nodes> remaining{};
    std::size_t count = 0;
    for (const auto& other : denials_) {
        if (other) remaining[count++] = other->remaining;
    }
    const auto* const strongest = strongest_denial();
    return core::summarize({.remaining = {remaining.data(), count},
                            .nodes = engine_.node_count(),
                            .unknown = machine_.unknown_from().size(),
                            .strongest = strongest == nullptr ? 0 : votes_for(*strongest),
                            .tracked = tracked_});
}

std::size_t attempt::votes_for(const denial& who) const {
    return static_cast<std::size_t>(
        std::count_if(denials_.begin(), denials_.end(),
                      [&](const auto& other) { return other && other->owner == who.owner; }));
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

std::optional<attempt::denial> attempt::denied_by() const {
    const auto* const strongest = strongest_denial();
    return strongest != nullptr ? std::optional(*strongest) : std::nullopt;
}

net::failure attempt::why() const {
    auto all = failures_;
    if (machine_.outcome() == core::acquire::verdict::cancelled) {
        all.resize(engine_.node_count());
        silent().for_each([&](core::node_index node) {
            if (!all[node.value]) all[node.value] = net::failure{.message = "no answer yet"};
        });
    }
    return summarize_failures(engine_, all, machine_.granted_by().size(),
                              machine_.denied_by().size());
}

core::node_set attempt::silent() const {
    return core::node_set::first(engine_.node_count()) - machine_.granted_by() -
           machine_.denied_by();
}

}  // namespace holdfast::runtime
