#include "runtime/operations/listening.hpp"

#include <utility>

#include "resp/encoder.hpp"

namespace holdfast::runtime {
namespace {

constexpr std::int64_t no_key = -2;  // as PTTL says it

}  // namespace

void listening::start(engine& through, const plan_pointer& what, const std::string& lock,
                      core::time_point now) {
    const auto voter = through.voters_of(what->keys.lock).node_of({0});
    if (!through.voter(voter).tracking()) return;
    through.send(voter, new listening(through, {what, &lock}), voter.value, now);
    through.submit();
}

listening::listening(engine& through, std::shared_ptr<const std::string> lock)
    : engine_(through), lock_(std::move(lock)) {}

void listening::encode(tag, bool, std::string& out) { resp::append_command(out, {"PTTL", *lock_}); }

void listening::answered(tag asked, std::string_view reply) {
    if (resp::view(reply).integer() != no_key) return;
    engine_.queues().notified(*lock_, node_of(asked), engine_.now());
}

}  // namespace holdfast::runtime
