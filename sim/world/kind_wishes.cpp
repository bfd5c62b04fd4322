#include "sim/world/kind_wishes.hpp"

#include <algorithm>

#include "kinds/election.hpp"
#include "kinds/semaphore.hpp"

namespace holdfast::sim {
namespace {

std::vector<std::string> draw_keys(random& chance) {
    const auto chosen = 1 + chance.below((1U << several_keys.size()) - 1);
    std::vector<std::string> keys;
    for (std::size_t n = 0; n < several_keys.size(); ++n) {
        if ((chosen >> n & 1U) != 0) keys.emplace_back(several_keys[n]);
    }
    return keys;
}

places place_of_key(std::string_view key) {
    const auto* const found = std::ranges::find(several_keys, key);
    return places{1} << static_cast<unsigned>(found - several_keys.begin());
}

}  // namespace

kind_wishes::kind_wishes(const runtime::engine& through, process& of)
    : engine_(through), process_(of) {
    for (std::uint32_t n = 0; n < of.settings().workers; ++n) {
        candidates_.push_back(
            std::make_shared<runtime::candidacy>(value_of_candidate(of.index(), n)));
    }
}

// Counters that are kept for less time than the library allows show what expires too early.
runtime::plan_pointer kind_wishes::draw(std::uint32_t caller, bool limited, bool fair) {
    const auto& settings = process_.settings();
    auto made = make(caller, wish_for(settings, limited, fair));
    std::const_pointer_cast<runtime::plan>(made)->retention = settings.fence_retention;
    return made;
}

runtime::plan_pointer kind_wishes::make(std::uint32_t caller, const acquire_options& how) {
    const auto& client = engine_.settings();
    const auto& kind = process_.settings().kind;
    switch (kind.which) {
        case other_kind::several:
            return runtime::make_plan(client, draw_keys(process_.chance()), how);
        case other_kind::election:
            return runtime::make_plan(client, election_key, how, kinds::election(),
                                      candidates_[caller]);
        default: break;
    }
    return runtime::make_plan(client, semaphore_key, how, kinds::semaphore(), nullptr,
                              kind.permits);
}

places places_of(const kind_plan& kind, const runtime::hold& won) {
    constexpr std::uint32_t most = 64;
    if (kind.which == other_kind::semaphore) return places{1} << won.slot() % most;
    if (kind.which != other_kind::several) return 1;
    const auto& keys = won.what().keys;
    places all = 0;
    for (std::size_t n = 0; n < keys.locks(); ++n) all |= place_of_key(keys.lock_at(n));
    return all;
}

}  // namespace holdfast::sim
