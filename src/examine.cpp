#include <algorithm>
#include <charconv>
#include <utility>

#include "access.hpp"
#include "core/judge.hpp"
#include "holdfast/operate.hpp"
#include "resp/view.hpp"
#include "runtime/failures.hpp"
#include "runtime/query.hpp"
#include "runtime/wire.hpp"

namespace holdfast {
namespace {

using std::chrono::milliseconds;

constexpr int round_trips_measured = 9;

/// Asks one node questions, one after the other, and reads the answers.
class interview {
  public:
    interview(runtime::engine& through, core::node_index whom)
        : engine_(through), lock_(through.lock()), whom_(whom) {}

    /// The reply as a frame, or nullopt; failure() says why.
    std::optional<std::string> ask(const std::vector<std::string>& command) {
        auto answer = runtime::query::run_on(engine_, lock_, whom_, command);
        if (auto* why = std::get_if<net::failure>(&answer)) {
            failure_ = *why;
            return std::nullopt;
        }
        return std::get<std::string>(std::move(answer));
    }

    [[nodiscard]] const net::failure& failure() const { return failure_; }
    [[nodiscard]] net::node& node() const { return engine_.node(whom_); }

  private:
    runtime::engine& engine_;
    std::unique_lock<std::mutex> lock_;
    core::node_index whom_;
    net::failure failure_;
};

std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size() && !text.empty();
    return whole ? std::optional(value) : std::nullopt;
}

std::chrono::nanoseconds median_round_trip(interview& with) {
    std::vector<std::chrono::nanoseconds> samples;
    for (int n = 0; n < round_trips_measured; ++n) {
        const auto begin = clock::now();
        if (with.ask({"PING"})) samples.push_back(clock::now() - begin);
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
    report.run_id = said.field("run_id");
    report.role = said.field("role");
    report.eviction_policy = said.field("maxmemory_policy");
    report.maxmemory = number(said.field("maxmemory"));
    report.fsync = said.appendfsync;
    if (const auto aof = said.field("aof_enabled"); !aof.empty()) report.append_only = aof == "1";
}

void read_clock(server_report& report, interview& with) {
    const auto reply = with.ask({"TIME"});
    if (!reply) return;
    const auto here = std::chrono::system_clock::now().time_since_epoch();
    const auto seconds = resp::view(*reply).at(0);
    const auto micros = resp::view(*reply).at(1);
    if (!seconds || !micros) return;
    const auto there = std::chrono::seconds(seconds->as_integer().value_or(0)) +
                       std::chrono::microseconds(micros->as_integer().value_or(0));
    report.clock_difference = std::chrono::duration_cast<milliseconds>(there - here);
}

void read_snapshots(server_report& report, interview& with) {
    const auto reply = with.ask({"CONFIG", "GET", "save"});
    if (!reply || resp::view(*reply).size() != 2) return;
    report.snapshots = !resp::view(*reply).at(1)->text().empty();
}

// Harmless forms of every command that a lock is made of: what the ACL refuses shows.
void read_rights(server_report& report, interview& with) {
    const std::string nobody = "holdfast:doctor";
    const std::vector<std::vector<std::string>> needed = {{"SET", nobody, "1", "PX", "1"},
                                                          {"GET", nobody},
                                                          {"PTTL", nobody},
                                                          {"PEXPIRE", nobody, "1"},
                                                          {"MGET", nobody},
                                                          {"DEL", nobody},
                                                          {"EVAL", "return 1", "0"},
                                                          {"EVALSHA", std::string(40, '0'), "0"},
                                                          {"TIME"},
                                                          {"INFO", "server"},
                                                          {"SCAN", "0", "COUNT", "1"}};
    for (const auto& command : needed) {
        const auto reply = with.ask(command);
        if (reply && resp::view(*reply).text().starts_with("NOPERM")) {
            report.missing_rights.push_back(command.front());
        }
    }
}

void read_guard(server_report& report, interview& with) {
    const auto marker = with.ask({"GET", std::string(core::marker_key)});
    const auto quarantine = with.ask({"PTTL", std::string(core::quarantine_key)});
    if (!marker || !quarantine || report.run_id.empty()) return;
    const resp::view mark(*marker);
    if (mark.is_error()) return;
    report.enlisted = mark.text() == report.run_id;
    const auto left = resp::view(*quarantine).integer().value_or(-2);
    if (left >= 0) report.quarantine = milliseconds(left);
}

server_report examine_one(runtime::engine& engine, core::node_index whom) {
    interview with(engine, whom);
    server_report report{.node = with.node().name(), .tls = with.node().tls()};
    if (!with.ask({"PING"})) {
        report.error = with.failure().message;
        report.code = with.failure().code;
        return report;
    }
    report.round_trip = median_round_trip(with);
    read_info(report, with.node().said());
    read_clock(report, with);
    read_snapshots(report, with);
    read_rights(report, with);
    read_guard(report, with);
    return report;
}

void name_conflict(std::vector<server_report>& reports, runtime::engine& engine) {
    const auto lock = engine.lock();
    std::vector<core::server_facts> facts;
    for (std::size_t n = 0; n < reports.size(); ++n) {
        const auto& node = engine.node({static_cast<std::uint8_t>(n)});
        facts.push_back(node.ready() ? node.facts() : core::server_facts{});
    }
    const auto found = core::find_conflict(facts);
    if (!found) return;
    reports[found->first].one_with = reports[found->second].node;
    reports[found->second].one_with = reports[found->first].node;
}

}  // namespace

std::vector<server_report> examine(client& through) {
    const auto& shared = detail::access::shared(through);
    shared->check_process();
    std::vector<server_report> reports;
    for (std::size_t n = 0; n < shared->engine()->node_count(); ++n) {
        reports.push_back(examine_one(*shared->engine(), {static_cast<std::uint8_t>(n)}));
    }
    name_conflict(reports, *shared->engine());
    return reports;
}

namespace {

/// Compares one node's marker; throws what kept it from that.
milliseconds enlist_one(runtime::engine& engine, core::node_index whom, bool fresh) {
    auto lock = engine.lock();
    const auto hello = runtime::query::run_on(engine, lock, whom, {"PING"});
    if (const auto* why = std::get_if<net::failure>(&hello)) runtime::raise(*why);
    const auto quarantine = fresh ? core::duration{0} : engine.node(whom).judge().quarantine();
    const auto answer = runtime::query::run_on(engine, lock, whom, [&](std::string& out, bool) {
        runtime::wire::enlist(out, true, engine.node(whom).facts().run_id, quarantine);
    });
    if (const auto* why = std::get_if<net::failure>(&answer)) runtime::raise(*why);
    const auto left = runtime::wire::read_enlist(resp::view(std::get<std::string>(answer)));
    if (const auto* why = std::get_if<net::failure>(&left)) runtime::raise(*why);
    return std::chrono::ceil<milliseconds>(
        std::max(std::get<core::duration>(left), core::duration{0}));
}

}  // namespace

std::vector<milliseconds> enlist(client& through, bool fresh) {
    const auto& shared = detail::access::shared(through);
    shared->check_process();
    std::vector<milliseconds> result;
    std::optional<std::system_error> first_failure;
    for (std::size_t n = 0; n < shared->engine()->node_count(); ++n) {
        const core::node_index whom{static_cast<std::uint8_t>(n)};
        try {
            result.push_back(enlist_one(*shared->engine(), whom, fresh));
        } catch (const std::system_error& failed) {
            if (!first_failure) {
                first_failure.emplace(failed.code(), shared->engine()->node(whom).name() +
                                                         " was not enlisted: " + failed.what());
            }
        }
    }
    if (first_failure) throw std::system_error(*first_failure);
    return result;
}

}  // namespace holdfast
