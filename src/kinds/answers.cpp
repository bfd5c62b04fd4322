#include "kinds/answers.hpp"

#include <chrono>
#include <limits>
#include <optional>

#include "net/explain.hpp"

namespace holdfast::kinds {
namespace {

core::duration from_milliseconds(std::int64_t value) {
    constexpr std::int64_t century = 3'155'760'000'000;  // more than nanoseconds can hold is wrong
    return value < 0 || value > century ? core::duration{-1} : std::chrono::milliseconds(value);
}

net::failure nonsense(resp::view reply) {
    return {errc::protocol, "an answer that no lock script gives: " + resp::to_string(reply), true};
}

}  // namespace

net::failure refused(resp::view reply) {
    return reply.is_error() ? net::explain(reply) : nonsense(reply);
}

vote_answer read_vote(resp::view reply) {
    const auto number = [&](std::size_t index) {
        const auto child = reply.at(index);
        return child ? child->integer() : std::nullopt;
    };
    const auto code = number(0);
    const auto first = number(1);
    const auto slot = reply.size() == 3 ? number(2) : std::int64_t{0};
    const bool numbered = (reply.size() == 2 || reply.size() == 3) && slot && *slot >= 0 &&
                          *slot <= std::numeric_limits<std::uint32_t>::max();
    if (code == 1 && numbered && first && *first >= 0) {
        return granted{{static_cast<std::uint64_t>(*first)}, static_cast<std::uint32_t>(*slot)};
    }
    const auto place = reply.size() == 4 ? number(3) : std::int64_t{0};
    const bool whole = (reply.size() == 3 || reply.size() == 4) && place && *place >= 0;
    if (code == 0 && whole && reply.at(1)->is_text() && number(2)) {
        return denied{reply.at(1)->text(), from_milliseconds(*number(2)),
                      static_cast<std::size_t>(*place)};
    }
    return refused(reply);
}

release_answer read_release(resp::view reply) {
    if (reply.integer() == 2) return release_found::passed_on;
    const auto answer = read_ownership(reply);
    if (const auto* why = std::get_if<net::failure>(&answer)) return *why;
    return std::get<ownership>(answer) == ownership::ours ? release_found::released
                                                          : release_found::not_ours;
}

ownership_answer read_ownership(resp::view reply) {
    const auto code = reply.integer();
    if (code == 1) return ownership::ours;
    if (code == 0) return ownership::not_ours;
    // Somebody put another type of value at the key: whatever it is, it is not our lock.
    if (reply.is_error() && net::explain(reply).code == errc::wrong_type) {
        return ownership::not_ours;
    }
    return refused(reply);
}

}  // namespace holdfast::kinds
