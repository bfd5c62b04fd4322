#include "operate/asking.hpp"

#include <algorithm>
#include <charconv>
#include <utility>
#include <variant>

#include "holdfast/error.hpp"
#include "net/explain.hpp"

namespace holdfast::detail {
namespace {

std::optional<double> score_in(resp::view said) {
    if (said.number()) return said.number();
    const auto text = said.text();
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole ? std::optional(value) : std::nullopt;
}

}  // namespace

asking::asking(runtime::engine& through, core::node_index whom, std::string key, std::string what)
    : engine_(through), node_(whom), key_(std::move(key)), what_(std::move(what)) {}

runtime::query::answer asking::answer_to(const std::vector<std::string>& command) {
    auto lock = engine_.lock();
    return runtime::query::run_on(engine_, lock, node_, command);
}

std::optional<std::string> asking::ask(const std::vector<std::string>& command) {
    auto answer = answer_to(command);
    if (const auto* why = std::get_if<net::failure>(&answer)) return refused(why->message);
    auto reply = std::get<std::string>(std::move(answer));
    if (!resp::view(reply).is_error()) return reply;
    const auto why = net::explain(resp::view(reply));
    return refused(why.code == errc::wrong_type ? "what is at " + key_ + " is " + what_
                                                : why.message);
}

std::optional<std::size_t> asking::count(const std::vector<std::string>& command) {
    const auto reply = ask(command);
    if (!reply) return std::nullopt;
    return static_cast<std::size_t>(
        std::max(resp::view(*reply).integer().value_or(0), std::int64_t{0}));
}

std::nullopt_t asking::refused(std::string why) {
    if (why_not_.empty()) why_not_ = std::move(why);
    return std::nullopt;
}

void for_each_member(resp::view members,
                     const std::function<void(std::string_view, double)>& visit) {
    const auto visit_pair = [&](resp::view member, resp::view said) {
        if (const auto score = score_in(said)) visit(member.text(), *score);
    };
    std::optional<resp::view> member;
    for (const auto each : members) {
        if (each.size() == 2 && !each.is_text()) {
            visit_pair(*each.at(0), *each.at(1));
        } else if (!member) {
            member = each;
        } else {
            visit_pair(*member, each);
            member.reset();
        }
    }
}

}  // namespace holdfast::detail
