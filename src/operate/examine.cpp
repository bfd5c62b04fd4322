#include <algorithm>
#include <charconv>
#include <utility>

#include "api/access.hpp"
#include "core/hash_slot.hpp"
#include "core/judge.hpp"
#include "holdfast/operate.hpp"
#include "net/enlisting.hpp"
#include "net/supported.hpp"
#include "operate/group.hpp"
#include "operate/interview.hpp"
#include "operate/observer.hpp"
#include "operate/rights.hpp"
#include "operate/server_clock.hpp"
#include "operate/trial.hpp"
#include "platform/environment.hpp"
#include "resp/view.hpp"
#include "runtime/cluster.hpp"
#include "runtime/endpoints.hpp"
#include "runtime/operations/failures.hpp"
#include "runtime/operations/query.hpp"
#include "runtime/operations/slot_enlisting.hpp"

namespace holdfast {
namespace {

using detail::interview;
using detail::micros_of;
using std::chrono::milliseconds;

constexpr int round_trips_measured = 9;

std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size() && !text.empty();
    return whole ? std::optional(value) : std::nullopt;
}

std::chrono::nanoseconds median_round_trip(interview& with) HOLDFAST_LOCKED {
    std::vector<std::chrono::nanoseconds> samples;
    for (int n = 0; n < round_trips_measured; ++n) {
        const auto begin = with.engine().now();
        if (with.ask({"PING"})) samples.push_back(with.engine().now() - begin);
    }
    if (samples.empty()) return {};
    std::sort(samples.begin(), samples.end());
    return samples[samples.size() / 2];
}

void read_info(server_report& report, const net::greeting& said) {
    report.protocol = said.protocol;
    report.tracking = said.tracking;
    const auto valkey = said.field("valkey_version");
    report.product = valkey.empty() ? "redis" : "valkey";
    report.version = valkey.empty() ? said.field("redis_version") : valkey;
    report.mode = said.mode();
    report.run_id = said.field("run_id");
    report.role = said.role();
    if (const auto host = said.field("master_host"); !host.empty()) {
        report.master = std::string(host) + ":" + std::string(said.field("master_port"));
    }
    report.eviction_policy = said.field("maxmemory_policy");
    report.maxmemory = number(said.field("maxmemory"));
    if (const auto aof = said.field("aof_enabled"); !aof.empty()) report.append_only = aof == "1";
}

void read_clock(server_report& report, interview& with) HOLDFAST_LOCKED {
    if (const auto reply = with.ask({"TIME"})) {
        report.clock_difference = detail::clock_difference(*reply);
    }
}

/// The value of one setting; nullopt: it would not say.
std::optional<std::string> setting(interview& with, const std::string& name) HOLDFAST_LOCKED {
    const auto reply = with.ask({"CONFIG", "GET", name});
    if (!reply) return std::nullopt;
    const auto value = resp::view(*reply).at(1);
    return value ? std::optional(std::string(value->text())) : std::nullopt;
}

void read_persistence(server_report& report, interview& with) HOLDFAST_LOCKED {
    report.fsync = setting(with, "appendfsync").value_or("");
    if (const auto save = setting(with, "save")) report.snapshots = !save->empty();
}

void read_rights(server_report& report, interview& with, const kinds::keys& lock) HOLDFAST_LOCKED {
    const auto& settings = with.engine().settings();
    auto found = detail::find_lacking_rights(with, settings.prefix, lock, *settings.restart_guard);
    report.missing_rights = std::move(found.to_lock);
    report.queue_rights = std::move(found.to_queue);
    report.further_rights = std::move(found.further);
}

/// What a record of a server's life says under a name; empty: nothing.
std::string noted(std::string_view record, const std::string& name) {
    const auto text = " " + std::string(record);
    const auto at = text.find(" " + name + "=");
    if (at == text.npos) return {};
    const auto begin = at + name.size() + 2;
    return text.substr(begin, text.find(' ', begin) - begin);
}

/// No record where it says what no client writes, as in src/scripts/enlist.lua.
std::string_view sound(std::string_view record, std::chrono::microseconds now) {
    constexpr auto a_year = std::chrono::hours(24 * 366);
    const auto latest = static_cast<std::uint64_t>((now + a_year).count());
    constexpr std::uint64_t longest = milliseconds(longest_max_ttl).count();
    for (const auto& [name, limit] :
         {std::pair{"floor", latest}, {"until", latest}, {"max_ttl", longest}}) {
        const auto said = noted(record, name);
        if (!said.empty() && number(said).value_or(limit + 1) > limit) return {};
    }
    return noted(record, "floor").empty() ? std::string_view{} : record;
}

// As a guarded client would see it; nothing is written. In a Cluster each slot has a record: that
// of the trial lock's slot is taken for all of them.
void read_guard(server_report& report, interview& with, const kinds::keys& lock) HOLDFAST_LOCKED {
    const auto record =
        with.ask({"GET", report.shard ? net::slot_record_key(core::hash_slot(lock.lock))
                                      : std::string(core::record_key)});
    const auto time = with.ask({"TIME"});
    if (!record || !time || resp::view(*record).is_error() || report.run_id.empty()) return;
    const std::chrono::microseconds now(micros_of(*time));
    const auto text = sound(resp::view(*record).text(), now);
    const auto facts = with.node().facts();
    const bool replicated = noted(text, "replication") == facts.replication_id;
    const bool known =
        noted(text, "run") == report.run_id && (replicated || facts.second_replication_id.empty());
    const auto until = number(noted(text, "until"));
    report.enlisted = known && until.has_value();
    if (const auto agreed = number(noted(text, "max_ttl"))) report.max_ttl = milliseconds(*agreed);
    if (report.group) report.group->agreed_on = number(noted(text, "group"));
    if (!*report.enlisted) return;
    const auto left = std::chrono::microseconds(*until) - now;
    if (left.count() > 0) report.quarantine = std::chrono::ceil<milliseconds>(left);
}

/// The URL of the first master that a Sentinel watches: `name=main,status=ok,address=...`.
std::string watched_master(const server_report& report, const net::greeting& said) {
    constexpr std::string_view label = "name=";
    const auto master = said.field("master0");
    if (!master.starts_with(label)) return {};
    const auto name = master.substr(label.size());
    return std::string(report.tls ? "rediss" : "redis") + "+sentinel://" + report.node + "/" +
           std::string(name.substr(0, name.find(',')));
}

void read_replicas(server_report& report, interview& with) HOLDFAST_LOCKED {
    if (!report.group) return;
    const auto info = with.ask({"INFO", "replication"});
    if (info) report.group->replicas = detail::replicas_in(resp::view(*info).text());
    report.group->min_replicas_to_write = detail::replicas_to_write(with);
}

/// What the Cluster says of its part in it.
void read_shard(server_report& report, interview& with) HOLDFAST_LOCKED {
    auto* const found = with.engine().cluster();
    const auto& map = found->map();
    for (std::size_t n = 0; n < map.masters().size(); ++n) {
        if (&found->server(n) != &with.node()) continue;
        report.shard = {.slots = map.served_by(n),
                        .replicas = map.masters()[n].replicas,
                        .members = found->size_around(with.node()).at_least,
                        .covered = map.covered()};
    }
}

/// `facts`: what it said when it was connected to.
server_report examine_one(runtime::engine& engine, core::node_index whom,
                          const net::endpoint& given, core::server_facts& facts) {
    std::optional<group_report> group;
    if (given.sentinels) {
        group.emplace(group_report{.master_name = given.sentinels->master_name});
        group->sentinels = detail::ask_sentinels(given, engine.settings());
    }
    const auto lock = [&] {
        const auto held = engine.lock();
        return detail::trial_keys(engine, whom);
    }();
    interview with(engine, whom);
    const bool clustered = engine.cluster() != nullptr;
    server_report report{.node = with.node().name(), .tls = with.node().tls()};
    report.group = std::move(group);
    const auto greeted = with.ask({"PING"});
    report.node = with.node().name();
    if (!greeted) {
        report.error = with.failure().message;
        report.code = with.failure().code;
        return report;
    }
    report.round_trip = median_round_trip(with);
    const auto said = with.node().said();
    facts = said.facts();
    read_info(report, said);
    if (clustered) read_shard(report, with);
    if (const auto why = net::why_unsupported(said, clustered)) {
        report.unsupported = why->message;
        report.watched_master = watched_master(report, said);
        return report;
    }
    read_clock(report, with);
    read_persistence(report, with);
    read_rights(report, with, lock);
    read_guard(report, with, lock);
    read_replicas(report, with);
    if (!with.node().facts().is_replica) report.trial = detail::try_lock_at(with, lock);
    return report;
}

/// Not by what the nodes know now: a replica that is tried to be written to is connected to anew.
void name_conflict(std::vector<server_report>& reports,
                   const std::vector<core::server_facts>& facts) {
    const auto found = core::find_conflict(facts);
    if (!found) return;
    reports[found->first].one_with = reports[found->second].node;
    reports[found->second].one_with = reports[found->first].node;
}

/// All of them; where a Cluster does not say who they are, its seeds, each of which then says why.
std::vector<core::node_index> whom_to_examine(runtime::engine& engine) {
    auto lock = engine.lock();
    try {
        return engine.servers(lock);
    } catch (const std::system_error&) {
        std::vector<core::node_index> seeds;
        for (std::size_t n = 0; n < engine.node_count(); ++n) seeds.push_back(engine.node_at(n));
        return seeds;
    }
}

}  // namespace

// Through connections of its own: those of the client enlist the servers, and are refused by what
// is to be examined.
std::vector<server_report> examine(client& through) {
    detail::access::shared(through)->check_process();
    auto settings = through.settings();
    settings.log = {};
    const auto users = runtime::resolve(settings).endpoints;
    const auto looking = std::make_shared<runtime::engine>(platform::make_environment(),
                                                           std::move(settings), net::purpose::look);
    std::vector<server_report> reports;
    const auto whom = whom_to_examine(*looking);
    std::vector<core::server_facts> facts(whom.size());
    for (std::size_t n = 0; n < whom.size(); ++n) {
        const auto& given = users[std::min(n, users.size() - 1)];  // seeds differ by address alone
        reports.push_back(examine_one(*looking, whom[n], given, facts[n]));
        if (auto& group = reports.back().group) {
            detail::ask_replicas(group->replicas, given, looking->settings());
            detail::count_members(*group, through.settings());
        }
        reports.back().user = given.user.empty() ? "default" : given.user;
    }
    name_conflict(reports, facts);
    looking->close();
    return reports;
}

namespace {

/// While it lives the node vouches for its server when it connects; not for whatever answers at
/// that address later.
class vouching {
  public:
    vouching(runtime::engine& through, core::node_index whom,
             const std::string& life) HOLDFAST_LOCKED : engine_(through),
                                                        whom_(whom) {
        engine_.node(whom_).vouch(life, engine_.now());
    }
    ~vouching() { engine_.node(whom_).stop_vouching(); }

    vouching(const vouching&) = delete;
    vouching& operator=(const vouching&) = delete;

  private:
    runtime::engine& engine_;
    core::node_index whom_;
};

/// Whom an operator vouches for.
struct vouched {
    std::string life{};  // and no other; empty: whichever it lives
};

/// Connects; throws what kept it from that.
void reach(runtime::engine& engine, base::client_lock& lock, core::node_index whom,
           const std::optional<vouched>& for_whom) HOLDFAST_LOCKED {
    std::optional<vouching> vouches;
    if (for_whom) vouches.emplace(engine, whom, for_whom->life);
    const auto hello = runtime::query::run_on(engine, lock, whom, {"PING"});
    if (const auto* why = std::get_if<net::failure>(&hello)) runtime::raise(*why);
}

/// Enlists one node; throws what kept it from that. A connection that is made anew meanwhile may
/// lead to another life: what is written is decided by the facts of the one that it is written to.
milliseconds enlist_one(runtime::engine& engine, core::node_index whom,
                        const std::optional<vouched>& for_whom) {
    auto lock = engine.lock();
    reach(engine, lock, whom, for_whom);
    auto& node = engine.node(whom);
    const auto meant = [&]() HOLDFAST_LOCKED {
        return for_whom &&
               (for_whom->life.empty() || for_whom->life == core::life_of(node.facts()));
    };
    if (for_whom && !meant()) runtime::raise(net::another_life());
    const auto answer =
        runtime::query::run_on(engine, lock, whom, [&](std::string& out, bool) HOLDFAST_LOCKED {
            const auto how = meant() ? net::enlisting::vouched : net::enlisting::guarded;
            // Who has no guard has not had its replicas acknowledge the life that it found.
            net::append_enlist(out, node.facts(), how, node.judge(), node.group(),
                               node.judge().guards());
        });
    if (const auto* why = std::get_if<net::failure>(&answer)) runtime::raise(*why);
    if (for_whom && !meant()) runtime::raise(net::another_life());
    const auto found = net::read_enlist(resp::view(std::get<std::string>(answer)));
    if (const auto* why = std::get_if<net::failure>(&found)) runtime::raise(*why);
    const auto& record = std::get<core::enlistment>(found);
    if (!record.agreed || record.group != 0) runtime::raise(node.disagreement(record));
    if (record.noted_only) {
        runtime::refuse(errc::invalid_option, "with replica_acks it takes the restart guard");
    }
    node.enlisted(record, engine.now());
    return std::chrono::ceil<milliseconds>(record.quarantine);
}

/// The same for all slots that a server of a Cluster serves. Returns the longest quarantine.
milliseconds enlist_shard(runtime::engine& engine, core::node_index whom,
                          const std::optional<vouched>& for_whom) {
    auto lock = engine.lock();
    reach(engine, lock, whom, std::nullopt);
    auto& node = engine.node(whom);
    const auto life = core::life_of(node.facts());
    const bool meant = for_whom && (for_whom->life.empty() || for_whom->life == life);
    if (for_whom && !meant) runtime::raise(net::another_life());
    return std::chrono::ceil<milliseconds>(runtime::enlist_slots(
        engine, lock, whom, meant ? net::enlisting::vouched : net::enlisting::guarded));
}

bool is_cluster(runtime::engine& engine) {
    const auto lock = engine.lock();
    return engine.cluster() != nullptr;
}

/// `whom_for(n)`: whom of them somebody vouches for, if anybody.
template <typename Vouched>
std::vector<milliseconds> enlist_all(client& through, Vouched&& whom_for) {
    const auto& shared = detail::access::shared(through);
    shared->check_process();
    std::vector<milliseconds> result;
    std::error_code first;
    std::string all;
    auto& engine = *shared->engine();
    const auto servers = detail::servers_of(engine);
    for (std::size_t n = 0; n < servers.size(); ++n) {
        const auto whom = servers[n];
        try {
            result.push_back(is_cluster(engine) ? enlist_shard(engine, whom, whom_for(n))
                                                : enlist_one(engine, whom, whom_for(n)));
        } catch (const std::system_error& failed) {
            if (!first) first = failed.code();
            all += (all.empty() ? "" : "; ") + detail::name_of(*shared->engine(), whom) +
                   " was not enlisted: " + runtime::said_by(failed);
        }
    }
    if (!all.empty()) throw std::system_error(first, all);
    return result;
}

}  // namespace

std::vector<milliseconds> enlist(client& through, bool fresh) {
    return enlist_all(through,
                      [&](std::size_t) { return fresh ? std::optional(vouched{}) : std::nullopt; });
}

std::vector<milliseconds> vouch_for(client& through, const std::vector<std::string>& lives) {
    if (lives.size() != detail::servers_of(*detail::access::shared(through)->engine()).size()) {
        throw std::system_error(errc::invalid_option, "as many lives as there are servers");
    }
    return enlist_all(through, [&](std::size_t n) { return std::optional(vouched{lives[n]}); });
}

std::vector<std::string> lives(client& through) {
    const detail::observer looking(through);
    std::vector<std::string> all;
    for (const auto each : detail::servers_of(looking.engine())) {
        detail::interview with(looking.engine(), each);
        if (!with.ask({"PING"})) {
            auto why = with.failure();
            why.message.insert(0, with.node().name() + ": ");
            runtime::raise(why);
        }
        all.push_back(core::life_of(with.node().facts()));
    }
    return all;
}

}  // namespace holdfast
