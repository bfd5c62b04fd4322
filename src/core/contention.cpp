#include "core/contention.hpp"

#include <algorithm>

#include "core/backoff.hpp"

namespace holdfast::core {
namespace {

duration narrower(duration spread) {
    const auto less = spread - spread / 4;
    return less < contention::step / 8 ? duration{0} : less;
}

}  // namespace

duration wider(duration spread) { return std::min(spread + contention::step, contention::longest); }

duration while_away(duration spread, std::uint64_t chance) {
    return spread - spread / 4 + fraction_of(spread / 2, chance);
}

contention contention::after(const history& won) const {
    const auto first = won.gained.token;
    const bool fenced = first != fencing_token{};
    const bool passed_by = fenced && last != fencing_token{} && first.value > last.value + 1;
    const bool met = won.denied || passed_by;
    const auto vain = static_cast<std::uint8_t>(met ? 0 : std::min(in_vain + 1, +most_in_vain));
    return {.known = met || (known && vain < most_in_vain),
            .spread = won.raced ? won.spread : narrower(won.spread),
            .last = {fenced ? first.value + won.gained.hand_offs_left : 0},
            .in_vain = vain};
}

}  // namespace holdfast::core
