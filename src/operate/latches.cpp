#include "operate/latches.hpp"

#include <algorithm>
#include <variant>

#include "kinds/latch.hpp"
#include "operate/interview.hpp"
#include "resp/view.hpp"
#include "runtime/operations/query.hpp"

namespace holdfast::detail {
namespace {

/// The reply; nullopt: an error, or none.
std::optional<std::string> ask(runtime::engine& engine, core::node_index node,
                               const std::vector<std::string>& command) {
    auto lock = engine.lock();
    auto answer = runtime::query::run_on(engine, lock, node, command);
    auto* const reply = std::get_if<std::string>(&answer);
    if (reply == nullptr || resp::view(*reply).is_error()) return std::nullopt;
    return std::move(*reply);
}

}  // namespace

std::optional<lock_status> find_latch(runtime::engine& engine, const std::string& name) {
    const auto whom = voters_of(engine, name);
    if (whom.size() != 1) return std::nullopt;
    const auto node = whom.node_of({0});
    const auto fields = ask(engine, node, {"HMGET", name, std::string(kinds::count_field), "set"});
    const auto length = ask(engine, node, {"HLEN", name});
    const auto left = ask(engine, node, {"PTTL", name});
    if (!fields || !length) return std::nullopt;
    const resp::view both(*fields);
    const auto count = both.size() == 2 ? both.at(0)->as_integer() : std::nullopt;
    if (!count || *count <= 0 || both.at(1)->is_null()) return std::nullopt;
    const auto counted =
        resp::view(*length).integer().value_or(0) - std::int64_t{kinds::fields_of_its_own};
    lock_status status{.key = name.substr(engine.settings().prefix.size()),
                       .ttl_known = left.has_value(),
                       .nodes = 1};
    status.latch.emplace();
    status.latch->count = static_cast<std::uint64_t>(*count);
    status.latch->left = static_cast<std::uint64_t>(std::max(*count - counted, std::int64_t{0}));
    const auto remaining = left ? resp::view(*left).integer() : std::nullopt;
    if (remaining && *remaining >= 0) {
        status.latch->remaining = std::chrono::milliseconds(*remaining);
    }
    return status;
}

std::vector<std::string> globs_beside_latches(std::string_view glob) {
    return {"holdfast:{" + std::string(glob) + "}:latch", "holdfast:latch:" + std::string(glob)};
}

}  // namespace holdfast::detail
