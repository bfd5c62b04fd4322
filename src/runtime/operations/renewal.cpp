#include "runtime/operations/renewal.hpp"

#include <utility>

namespace holdfast::runtime {
namespace {

core::renew::config configure(const hold& lease, std::size_t voters, core::duration ttl) {
    auto timing = lease.what().timing;
    timing.ttl = ttl;
    return {.nodes = voters, .timing = timing, .old_deadline = lease.valid_until()};
}

}  // namespace

void renewal::start(std::shared_ptr<hold> lease, core::duration ttl, core::time_point now) {
    auto& through = lease->through();
    const boost::intrusive_ptr<renewal> self(new renewal(
        std::move(lease), ttl,
        [](const renewal& done) HOLDFAST_LOCKED { done.lease_->through().end_unattended(); }));
    through.begin_unattended();
    self->begin(now);
}

boost::intrusive_ptr<renewal> renewal::start(std::shared_ptr<hold> lease, core::duration ttl,
                                             core::time_point now, listener done) {
    boost::intrusive_ptr<renewal> self(new renewal(std::move(lease), ttl, std::move(done)));
    self->begin(now);
    return self;
}

renewal::renewal(std::shared_ptr<hold> lease, core::duration ttl, listener done)
    : lease_(std::move(lease)),
      voters_(lease_->through().voters_of(lease_->what().keys.lock)),
      ttl_(ttl),
      done_(std::move(done)),
      machine_(configure(*lease_, voters_.size(), ttl)) {}

void renewal::begin(core::time_point now) noexcept {
    lease_->changing(ttl_);
    carry_out(machine_.start(now), now);
}

void renewal::encode(tag, bool by_text, std::string& out) {
    auto claim = lease_->what().claim_by(lease_->owner());
    claim.ttl = ttl_;
    lease_->what().kind->extend(out, by_text, claim);
}

// Without the counter, which then lives for as long as the last renewal or acquire has left it:
// that is longer than any lease. Nor with the queue, in which whoever could join a reader finds
// that out when it looks.
bool renewal::encode_alone(tag, bool by_text, std::string& out) {
    auto keys = lease_->what().keys;
    keys.fenced = false;
    keys.queued = false;
    lease_->what().kind->extend(out, by_text, {.of = keys, .owner = lease_->owner(), .ttl = ttl_});
    return true;
}

void renewal::answered(tag request, std::string_view reply) {
    const auto answer = lease_->what().kind->read_ownership(resp::view(reply));
    if (const auto* why = std::get_if<net::failure>(&answer)) return failed(request, *why);
    if (std::get<kinds::ownership>(answer) == kinds::ownership::ours) {
        auto& node = lease_->through().voter(voters_.node_of(voter_of(request)));
        if (node.acknowledges()) return node.acknowledge(this, request);
        step(core::renew::extended{voter_of(request)});
    } else {
        step(core::renew::disowned{voter_of(request)});
    }
}

void renewal::acknowledged(tag request) noexcept { step(core::renew::extended{voter_of(request)}); }

void renewal::failed(tag request, const net::failure& why) noexcept {
    last_failure_ = lease_->through().named(voters_.node_of(voter_of(request)), why);
    step(core::renew::unknown{voter_of(request)});
}

void renewal::step(const core::renew::event& happened) noexcept {
    const auto now = lease_->through().now();
    carry_out(machine_.step(happened, now), now);
}

void renewal::carry_out(const core::renew::actions& next, core::time_point now) noexcept {
    for (const auto voter : next.extend_on) {
        lease_->through().send(voters_.node_of(voter), this, voter.value, now);
    }
    if (!next.decided) return;
    lease_->renewed(machine_, now);
    std::exchange(done_, nullptr)(*this);
}

}  // namespace holdfast::runtime
