#include "describe.hpp"

#include <algorithm>
#include <utility>

#include "holdfast/duration.hpp"
#include "json.hpp"
#include "message.hpp"

namespace holdfast::tool {
namespace {

bool has_majority(const lock_status& status) { return 2 * status.votes > status.nodes; }

bool has_holder(const lock_status& status) { return status.held_by && !status.held_by->quarantine; }

json_object holder_as_json(const holder& who) {
    json_object object;
    object.add("host", who.host).add("pid", who.pid).add("user", who.user);
    return object.add("label", who.label);
}

std::optional<std::int64_t> milliseconds_of(
    const std::optional<std::chrono::milliseconds>& duration) {
    if (!duration) return std::nullopt;
    return duration->count();
}

const char* kind_of(const holder& who) {
    if (who.several) return "several";
    if (who.leads) return "election";
    return who.reads ? "shared" : "exclusive";
}

/// Who cannot be named is all null. Who would share the lock, or lead, says so.
json_object waiter_as_json(const lock_status::waiter& each) {
    json_object object;
    if (each.who.foreign()) {
        object.add_null("host").add_null("pid").add_null("user").add_null("label");
    } else {
        object = holder_as_json(each.who);
    }
    object.add("since_ms", milliseconds_of(each.waited));
    if (each.who.reads || each.who.several || each.who.leads) {
        object.add("kind", kind_of(each.who));
    }
    return object;
}

void add_waiters(json_object& object, const lock_status& status) {
    if (!status.waiters) {
        object.add_null("waiters");
        return;
    }
    std::vector<json_object> all;
    for (const auto& each : *status.waiters) all.push_back(waiter_as_json(each));
    object.add("waiters", all);
}

json_object reader_as_json(const lock_status::reader& each) {
    return holder_as_json(each.who)
        .add("owner", each.who.owner)
        .add("ttl_ms", milliseconds_of(each.who.remaining));
}

void add_readers(json_object& object, const lock_status& status) {
    if (!status.held_by || !status.held_by->reads || !status.readers) return;
    std::vector<json_object> all;
    for (const auto& each : *status.readers) all.push_back(reader_as_json(each));
    object.add("readers", all);
}

void add_permits(json_object& object, const lock_status& status) {
    if (!status.permits) return;
    std::vector<json_object> all;
    for (const auto& each : *status.permits) {
        auto one = reader_as_json({each.who});
        all.push_back(one.add("slot", std::uint64_t{each.slot}));
    }
    object.add("permits", all);
}

json_object forced_as_json(const forced_release& last) {
    const auto since = last.at.time_since_epoch();
    const auto at = std::chrono::duration_cast<std::chrono::milliseconds>(since);
    json_object object;
    object.add("by", last.by).add("held_by", last.held_by).add("at_ms", std::int64_t{at.count()});
    return object.add("reason", last.reason);
}

std::optional<std::uint64_t> number_of(const std::optional<std::size_t>& count) {
    if (!count) return std::nullopt;
    return *count;
}

}  // namespace

json_object leader_as_json(const std::string& name, const leader& now) {
    json_object object;
    object.add("key", name).add("state", now ? "held" : "free");
    if (!now) return object.add_null("holder").add_null("term").add_null("value");
    object.add("holder", holder_as_json(now.who));
    return object.add("term", now.term).add("value", now.value);
}

std::string leader_in_words(const leader& now) {
    if (!now) return "nobody leads";
    const std::string value = now.value.empty() ? "" : ": " + now.value;
    return printable(now.who.describe() + " leads in term " + std::to_string(now.term) + value);
}

namespace {

/// What nobody holds is held back by who has not counted down.
json_object latch_as_json(const lock_status& status) {
    const auto& latch = *status.latch;
    json_object object;
    object.add("key", status.key).add("state", name_of(state_of(status)));
    object.add_null("owner").add_null("holder").add("ttl_ms", milliseconds_of(latch.remaining));
    object.add_null("token").add_null("votes").add("nodes", std::uint64_t{1});
    object.add("kind", "latch").add("count", latch.count).add("left", latch.left);
    return object.add_null("waiting");
}

json_object as_json(const lock_status& status) {
    const lock_state state = state_of(status);
    json_object object;
    object.add("key", status.key).add("state", name_of(state));
    if (state == lock_state::free) {
        object.add_null("owner").add_null("holder");
    } else {
        object.add("owner", status.held_by->owner);
        if (state == lock_state::held) object.add("holder", holder_as_json(*status.held_by));
        if (state == lock_state::foreign) object.add_null("holder");
    }
    const auto remaining = state == lock_state::free ? std::nullopt : status.held_by->remaining;
    object.add("ttl_ms", milliseconds_of(remaining)).add("token", status.token);
    object.add("votes", std::uint64_t{status.votes}).add("nodes", std::uint64_t{status.nodes});
    if (status.limit) {
        object.add("kind", "semaphore").add("limit", std::uint64_t{*status.limit});
        object.add("taken", number_of(status.taken));
    } else if (state == lock_state::held) {
        object.add("kind", kind_of(*status.held_by));
        if (status.leader)
            object.add("term", status.leader->term).add("value", status.leader->value);
        if (status.held_by->reads) object.add("reading", number_of(status.reading));
    }
    if (status.quarantine) object.add("quarantine_ms", std::int64_t{status.quarantine->count()});
    return object.add("waiting", number_of(status.waiting));
}

/// What another library keeps there may be anything; a line of it is enough.
std::string shortened(const std::string& value) {
    constexpr std::size_t enough = 64;
    if (value.size() <= enough) return printable(value);
    return printable(value.substr(0, enough)) + "...";
}

/// `1h30m`: rounded to the smaller unit, of which there may be none.
std::string in_two_units(std::chrono::nanoseconds duration, std::chrono::nanoseconds large,
                         const char* large_name, std::chrono::nanoseconds small,
                         const char* small_name) {
    const auto count = (duration + small / 2) / small;
    const auto per_large = large / small;
    std::string text = std::to_string(count / per_large) + large_name;
    if (count % per_large != 0) text += std::to_string(count % per_large) + small_name;
    return text;
}

}  // namespace

std::string in_words(std::chrono::nanoseconds duration) {
    using namespace std::chrono_literals;
    // From where the smaller unit is rounded up to a whole one of the larger.
    if (duration >= 24h - 30s) return in_two_units(duration, 24h, "d", 1h, "h");
    if (duration >= 1h - 500ms) return in_two_units(duration, 1h, "h", 1min, "m");
    if (duration >= 1min - 500ms) return in_two_units(duration, 1min, "m", 1s, "s");
    if (duration >= 10s) return format_duration(std::chrono::round<std::chrono::seconds>(duration));
    if (duration >= 1s)
        return format_duration(std::chrono::round<std::chrono::milliseconds>(duration) / 100 * 100);
    return format_duration(std::chrono::round<std::chrono::milliseconds>(duration));
}

std::string names_in_words(const std::vector<std::string>& keys) {
    std::string names;
    for (const auto& key : keys) names += (names.empty() ? "'" : ", '") + printable(key) + "'";
    return names;
}

std::string holder_in_words(const holder& who) {
    if (who.quarantine) return "nobody (the server has restarted and grants nothing yet)";
    if (who.foreign()) return "another library, as '" + shortened(who.owner) + "'";
    return who.describe();
}

std::string quarantine_in_words(std::chrono::milliseconds left) {
    return "in quarantine for another " + in_words(left) +
           ": servers that are new, have restarted, or have clients who now ask for more "
           "acknowledgements may have forgotten locks, and grant none until then; " +
           quarantine_advice();
}

std::string quarantine_advice() {
    return "wait, or 'holdfast enlist --fresh', only for new servers or when every program that "
           "locks here has been stopped";
}

std::string lease_in_words(const holder& who) {
    if (!who.remaining) return "its lease never ends by itself";
    const char* what = who.quarantine ? "that lasts another " : "its lease runs another ";
    return what + in_words(*who.remaining);
}

std::string lease_in_words(const lock_status& status) {
    if (status.ttl_known) return lease_in_words(*status.held_by);
    return "how long its lease runs is not known, as this user may not ask";
}

std::string votes_in_words(const lock_status& status) {
    return std::to_string(status.votes) + " of " + std::to_string(status.nodes);
}

std::string ordinal(std::size_t place) {
    const bool teen = place % 100 / 10 == 1;
    const auto last = teen ? 0 : place % 10;
    const char* const ending = last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
    return std::to_string(place) + ending;
}

std::string waiter_in_words(const lock_status::waiter& each) {
    if (each.who.foreign()) return "not known: Holdfast did not write what stands there";
    auto who = each.who;
    const char* to_read = std::exchange(who.reads, false) ? ", to read" : "";
    return who.describe() + to_read + (each.waited ? ", for " + in_words(*each.waited) : "");
}

std::string permits_in_words(const lock_status& status) {
    const std::string taken = status.taken ? std::to_string(*status.taken) : "?";
    return taken + " of " + std::to_string(*status.limit);
}

std::string reader_in_words(const lock_status::reader& each) {
    auto who = each.who;
    who.reads = false;
    return who.describe() + ", " + lease_in_words(who);
}

std::optional<std::size_t> own_place(const lock_status& status) {
    if (!status.waiters) return std::nullopt;
    const auto own = std::find_if(status.waiters->begin(), status.waiters->end(),
                                  [](const auto& each) { return each.ours; });
    if (own == status.waiters->end()) return std::nullopt;
    return static_cast<std::size_t>(own - status.waiters->begin()) + 1;
}

std::string held_in_words(const std::vector<lock_status>& locks) {
    return locks.size() == 1 ? "a lock is held" : std::to_string(locks.size()) + " locks are held";
}

std::string a_few_in_words(const std::vector<lock_status>& locks) {
    constexpr std::size_t enough = 3;
    std::string text;
    for (std::size_t n = 0; n < std::min(locks.size(), enough); ++n) {
        text += (n == 0 ? "'" : "; '") + printable(locks[n].key) + "' by " +
                holder_in_words(*locks[n].held_by) + ", " + lease_in_words(locks[n]);
    }
    if (locks.size() > enough) text += "; and " + std::to_string(locks.size() - enough) + " more";
    return text;
}

lock_state state_of(const lock_status& status) {
    if (status.latch) return status.latch->left > 0 ? lock_state::held : lock_state::free;
    if (!has_holder(status) || !has_majority(status)) return lock_state::free;
    return status.held_by->foreign() ? lock_state::foreign : lock_state::held;
}

const char* name_of(lock_state state) {
    switch (state) {
        case lock_state::held: return "held";
        case lock_state::free: return "free";
        case lock_state::foreign: return "foreign";
    }
    return "";
}

std::string status_as_json(const lock_status& status, const std::optional<forced_release>& last) {
    if (status.latch) return latch_as_json(status).add_null("waiters").line();
    auto object = as_json(status);
    add_readers(object, status);
    add_permits(object, status);
    add_waiters(object, status);
    if (last) object.add("forced", forced_as_json(*last));
    return object.line();
}

std::string listed_as_json(const lock_status& status) {
    return (status.latch ? latch_as_json(status) : as_json(status)).line();
}

std::string latch_in_words(const latch_view& latch) {
    if (latch.left == 0) return "open";
    return std::to_string(latch.count - latch.left) + " of " + std::to_string(latch.count) +
           " have counted down";
}

}  // namespace holdfast::tool
