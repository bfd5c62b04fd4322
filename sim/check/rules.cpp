#include "sim/check/rules.hpp"

namespace holdfast::sim {

const char* name_of(rule r) {
    switch (r) {
        case rule::exclusion: return "exclusion (T1)";
        case rule::token_order: return "token order (T2)";
        case rule::lost_update: return "lost update";
        case rule::staleness: return "staleness";
        case rule::ownership: return "ownership";
        case rule::line: return "line";
        case rule::stall: return "stall";
        case rule::orphan: return "orphan key";
        case rule::notice: return "notice";
        case rule::quorum: return "quorum";
        case rule::voided_vote: return "voided vote";
        case rule::outsider: return "outsider";
        case rule::needless_loss: return "needless loss";
        case rule::recovery: return "recovery";
        case rule::permits: return "permits";
        case rule::latch: return "latch";
        case rule::leader: return "leader";
    }
    return "?";
}

std::string seconds(instant at) {
    return std::to_string(at.count() / 1'000'000'000) + "." +
           std::to_string(at.count() % 1'000'000'000 + 1'000'000'000).substr(1, 6) + " s";
}

}  // namespace holdfast::sim
