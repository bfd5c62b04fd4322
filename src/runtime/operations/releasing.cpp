#include "runtime/operations/releasing.hpp"

#include <utility>

namespace holdfast::runtime {

boost::intrusive_ptr<releasing> releasing::start(engine& through, request wish,
                                                 core::time_point now, listener done) {
    boost::intrusive_ptr<releasing> self(new releasing(through, std::move(wish), std::move(done)));
    self->carry_out(self->machine_.start(), now);
    return self;
}

releasing::releasing(engine& through, request wish, listener done)
    : engine_(through),
      request_(std::move(wish)),
      voters_(through.voters_of(request_.what->keys.lock)),
      done_(std::move(done)),
      machine_(voters_.size()) {}

void releasing::encode(tag, bool by_text, std::string& out) {
    overtaken_ = overtaken_ || by_text;
    request_.what->kind->release(out, by_text, request_.what->claim_by(*request_.owner));
}

bool releasing::encode_alone(tag, bool by_text, std::string& out) {
    alone_ = true;
    auto keys = request_.what->keys;
    keys.queued = false;
    request_.what->kind->release(out, by_text, {.of = keys, .owner = *request_.owner});
    return true;
}

void releasing::answered(tag asked, std::string_view reply) {
    const auto answer = request_.what->kind->read_release(resp::view(reply));
    if (const auto* why = std::get_if<net::failure>(&answer)) return refused(voter_of(asked), *why);
    const auto found = std::get<kinds::release_found>(answer);
    const auto& keys = request_.what->keys;
    for (std::size_t n = 0; n < keys.locks(); ++n) {
        if (!alone_) engine_.queues().released(keys.lock_at(n), found, engine_.now());
        engine_.changed_here(keys.lock_at(n));
    }
    if (found == kinds::release_found::not_ours) {
        return step(core::release::disowned{voter_of(asked)});
    }
    if (overtaken_) {
        const auto node = voters_.node_of(voter_of(asked));
        for (std::size_t n = 0; n < keys.locks(); ++n) {
            engine_.queues().notified(keys.lock_at(n), node, engine_.now());
        }
    }
    step(core::release::released{voter_of(asked)});
}

void releasing::failed(tag asked, const net::failure& why) noexcept {
    const auto node = voters_.node_of(voter_of(asked));
    last_failure_ = engine_.named(node, why);
    engine_.owed().owe(node, request_.what, *request_.owner, request_.key_gone_at);
    step(core::release::unknown{voter_of(asked)});
}

void releasing::refused(core::node_index voter, const net::failure& why) noexcept {
    const auto node = voters_.node_of(voter);
    last_failure_ = engine_.named(node, why);
    engine_.owed().refused(node, request_.what, *request_.owner, request_.key_gone_at, why);
    step(core::release::unknown{voter});
}

void releasing::step(const core::release::event& happened) noexcept {
    carry_out(machine_.step(happened), engine_.now());
}

void releasing::carry_out(const core::release::actions& next, core::time_point now) noexcept {
    for (const auto voter : next.release_on) {
        engine_.send(voters_.node_of(voter), this, voter.value, now);
    }
    if (!next.decided) return;
    if (machine_.outcome() == core::release::verdict::released) ++engine_.counters().released;
    if (done_) std::exchange(done_, nullptr)(*this);
}

}  // namespace holdfast::runtime
