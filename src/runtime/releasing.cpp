#include "runtime/releasing.hpp"

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
      done_(std::move(done)),
      machine_(through.node_count()) {}

void releasing::encode(tag, bool by_text, std::string& out) {
    overtaken_ = overtaken_ || by_text;
    request_.what->kind->release(out, by_text, request_.what->claim_by(*request_.owner));
}

void releasing::answered(tag asked, std::string_view reply) {
    const auto answer = request_.what->kind->read_ownership(resp::view(reply));
    if (const auto* why = std::get_if<net::failure>(&answer)) return refused(node_of(asked), *why);
    if (std::get<kinds::ownership>(answer) == kinds::ownership::ours) {
        if (overtaken_) {
            engine_.waiting().told(request_.what->keys.lock, node_of(asked), engine_.now());
        }
        step(core::release::released{node_of(asked)});
    } else {
        step(core::release::disowned{node_of(asked)});
    }
}

void releasing::failed(tag asked, const net::failure& why) noexcept {
    const auto node = node_of(asked);
    last_failure_ = engine_.named(node, why);
    engine_.owed().owe(node, request_.what, *request_.owner, request_.key_gone_at);
    step(core::release::unknown{node});
}

void releasing::refused(core::node_index node, const net::failure& why) noexcept {
    last_failure_ = engine_.named(node, why);
    engine_.owed().refused(node, request_.what, *request_.owner, request_.key_gone_at, why);
    step(core::release::unknown{node});
}

void releasing::step(const core::release::event& happened) noexcept {
    carry_out(machine_.step(happened), engine_.now());
}

void releasing::carry_out(const core::release::actions& next, core::time_point now) noexcept {
    next.release_on.for_each(
        [&](core::node_index node) { engine_.send(node, this, node.value, now); });
    if (!next.decided) return;
    if (machine_.outcome() == core::release::verdict::released) ++engine_.counters().released;
    if (done_) std::exchange(done_, nullptr)(*this);
}

}  // namespace holdfast::runtime
