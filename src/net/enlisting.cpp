#include "net/enlisting.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "core/hash_slot.hpp"
#include "net/explain.hpp"
#include "resp/encoder.hpp"
#include "scripts/embedded.hpp"

namespace holdfast::net {
namespace {

using std::chrono::milliseconds;

// Rounded up: servers count whole milliseconds.
std::string in_milliseconds(core::duration value) {
    return std::to_string(std::chrono::ceil<milliseconds>(value).count());
}

std::string span_of(enlisting how, const core::judge& by) {
    switch (how) {
        case enlisting::unguarded: return {};
        case enlisting::guarded: return in_milliseconds(by.quarantine());
        case enlisting::vouched: break;
    }
    return "0";
}

// No honest record says more, and a sum with it would not fit.
constexpr auto longest = std::chrono::floor<milliseconds>(core::duration::max() / 2);

}  // namespace

failure no_record() {
    return {errc::unsafe_server,
            "there is something else at the record of its life, " + std::string(core::record_key) +
                "; if it holds no locks, 'holdfast enlist --fresh' replaces that",
            true};
}

void append_enlist(std::string& out, const core::server_facts& of, enlisting how,
                   const core::judge& by, const core::replication& group, bool acknowledged) {
    const auto span = span_of(how, by);
    const auto max_ttl = in_milliseconds(by.max_ttl());
    resp::append_command(
        out, {"EVAL", scripts::enlist.text, "4", core::record_key, core::life_key, core::marker_key,
              core::quarantine_key, of.run_id, of.replication_id,
              of.second_replication_id.empty() ? "1" : "0", span, max_ttl,
              std::to_string(group.members), std::to_string(group.acks), acknowledged ? "1" : "0"});
}

std::string slot_record_key(std::uint16_t slot) {
    return std::string(core::record_key) + ":{" + core::slot_tag(slot) + "}";
}

// NOLINTNEXTLINE(readability-function-size): what append_enlist() has, and where
void append_slot_enlist(std::string& out, bool by_text, std::string_view record,
                        const core::server_facts& of, enlisting how, const core::judge& by,
                        const core::replication& group, bool acknowledged) {
    const auto span = span_of(how, by);
    const auto max_ttl = in_milliseconds(by.max_ttl());
    resp::append_command(
        out,
        {by_text ? "EVAL" : "EVALSHA", by_text ? scripts::enlist.text : scripts::enlist.sha1, "1",
         record, of.run_id, of.replication_id, of.second_replication_id.empty() ? "1" : "0", span,
         max_ttl, std::to_string(group.members), std::to_string(group.acks),
         acknowledged ? "1" : "0", of.second_replication_id});
}

std::variant<core::enlistment, failure> read_enlist(resp::view reply) {
    std::array<std::int64_t, 5> number{};  // as the script's contract lists them
    for (std::size_t n = 0; n < number.size(); ++n) {
        const auto child = reply.at(n);
        const auto value = child ? child->integer() : std::nullopt;
        if (reply.is_error() || !value || *value < 0) {
            auto why = explain(reply);
            return why.code == errc::wrong_type ? no_record() : std::move(why);
        }
        number[n] = *value;
    }
    if (milliseconds(std::max(number[1], number[3])) > longest) return no_record();
    const bool other_group = number[0] == 4;
    const auto grown = reply.at(number.size());
    const auto from = grown ? grown->integer().value_or(0) : 0;
    return core::enlistment{
        .quarantine = milliseconds(number[1]),
        .floor = other_group ? 0 : static_cast<std::uint64_t>(number[2]),
        .max_ttl = milliseconds(number[3]),
        .time = static_cast<std::uint64_t>(number[4]),
        .agreed = number[0] != 2,
        .begun = number[0] == 1,
        .noted_only = number[0] == 3,
        .group = other_group ? static_cast<std::size_t>(number[2]) : 0,
        .grown_from = static_cast<std::size_t>(std::max<std::int64_t>(from, 0))};
}

}  // namespace holdfast::net
