#include "kinds/latch.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "kinds/answers.hpp"
#include "kinds/keys.hpp"
#include "kinds/script_call.hpp"
#include "resp/encoder.hpp"
#include "scripts/latch/embedded.hpp"

namespace holdfast::kinds {
namespace {

using resp::decimal;

constexpr bool sent_by_text = true;
constexpr std::string_view what = "latch";

std::optional<std::int64_t> number(resp::view reply, std::size_t index) {
    const auto child = reply.at(index);
    return child ? child->integer() : std::nullopt;
}

}  // namespace

std::string latch_key(std::string_view name) {
    std::string key;
    append_key_beside(key, name, what);
    return key;
}

std::string_view latch_of(std::string_view key) {
    constexpr std::string_view open = "holdfast:{";
    constexpr std::string_view close = "}:latch";
    constexpr std::string_view tagged = "holdfast:latch:";
    const bool shaped = key.starts_with(open) && key.ends_with(close);
    if (shaped && key.size() > open.size() + close.size()) {
        return key.substr(open.size(), key.size() - open.size() - close.size());
    }
    return key.starts_with(tagged) ? key.substr(tagged.size()) : std::string_view{};
}

void look_at_latch(std::string& out, const latch_claim& which) {
    const auto beside = latch_key(which.name);
    const std::array<std::string_view, 2> both{which.name, beside};
    append_call(
        out, scripts::latch::look, sent_by_text, both,
        {decimal{which.count}.text(), decimal{milliseconds(which.ttl)}.text(), which.set_by});
}

void count_down(std::string& out, const latch_claim& which, std::string_view who) {
    const auto beside = latch_key(which.name);
    const std::array<std::string_view, 2> both{which.name, beside};
    append_call(
        out, scripts::latch::count_down, sent_by_text, both,
        {decimal{which.count}.text(), decimal{milliseconds(which.ttl)}.text(), which.set_by, who});
}

latch_answer read_latch(resp::view reply) {
    const auto first = number(reply, 0);
    const auto second = number(reply, 1);
    if (first == -1 && reply.size() == 1) return latch_missing{};
    if (first == -2 && reply.size() == 2 && second && *second > 0) {
        return latch_of_another_count{static_cast<std::uint64_t>(*second)};
    }
    if (first && *first >= 0 && second && reply.size() == 3 && reply.at(2)->is_text()) {
        return latch_found{
            .left = static_cast<std::uint64_t>(*first),
            .remaining = std::chrono::milliseconds(std::max<std::int64_t>(*second, 0)),
            .set_by = reply.at(2)->text()};
    }
    return refused(reply);
}

}  // namespace holdfast::kinds
