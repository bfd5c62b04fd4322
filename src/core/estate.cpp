#include "core/estate.hpp"

#include <algorithm>

namespace holdfast::core {

std::uint32_t tokens_for(std::size_t behind) { return behind == 0 ? 1 : most_holders; }

bool may_inherit(const estate& left, const timing& granted, const timing& wished, time_point now) {
    const bool equal = granted.ttl == wished.ttl && granted.guard() == wished.guard();
    const bool young = now < left.sent_at + std::min(longest_succession, granted.ttl / 8);
    const bool enough = left.valid_until - now >= std::max(wished.min_validity, duration{1});
    return left.heirs > 0 && left.unchanged && equal && young && enough;
}

estate inherit(const estate& left) {
    auto next = left;
    --next.heirs;
    if (next.token != fencing_token{}) ++next.token.value;
    return next;
}

estate found(time_point sent_at, time_point valid_until, fencing_token last, std::uint32_t tokens) {
    const auto heirs = tokens - 1;
    const bool fenced = last != fencing_token{};
    return {.sent_at = sent_at,
            .valid_until = valid_until,
            .token = {fenced ? last.value - heirs : 0},
            .heirs = heirs};
}

}  // namespace holdfast::core
