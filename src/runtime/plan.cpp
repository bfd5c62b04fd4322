#include "runtime/plan.hpp"

#include <algorithm>
#include <utility>

#include "core/hash_slot.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/error.hpp"
#include "kinds/several.hpp"
#include "net/url.hpp"
#include "runtime/operations/failures.hpp"
#include "runtime/owner_token.hpp"

namespace holdfast::runtime {
namespace {

using std::chrono::milliseconds;

void require(bool right, const std::string& why) {
    if (!right) refuse(errc::invalid_option, why);
}

// Whatever is beyond all limits need not be shown exactly, and could not be.
std::string text(milliseconds value) {
    return format_duration(std::clamp<milliseconds>(value, -longest_time, longest_time));
}

void check_key(std::string_view key, std::string_view prefix) {
    if (key.empty()) refuse(errc::invalid_key, "a lock needs a key that is not empty");
    if (key.size() + prefix.size() > max_key_bytes) {
        refuse(errc::invalid_key, "a key of " + std::to_string(key.size() + prefix.size()) +
                                      " bytes is longer than " + std::to_string(max_key_bytes));
    }
    if ((std::string(prefix) + std::string(key)).starts_with(kinds::own_keys)) {
        refuse(errc::invalid_key,
               "keys that begin with " + std::string(kinds::own_keys) + " are Holdfast's own");
    }
}

bool is_clustered(const options& client) {
    return !client.urls.empty() && net::is_of_cluster(client.urls.front());
}

// One script names all of them.
void check_common_slot(const options& client, const std::string& first, const std::string& other) {
    if (!is_clustered(client) || core::hash_slot(first) == core::hash_slot(other)) return;
    refuse(errc::invalid_key,
           "several keys can be locked at once in a Cluster only where they are in one slot; give "
           "them a common hash tag, as {accounts}:17 and {accounts}:42");
}

void check_slot(const options& client, std::string_view lock) {
    if (!is_clustered(client) || kinds::shares_its_slot(lock)) return;
    refuse(
        errc::invalid_key,
        "a key with a '}' outside a hash tag cannot be locked in a Cluster, where all keys of one "
        "lock must be in one slot");
}

kinds::topology topology_of(const options& client) {
    return client.urls.size() == 1 ? kinds::topology::one_voter : kinds::topology::quorum;
}

void check_topology(const options& client, const kinds::kind& which) {
    const auto where = topology_of(client);
    require(which.allowed_on(where),
            "a lock of kind " + std::string(which.name()) + " cannot be kept by " +
                (where == kinds::topology::quorum ? "several servers that vote; give one"
                                                  : "one server") +
                std::string(which.why_refused()));
}

// Each of them would have an order of its own.
void check_fair(const options& client, const acquire_options& how) {
    require(!how.fair || topology_of(client) == kinds::topology::one_voter,
            "fair locks need one server, which knows who came first: several that vote have no "
            "common order");
}

void check_label(std::size_t bytes) {
    require(bytes <= max_label_bytes, "a label of " + std::to_string(bytes) +
                                          " bytes is longer than " +
                                          std::to_string(max_label_bytes));
}

void check_range(milliseconds value, const std::string& name) {
    require(value >= milliseconds(0) && value <= longest_time,
            name + " must lie between 0 and " + text(longest_time));
}

// Redis takes any name without spaces and control characters.
void check_name(const std::string& name) {
    const auto wrong =
        std::find_if(name.begin(), name.end(), [](char c) { return c < '!' || c > '~'; });
    require(wrong == name.end(), "client_name must consist of printable characters without spaces");
}

void check_times(const options& client, const acquire_options& how) {
    require(how.ttl >= min_ttl, "a ttl of " + text(how.ttl) + " is shorter than " + text(min_ttl));
    require(how.ttl <= client.max_ttl,
            "a ttl of " + text(how.ttl) + " is longer than max_ttl, " + text(client.max_ttl) +
                "; set that, for every client the same, by options::max_ttl or max_ttl in the URL");
    check_range(how.max_hold, "max_hold");
    check_range(how.loss_notice, "loss_notice");
    check_range(how.min_validity, "min_validity");
    const auto guard_time = std::max(how.guard_time, client.guard_time);
    require(
        how.guard_time >= milliseconds(0) && guard_time < how.ttl / 2,
        "a guard_time of " + text(guard_time) + " must be below half the ttl of " + text(how.ttl));
}

core::timing timing_of(const options& client, const acquire_options& how, core::duration notice) {
    core::timing timing{.ttl = how.ttl,
                        .guard_time = std::max(how.guard_time, client.guard_time),
                        .min_validity = how.min_validity,
                        .drift_per_mille = client.drift_per_mille};
    if (timing.min_validity == core::duration{0}) timing.min_validity = notice;
    return timing;
}

}  // namespace

namespace {

// Whatever is the same for one key and for several.
std::shared_ptr<plan> begin_plan(const options& client, std::string_view key,
                                 const acquire_options& how, const kinds::kind& which,
                                 std::shared_ptr<candidacy> candidate = nullptr) {
    check_topology(client, which);
    require(how.fencing || !candidate,
            "an election needs fencing: its term is the fencing token of who leads");
    check_fair(client, how);
    check_key(key, client.prefix);
    check_label(how.label.size());
    check_times(client, how);
    auto result = std::make_shared<plan>();
    result->kind = &which;
    result->keys.lock = client.prefix + std::string(key);
    check_slot(client, result->keys.lock);
    if (!client.prefix.empty()) result->given = std::make_unique<const std::string>(key);
    result->keys.fenced = how.fencing;
    result->keys.queued = topology_of(client) == kinds::topology::one_voter;
    result->notice = how.loss_notice == milliseconds(0) ? core::duration(how.ttl) / 6
                                                        : core::duration(how.loss_notice);
    result->timing = timing_of(client, how, result->notice);
    const auto usable = result->timing.ttl - result->timing.guard();
    require(result->notice < usable && result->timing.min_validity < usable,
            "loss_notice and min_validity must be shorter than the ttl less its guard, " +
                format_duration(usable));
    result->retention = client.fence_retention;
    result->max_hold = how.max_hold;
    result->renewing = how.renew;
    result->await_release = how.await_release;
    result->fair = how.fair;
    result->label = readable(how.label.empty() ? client.label : std::string(how.label.view()));
    result->candidate = std::move(candidate);
    return result;
}

}  // namespace

plan_pointer make_plan(const options& client, std::string_view key, const acquire_options& how,
                       const kinds::kind& which, std::shared_ptr<candidacy> candidate,
                       std::uint32_t permits) {
    auto result = begin_plan(client, key, how, which, std::move(candidate));
    result->keys.permits = permits;
    return result;
}

plan_pointer make_plan(const options& client, std::span<const std::string> keys,
                       const acquire_options& how) {
    if (keys.size() == 1) return make_plan(client, keys.front(), how);
    auto result = begin_plan(client, keys.front(), how, kinds::several());
    std::vector<std::string> others;
    for (const auto& key : keys.subspan(1)) {
        check_key(key, client.prefix);
        others.push_back(client.prefix + key);
        check_slot(client, others.back());
        check_common_slot(client, result->keys.lock, others.back());
    }
    result->keys.others = std::make_shared<const std::vector<std::string>>(std::move(others));
    result->given = std::make_unique<const std::string>(name_of(keys));
    return result;
}

std::vector<std::string> list_of(std::vector<std::string> keys) {
    if (keys.empty()) refuse(errc::invalid_key, "a lock needs a key");
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    if (keys.size() > max_keys) {
        refuse(errc::invalid_key, std::to_string(keys.size()) + " keys at once are more than " +
                                      std::to_string(max_keys));
    }
    return keys;
}

std::string name_of(std::span<const std::string> keys) {
    std::string name = keys.front();
    for (const auto& key : keys.subspan(1)) (name += ", ") += key;
    return name;
}

plan_pointer as_kind(const plan& what, const kinds::kind& which) {
    auto result = std::make_shared<plan>();
    result->kind = &which;
    result->keys = what.keys;
    if (what.given) result->given = std::make_unique<const std::string>(*what.given);
    result->timing = what.timing;
    result->retention = what.retention;
    result->notice = what.notice;
    result->max_hold = what.max_hold;
    result->renewing = what.renewing;
    result->await_release = what.await_release;
    result->fair = what.fair;
    result->label = what.label;
    return result;
}

plan_pointer make_plan(const options& client, std::string_view key) {
    return make_plan(client, key, {.ttl = client.max_ttl});
}

void check(const options& client) {
    check_range(client.node_timeout, "node_timeout");
    check_range(client.connect_timeout, "connect_timeout");
    check_range(client.patience, "patience");
    check_range(client.fence_retention, "fence_retention");
    require(client.connect_timeout > milliseconds(0), "connect_timeout must be above zero");
    require(client.max_ttl >= min_ttl && client.max_ttl <= longest_max_ttl,
            "max_ttl must lie between " + text(min_ttl) + " and " + text(longest_max_ttl));
    require(client.fence_retention >= client.max_ttl,
            "fence_retention must not be shorter than max_ttl");
    require(client.guard_time >= milliseconds(0), "guard_time must not be negative");
    require(client.drift_per_mille <= max_drift_per_mille,
            "drift_per_mille must be at most " + std::to_string(max_drift_per_mille));
    require(!client.replica_acks || client.replica_acks->count() <= max_replica_acks,
            "replica_acks must be at most " + std::to_string(max_replica_acks));
    check_label(client.label.size());
    check_name(client.client_name);
}

}  // namespace holdfast::runtime
