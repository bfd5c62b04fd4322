#include "runtime/operations/failures.hpp"

#include <algorithm>
#include <system_error>

#include "core/node_set.hpp"

namespace holdfast::runtime {
namespace {

// What all failing nodes agree on; otherwise only that they could not be used.
errc common_code(std::span<const std::optional<net::failure>> by_voter) {
    std::optional<errc> common;
    for (const auto& why : by_voter) {
        if (!why) continue;
        if (common && *common != why->code) return errc::unreachable;
        common = why->code;
    }
    return common.value_or(errc::unreachable);
}

std::size_t count(std::span<const std::optional<net::failure>> by_voter, bool net::failure::*what) {
    return static_cast<std::size_t>(std::count_if(
        by_voter.begin(), by_voter.end(), [&](const auto& why) { return why && (*why).*what; }));
}

/// It is about the list of servers, and names them: no matter which of them was asked.
bool names_servers(engine& through, const std::string& message) HOLDFAST_LOCKED {
    for (std::size_t n = 0; n < through.node_count(); ++n) {
        const auto name = through.node(through.node_at(n)).name();
        if (message.starts_with(name + " and ")) return true;
    }
    return false;
}

}  // namespace

net::failure summarize_failures(engine& through, const electorate& of,
                                std::span<const std::optional<net::failure>> by_voter,
                                std::size_t granted, std::size_t denied) {
    const auto voters = of.size();
    const auto hopeless = count(by_voter, &net::failure::hopeless);
    const auto emptied = count(by_voter, &net::failure::emptied);
    net::failure all{common_code(by_voter), {}, of.prevents(hopeless), of.prevents(emptied)};
    if (voters > 1) all.message = "no majority of " + std::to_string(voters) + " servers: ";
    if (granted > 0) all.message += std::to_string(granted) + " granted, ";
    if (denied > 0) all.message += std::to_string(denied) + " denied, ";
    const char* separator = "";
    for (std::size_t n = 0; n < by_voter.size(); ++n) {
        if (!by_voter[n]) continue;
        const auto& said = by_voter[n]->message;
        const bool of_all = names_servers(through, said);
        if (of_all && all.message.find(said) != all.message.npos) continue;
        const auto name = through.voter(of.node_of({static_cast<std::uint16_t>(n)})).name();
        all.message += separator + (of_all ? said : name + ": " + said);
        separator = ", ";
    }
    if (voters > 1) all.message += " (need " + std::to_string(of.majority()) + ")";
    return all;
}

void raise(const net::failure& why) { throw std::system_error(why.code, why.message); }
void refuse(errc code, const std::string& why) { throw std::system_error(code, why); }

std::string said_by(const std::system_error& thrown) {
    std::string text = thrown.what();
    const auto end = text.rfind(": " + thrown.code().message());
    return text.substr(0, end);
}

}  // namespace holdfast::runtime
