#include "core/estate.hpp"

#include <algorithm>

namespace holdfast::core {

hand_off_batch batch_for(local_id caller, const local_line& waiting) {
    const auto all = 1 + std::min(waiting.others_than(caller), std::size_t{most_holders} - 1);
    return {.tokens = static_cast<std::uint32_t>(all), .last = waiting.last_arrival()};
}

bool may_inherit(const estate& left, const timing& granted, const heir& next, time_point now) {
    const auto& wished = next.wished;
    const bool asked_before = next.joined <= left.last_heir;
    const bool equal = granted.ttl == wished.ttl && granted.guard() == wished.guard();
    const bool young = now < left.sent_at + std::min(longest_succession, granted.ttl / 8);
    const bool enough = left.valid_until - now >= std::max(wished.min_validity, duration{1});
    const bool sound = left.unchanged && !left.shown;
    return left.heirs > 0 && asked_before && sound && equal && young && enough;
}

estate inherit(const estate& left) {
    auto next = left;
    --next.heirs;
    if (next.token != fencing_token{}) ++next.token.value;
    return next;
}

estate found(time_point sent_at, time_point valid_until, fencing_token last,
             const hand_off_batch& drawn) {
    const auto heirs = drawn.tokens - 1;
    const bool fenced = last != fencing_token{};
    return {.sent_at = sent_at,
            .valid_until = valid_until,
            .token = {fenced ? last.value - heirs : 0},
            .heirs = heirs,
            .last_heir = drawn.last};
}

}  // namespace holdfast::core
