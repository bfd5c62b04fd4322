#include "runtime/endpoints.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string_view>

#include "core/node_set.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/error.hpp"
#include "net/url.hpp"
#include "runtime/operations/failures.hpp"
#include "runtime/plan.hpp"

namespace holdfast::runtime {
namespace {

using std::chrono::milliseconds;
using parameters = std::map<std::string, std::string>;

struct duration_parameter {
    std::string_view name;
    milliseconds options::*where;
};

constexpr std::array<duration_parameter, 5> duration_parameters{
    {{"node_timeout", &options::node_timeout},
     {"connect_timeout", &options::connect_timeout},
     {"patience", &options::patience},
     {"max_ttl", &options::max_ttl},
     {"guard_time", &options::guard_time}}};

struct switch_parameter {
    std::string_view name;
    void (*take)(options& into, bool on);
};

constexpr std::array<switch_parameter, 3> switch_parameters{
    {{"restart_guard", [](options& into, bool on) { into.restart_guard = on; }},
     {"allow_eviction", [](options& into, bool on) { into.allow_eviction = on; }},
     {"spin", [](options& into, bool on) { into.spin = on; }}}};

constexpr std::array<std::string_view, 10> known_parameters{
    "node_timeout",  "connect_timeout", "patience", "max_ttl", "guard_time",
    "restart_guard", "allow_eviction",  "spin",     "drift",   "replica_acks"};

milliseconds read_duration(const std::string& name, const std::string& value) {
    const auto read = parse_duration(value);
    if (!read || *read % milliseconds(1) != std::chrono::nanoseconds(0)) {
        refuse(errc::invalid_url, "the parameter " + name +
                                      " takes a duration such as 500ms or 10s, in whole "
                                      "milliseconds");
    }
    return std::chrono::duration_cast<milliseconds>(*read);
}

bool read_switch(const std::string& name, const std::string& value) {
    if (value == "on") return true;
    if (value == "off") return false;
    refuse(errc::invalid_url, "the parameter " + name + " is either on or off");
}

unsigned read_drift(const std::string& value) {
    unsigned per_mille = 0;
    const auto* const end = value.data() + value.size();
    const auto [stopped, error] = std::from_chars(value.data(), end, per_mille);
    if (value.empty() || error != std::errc{} || stopped != end) {
        refuse(errc::invalid_url, "the parameter drift is a whole number of thousandths");
    }
    return per_mille;
}

replicas read_replica_acks(const std::string& value) {
    if (value == "majority") return replicas::majority();
    if (value == "all") return replicas::all();
    if (value == "none") return replicas::none();
    std::size_t count = 0;
    const auto* const end = value.data() + value.size();
    const auto [stopped, error] = std::from_chars(value.data(), end, count);
    if (value.empty() || error != std::errc{} || stopped != end) {
        refuse(errc::invalid_url,
               "the parameter replica_acks is majority, all, none, or a number of replicas");
    }
    return replicas::exactly(count);
}

void take_over(const parameters& given, options& settings) {
    for (const auto& [name, where] : duration_parameters) {
        const auto found = given.find(std::string(name));
        if (found != given.end()) settings.*where = read_duration(found->first, found->second);
    }
    for (const auto& [name, take] : switch_parameters) {
        const auto found = given.find(std::string(name));
        if (found != given.end()) take(settings, read_switch(found->first, found->second));
    }
    if (const auto drift = given.find("drift"); drift != given.end()) {
        settings.drift_per_mille = read_drift(drift->second);
    }
    if (const auto acks = given.find("replica_acks"); acks != given.end()) {
        settings.replica_acks = read_replica_acks(acks->second);
    }
}

// The settings are the client's, so two URLs cannot say two things about one of them.
void collect(const net::parsed_url& from, parameters& all) {
    for (const auto& [name, value] : from.parameters) {
        const auto [place, is_new] = all.try_emplace(name, value);
        if (!is_new && place->second != value) {
            refuse(errc::invalid_url, "the URLs disagree about " + name);
        }
    }
}

net::parsed_url read(const std::string& url) {
    auto parsed = net::parse_url(url, known_parameters);
    if (const auto* wrong = std::get_if<net::url_error>(&parsed)) {
        refuse(errc::invalid_url, wrong->message);
    }
    return std::get<net::parsed_url>(std::move(parsed));
}

void complete(net::endpoint& where, const options& settings) {
    if (where.user.empty()) where.user = settings.user;
    if (where.password.empty()) where.password = settings.password;
    where.tls_options = {.ca_file = settings.tls.ca_file,
                         .certificate_file = settings.tls.certificate_file,
                         .key_file = settings.tls.key_file,
                         .server_name = settings.tls.server_name,
                         .verify = settings.tls.verify};
}

void check_count(std::size_t count) {
    if (count > core::max_nodes) {
        refuse(errc::invalid_option,
               std::to_string(count) + " servers are more than " + std::to_string(core::max_nodes));
    }
    if (count % 2 == 0) {
        refuse(errc::invalid_option, "a quorum of " + std::to_string(count) +
                                         " servers survives no more failures than one of " +
                                         std::to_string(count - 1) + "; give an odd number");
    }
}

bool share_a_sentinel(const net::sentinel_group& one, const net::sentinel_group& other) {
    return std::any_of(one.addresses.begin(), one.addresses.end(), [&](const auto& each) {
        return std::find(other.addresses.begin(), other.addresses.end(), each) !=
               other.addresses.end();
    });
}

bool same_server(const net::endpoint& one, const net::endpoint& other) {
    if (!one.sentinels || !other.sentinels) return one.name() == other.name();
    return one.sentinels->master_name == other.sentinels->master_name &&
           share_a_sentinel(*one.sentinels, *other.sentinels);
}

void check_distinct(const std::vector<net::endpoint>& endpoints) {
    for (auto each = endpoints.begin(); each != endpoints.end(); ++each) {
        const bool twice = std::any_of(endpoints.begin(), each, [&](const auto& before) {
            return same_server(before, *each);
        });
        if (!twice) continue;
        refuse(errc::invalid_option, each->name() + " is given twice; votes must be independent");
    }
}

bool has_group(const net::endpoint& where) { return where.sentinels.has_value(); }

// The address of a single server does not tell how many there are beside it. Sentinels do, and a
// Cluster does, shard by shard.
void check_acknowledgement(const options& settings, const std::vector<net::endpoint>& endpoints,
                           bool cluster) {
    const bool needed = settings.replica_acks.value_or(replicas::none()).needs_group();
    if (!needed || cluster) return;
    if (std::all_of(endpoints.begin(), endpoints.end(), has_group)) return;
    refuse(
        errc::invalid_option,
        "a majority of the replicas, or all of them, can be asked for only where the size of the "
        "group is known, and the address of a single server does not tell it; give the number "
        "of replicas that have to acknowledge, as replica_acks=1");
}

// Where one server can take another's place, it is one that may have forgotten locks.
void fill_in(options& settings, const std::vector<net::endpoint>& endpoints, bool cluster) {
    const bool quorum = settings.urls.size() > 1;
    const bool replaced = cluster || std::any_of(endpoints.begin(), endpoints.end(), has_group);
    if (settings.node_timeout == milliseconds(0)) {
        settings.node_timeout = quorum ? milliseconds(200) : milliseconds(1000);
    }
    const bool acknowledged = settings.replica_acks.value_or(replicas::none()) != replicas::none();
    if (!settings.restart_guard) settings.restart_guard = quorum || replaced || acknowledged;
}

// Each slot of a Cluster has one voter. Several Clusters would have to agree on more than that.
void check_alone(const options& given) {
    if (given.urls.size() == 1) return;
    refuse(errc::invalid_option,
           "a Cluster cannot be one of several servers that vote; give its URL alone");
}

void add_seeds(const net::parsed_url& from, std::vector<net::endpoint>& to) {
    for (const auto& seed : from.seeds) {
        auto where = from.where;
        where.host = seed.host;
        where.port = seed.port;
        to.push_back(std::move(where));
    }
}

}  // namespace

resolved resolve(options given) {
    if (given.urls.empty()) refuse(errc::invalid_option, "a client needs a URL");
    check_count(given.urls.size());
    resolved result;
    parameters all;
    for (const auto& url : given.urls) {
        const auto parsed = read(url);
        collect(parsed, all);
        if (parsed.cluster) {
            check_alone(given);
            result.cluster = true;
            add_seeds(parsed, result.endpoints);
        } else {
            result.endpoints.push_back(parsed.where);
        }
    }
    for (auto& where : result.endpoints) complete(where, given);
    check_distinct(result.endpoints);
    take_over(all, given);
    check(given);
    check_acknowledgement(given, result.endpoints, result.cluster);
    fill_in(given, result.endpoints, result.cluster);
    result.settings = std::move(given);
    return result;
}

}  // namespace holdfast::runtime
