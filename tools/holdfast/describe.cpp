#include "describe.hpp"

#include "holdfast/duration.hpp"
#include "json.hpp"
#include "message.hpp"

namespace holdfast::tool {
namespace {

bool has_majority(const lock_status& status) { return 2 * status.votes > status.nodes; }

bool has_holder(const lock_status& status) {
    return status.held_by && !status.held_by->quarantine && !status.held_by->owner.empty();
}

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

}  // namespace

std::string in_words(std::chrono::nanoseconds duration) {
    using namespace std::chrono_literals;
    if (duration >= 10s) return format_duration(std::chrono::round<std::chrono::seconds>(duration));
    if (duration >= 1s)
        return format_duration(std::chrono::round<std::chrono::milliseconds>(duration) / 100 * 100);
    return format_duration(std::chrono::round<std::chrono::milliseconds>(duration));
}

std::string holder_in_words(const holder& who) {
    if (who.quarantine) return "nobody (the server has restarted and grants nothing yet)";
    if (who.foreign()) return "another library, with the value '" + printable(who.owner) + "'";
    std::string words = who.user + "@" + who.host + ", process " + std::to_string(who.pid);
    if (!who.label.empty()) words += " (" + who.label + ")";
    return printable(words);
}

std::string lease_in_words(const holder& who) {
    if (!who.remaining) return "its lease never ends by itself";
    const char* what = who.quarantine ? "that lasts another " : "its lease runs another ";
    return what + in_words(*who.remaining);
}

lock_state state_of(const lock_status& status) {
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

std::string status_as_json(const lock_status& status) {
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
    const auto remaining = status.held_by ? status.held_by->remaining : std::nullopt;
    object.add("ttl_ms", milliseconds_of(remaining)).add("token", status.token);
    object.add("votes", std::uint64_t{status.votes}).add("nodes", std::uint64_t{status.nodes});
    return object.line();
}

}  // namespace holdfast::tool
