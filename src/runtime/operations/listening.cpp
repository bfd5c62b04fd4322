#include "runtime/operations/listening.hpp"

#include <utility>

#include "resp/encoder.hpp"

namespace holdfast::runtime {
namespace {

constexpr std::int64_t no_key = -2;  // as PTTL says it

}  // namespace

void listening::start(engine& through, plan_pointer what, core::time_point now) {
    const auto voter = through.voters_of(what->keys.lock).node_of({0});
    if (!through.voter(voter).tracking()) return;
    through.send(voter, new listening(through, std::move(what)), voter.value, now);
    through.submit();
}

listening::listening(engine& through, plan_pointer what)
    : engine_(through), what_(std::move(what)) {}

void listening::encode(tag, bool, std::string& out) {
    resp::append_command(out, {"PTTL", what_->keys.lock});
}

void listening::answered(tag asked, std::string_view reply) {
    if (resp::view(reply).integer() != no_key) return;
    engine_.queues().notified(what_->keys.lock, node_of(asked), engine_.now());
}

}  // namespace holdfast::runtime
