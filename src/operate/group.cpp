#include "operate/group.hpp"

#include <algorithm>
#include <charconv>
#include <memory>

#include "net/acknowledging.hpp"
#include "net/handshake.hpp"
#include "net/sentinel_report.hpp"
#include "operate/server_clock.hpp"
#include "platform/environment.hpp"
#include "resp/view.hpp"

namespace holdfast::detail {
namespace {

std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size() && !text.empty();
    return whole ? std::optional(value) : std::nullopt;
}

/// The value behind a name in `ip=10.0.0.2,port=6379,state=online`; empty: there is none.
std::string_view value_of(std::string_view entry, std::string_view name) {
    while (!entry.empty()) {
        const auto item = entry.substr(0, entry.find(','));
        if (item.starts_with(name) && item.substr(name.size(), 1) == "=") {
            return item.substr(name.size() + 1);
        }
        entry.remove_prefix(std::min(item.size() + 1, entry.size()));
    }
    return {};
}

/// To look at one address, as whoever is known there.
std::shared_ptr<runtime::engine> look_at(const std::string& address, bool tls, std::string user,
                                         std::string password, options settings) {
    settings.urls = {(tls ? "rediss://" : "redis://") + address};
    settings.user = std::move(user);
    settings.password = std::move(password);
    settings.restart_guard = false;
    settings.replica_acks = replicas::none();
    settings.log = {};
    return std::make_shared<runtime::engine>(platform::make_environment(), std::move(settings),
                                             net::purpose::look);
}

void read_master(sentinel_report& report, resp::view reply) {
    const auto count = [&](std::string_view name) { return number(net::value_in(reply, name)); };
    report.quorum = count("quorum").value_or(0);
    report.sentinels = count("num-other-sentinels").value_or(0) + 1;
    report.replicas = count("num-slaves").value_or(0);
}

sentinel_report ask_one(const net::endpoint& group, const std::string& address,
                        const options& settings) HOLDFAST_UNLOCKED {
    sentinel_report report{.node = address};
    const auto looking =
        look_at(address, group.tls, group.sentinels->user, group.sentinels->password, settings);
    {
        interview with(*looking, {0});
        const auto& name = group.sentinels->master_name;
        const auto where = with.ask({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", name});
        const auto said = where ? net::read_master_address(resp::view(*where)) : std::nullopt;
        if (!where) {
            report.error = with.failure().message;
        } else if (!said) {
            report.error = "knows no master called '" + name + "'";
        } else {
            report.names = net::address_text(said->host, said->port);
            if (const auto all = with.ask({"SENTINEL", "MASTER", name})) {
                read_master(report, resp::view(*all));
            }
        }
    }
    looking->close();
    return report;
}

}  // namespace

std::vector<sentinel_report> ask_sentinels(const net::endpoint& group, const options& settings) {
    std::vector<sentinel_report> all;
    for (const auto& [host, port] : group.sentinels->addresses) {
        all.push_back(ask_one(group, net::address_text(host, port), settings));
    }
    return all;
}

// `slave0:ip=10.0.0.2,port=6379,state=online,offset=1240,lag=0`
std::vector<replica_report> replicas_in(std::string_view info) {
    std::vector<replica_report> all;
    const auto written = number(net::info_field(info, "master_repl_offset")).value_or(0);
    for (int n = 0;; ++n) {
        const auto entry = net::info_field(info, "slave" + std::to_string(n));
        if (entry.empty()) return all;
        const auto port = number(value_of(entry, "port")).value_or(0);
        const auto read = number(value_of(entry, "offset")).value_or(0);
        all.push_back({.node = net::address_text(std::string(value_of(entry, "ip")),
                                                 static_cast<std::uint16_t>(port)),
                       .online = value_of(entry, "state") == "online",
                       .lag = std::chrono::seconds(
                           static_cast<std::int64_t>(number(value_of(entry, "lag")).value_or(0))),
                       .bytes_behind = written > read ? written - read : 0});
    }
}

void ask_replicas(std::vector<replica_report>& all, const net::endpoint& group,
                  const options& settings) {
    for (auto& each : all) {
        const auto looking = look_at(each.node, group.tls, group.user, group.password, settings);
        {
            interview with(*looking, {0});
            const auto time = with.ask({"TIME"});
            if (!time) {
                each.error = with.failure().message;
            } else {
                each.clock_difference = clock_difference(*time);
                each.eviction_policy = with.node().facts().eviction_policy;
            }
        }
        looking->close();
    }
}

void count_members(group_report& group, const options& settings) {
    std::uint64_t replicas = group.replicas.size();
    for (const auto& each : group.sentinels) replicas = std::max(replicas, each.replicas);
    group.members = replicas + 1;
    const core::replication of{
        .members = group.members,
        .acks = net::acks_needed(settings.replica_acks, group.members).value_or(0)};
    group.acks = core::acks_when_grown(of, group.agreed_on.value_or(0));
}

std::optional<std::uint64_t> replicas_to_write(interview& with) {
    const auto reply = with.ask({"CONFIG", "GET", "min-replicas-to-write"});
    const auto value = reply ? resp::view(*reply).at(1) : std::nullopt;
    return value ? number(value->text()) : std::nullopt;
}

}  // namespace holdfast::detail
