#include "runtime/failures.hpp"

#include <algorithm>
#include <system_error>

#include "core/node_set.hpp"

namespace holdfast::runtime {
namespace {

// What all failing nodes agree on; otherwise only that they could not be used.
errc common_code(std::span<const std::optional<net::failure>> by_node) {
    std::optional<errc> common;
    for (const auto& why : by_node) {
        if (!why) continue;
        if (common && *common != why->code) return errc::unreachable;
        common = why->code;
    }
    return common.value_or(errc::unreachable);
}

}  // namespace

net::failure summarize_failures(engine& through,
                                std::span<const std::optional<net::failure>> by_node,
                                std::size_t granted, std::size_t denied) {
    const auto nodes = through.node_count();
    const auto needed = core::majority(nodes);
    const auto hopeless = static_cast<std::size_t>(std::count_if(
        by_node.begin(), by_node.end(), [](const auto& why) { return why && why->hopeless; }));
    net::failure all{common_code(by_node), {}, hopeless > nodes - needed};
    if (nodes > 1) all.message = "quorum of " + std::to_string(nodes) + " unreachable: ";
    if (granted > 0) all.message += std::to_string(granted) + " granted, ";
    if (denied > 0) all.message += std::to_string(denied) + " denied, ";
    const char* separator = "";
    for (std::size_t n = 0; n < by_node.size(); ++n) {
        if (!by_node[n]) continue;
        const auto name = through.node({static_cast<std::uint8_t>(n)}).name();
        all.message += separator + name + (nodes > 1 ? " " : ": ") + by_node[n]->message;
        separator = ", ";
    }
    if (nodes > 1) all.message += " (need " + std::to_string(needed) + ")";
    return all;
}

void raise(const net::failure& why) { throw std::system_error(why.code, why.message); }

}  // namespace holdfast::runtime
