#include "core/hand_off.hpp"

#include <algorithm>

namespace holdfast::core {

hand_off_batch batch_for(local_id caller, const local_queue& waiting) {
    const auto all = 1 + std::min(waiting.others_than(caller), std::size_t{most_holders} - 1);
    return {.tokens = static_cast<std::uint32_t>(all), .last = waiting.last_arrival()};
}

bool may_hand_off(const grant& left, const timing& granted, const next_holder& next,
                  time_point now) {
    const auto& wished = next.wished;
    const bool asked_before = next.joined <= left.last_arrival;
    const bool equal = granted.ttl == wished.ttl && granted.guard() == wished.guard();
    const bool young = now < left.sent_at + std::min(hand_off_window, granted.ttl / 8);
    const bool enough = left.valid_until - now >= std::max(wished.min_validity, duration{1});
    const bool sound = left.unchanged && !left.shown;
    return left.hand_offs_left > 0 && asked_before && sound && equal && young && enough;
}

grant hand_off(const grant& left) {
    auto next = left;
    --next.hand_offs_left;
    if (next.token != fencing_token{}) ++next.token.value;
    return next;
}

grant first_grant(time_point sent_at, time_point valid_until, fencing_token last,
                  const hand_off_batch& drawn) {
    const auto others = drawn.tokens - 1;
    const bool fenced = last != fencing_token{};
    return {.sent_at = sent_at,
            .valid_until = valid_until,
            .token = {fenced ? last.value - others : 0},
            .hand_offs_left = others,
            .last_arrival = drawn.last};
}

}  // namespace holdfast::core
