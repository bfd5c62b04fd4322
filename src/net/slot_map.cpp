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

std::optional<resp::view> find(resp::view map, std::string_view key) {
    for (auto at = map.begin(); at != map.end(); ++at) {
        const bool found = (*at).text() == key;
        if (++at == map.end()) break;
        if (found) return *at;
    }
    return std::nullopt;
}

std::string text_in(resp::view map, std::string_view key) {
    const auto found = find(map, key);
    return found ? std::string(found->text()) : std::string();
}

void read_member(resp::view node, const std::string& asked, std::vector<slot_map::server>& into) {
    auto host = text_in(node, "endpoint");
    if (host.empty() || host == "?") host = asked;
    for (const auto* const name : {"port", "tls-port"}) {
        const auto port = find(node, name);
        if (!port || !port->integer()) continue;
        into.push_back({.host = host,
                        .port = static_cast<std::uint16_t>(*port->integer()),
                        .id = text_in(node, "id")});
    }
}

}  // namespace

// Whoever is down and in no shard that serves anything may be what is left of any.
void slot_map::read_sizes(resp::view reply, const std::string& asked) {
    shards_.clear();
    displaced_ = 0;
    for (const auto each : reply) {
        const auto slots = find(each, "slots");
        const auto nodes = find(each, "nodes");
        if (!slots || !nodes || nodes->size() == 0) continue;
        shard found{.servers = {}, .members = nodes->size()};
        std::size_t down = 0;
        for (const auto node : *nodes) {
            read_member(node, asked, found.servers);
            if (text_in(node, "health") == "fail") ++down;
        }
        if (slots->size() == 0) displaced_ += down;
        shards_.push_back(std::move(found));
    }
}

shard_size slot_map::size_around(const server& which) const {
    const auto is_it = [&](const server& each) {
        return (!which.id.empty() && each.id == which.id) || each.at(which.host, which.port);
    };
    const auto found = std::find_if(shards_.begin(), shards_.end(), [&](const shard& each) {
        return std::any_of(each.servers.begin(), each.servers.end(), is_it);
    });
    if (found == shards_.end()) return {};
    return {.at_least = found->members, .at_most = found->members + displaced_};
}

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
