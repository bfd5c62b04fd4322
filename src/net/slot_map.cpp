#include "net/slot_map.hpp"

#include <algorithm>
#include <utility>

#include "net/explain.hpp"

namespace holdfast::net {
namespace {

constexpr std::size_t most_masters = 16384;

failure no_map(resp::view reply) {
    if (reply.is_error()) return explain(reply);
    return {errc::protocol, "an answer to CLUSTER SLOTS that is no map: " + resp::to_string(reply),
            true};
}

std::optional<std::int64_t> number_at(resp::view list, std::size_t index) {
    const auto found = list.at(index);
    return found ? found->integer() : std::nullopt;
}

// Servers that do not know by which address they are reached tell none, or "?".
std::optional<slot_map::server> read_server(resp::view entry, const std::string& asked) {
    const auto host = entry.at(0);
    const auto port = number_at(entry, 1);
    if (!host || !port || *port < 1 || *port > 65535) return std::nullopt;
    const bool unknown = host->is_null() || host->text().empty() || host->text() == "?";
    const auto id = entry.at(2);
    return slot_map::server{.host = unknown ? asked : std::string(host->text()),
                            .port = static_cast<std::uint16_t>(*port),
                            .id = id ? std::string(id->text()) : std::string()};
}

}  // namespace

std::variant<slot_map, failure> slot_map::read(resp::view reply, const std::string& asked) {
    if (reply.is_error() || reply.kind() != resp::kind::array) return no_map(reply);
    slot_map result;
    for (const auto range : reply) {
        const auto first = number_at(range, 0);
        const auto last = number_at(range, 1);
        const auto entry = range.at(2);
        const auto last_slot = static_cast<std::int64_t>(core::slot_count) - 1;
        if (!first || !last || !entry || *first < 0 || *first > *last || *last > last_slot) {
            return no_map(reply);
        }
        auto master = read_server(*entry, asked);
        if (!master || result.masters_.size() >= most_masters) return no_map(reply);
        master->replicas = range.size() - 3;
        const auto place = result.place_of(std::move(*master));
        std::fill(result.owners_.begin() + *first, result.owners_.begin() + *last + 1,
                  static_cast<std::uint16_t>(place));
    }
    return result;
}

std::size_t slot_map::place_of(server which) {
    const auto known = std::find_if(masters_.begin(), masters_.end(), [&](const server& each) {
        return each.at(which.host, which.port);
    });
    if (known != masters_.end()) return static_cast<std::size_t>(known - masters_.begin());
    masters_.push_back(std::move(which));
    return masters_.size() - 1;
}

std::size_t slot_map::covered() const {
    return core::slot_count -
           static_cast<std::size_t>(std::count(owners_.begin(), owners_.end(), nobody));
}

std::size_t slot_map::served_by(std::size_t master) const {
    return static_cast<std::size_t>(
        std::count(owners_.begin(), owners_.end(), static_cast<std::uint16_t>(master)));
}

void slot_map::moved(std::uint16_t slot, const std::string& host, std::uint16_t port) {
    if (masters_.size() >= most_masters) return;
    owners_[slot] = static_cast<std::uint16_t>(place_of({.host = host, .port = port, .id = {}}));
}

}  // namespace holdfast::net
