#include "core/hand_off.hpp"

#include <algorithm>

namespace holdfast::core {

hand_off_batch batch_for(local_id caller, const local_queue& waiting) {
    const auto all = 1 + std::min(waiting.others_than(caller), std::size_t{most_holders} - 1);
    return {.tokens = static_cast<std::uint32_t>(all), .last = waiting.last_arrival()};
}

namespace {

bool equal(const timing& one, const timing& other) {
    return one.ttl == other.ttl && one.guard() == other.guard();
}

// Counted from when the servers were asked: what others wait for it at most.
bool young(time_point since, const timing& granted, time_point now) {
    return now < since + std::min(hand_off_window, granted.ttl / 8);
}

bool sound(const grant& left) { return left.unchanged && !left.shown; }

}  // namespace

bool may_hand_off(const grant& left, const timing& granted, const next_holder& next,
                  time_point now) {
    const auto& wished = next.wished;
    const bool asked_before = next.joined <= left.last_arrival;
    const bool enough = left.valid_until - now >= std::max(wished.min_validity, duration{1});
    return left.hand_offs_left > 0 && asked_before && sound(left) && equal(granted, wished) &&
           young(left.sent_at, granted, now) && enough;
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
