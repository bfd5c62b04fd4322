#include "net/acknowledgement.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "core/tuning.hpp"
#include "net/explain.hpp"
#include "net/handshake.hpp"
#include "net/redirect.hpp"
#include "resp/encoder.hpp"

namespace holdfast::net {
namespace {

using std::chrono::milliseconds;

std::string whole_milliseconds(clock::duration value) {
    return std::to_string(std::chrono::ceil<milliseconds>(value).count());
}

failure too_few(std::int64_t count, std::size_t needed, std::string_view done,
                std::size_t strangers) {
    failure why{.message = std::string(done) + ", but acknowledged by " + std::to_string(count) +
                           " of the " + std::to_string(needed) +
                           " replicas that replica_acks asks for"};
    if (strangers > 0) {
        why.message += "; " + std::to_string(strangers) +
                       " more follow it than its group has, and do not count";
    }
    return why;
}

}  // namespace

// To WAIT, no time at all means for ever.
void acknowledgement::append(std::string& out, question what, const terms& of) {
    switch (what) {
        case question::write:
            return resp::append_command(
                out, {"SET", of.at.key, "1", "PX",
                      whole_milliseconds(core::tuning::servers::acknowledged_write_lasts)});
        case question::count:
            return resp::append_command(
                out, {"WAIT", std::to_string(of.needed + of.strangers),
                      whole_milliseconds(std::max<clock::duration>(of.timeout, milliseconds(1)))});
        case question::life: return resp::append_command(out, {"INFO", "replication"});
    }
}

void acknowledgement::hear(question what, resp::view reply) {
    if (reply.is_error()) {
        if (!refused_) refused_ = explain(reply);
        redirected_ = redirected_ || says_redirected(reply.text());
    } else if (what == question::count) {
        count_ = reply.integer().value_or(0);
    } else if (what == question::life) {
        replication_ = reply.text();
    }
}

core::server_facts acknowledgement::life_after(const core::server_facts& of) const {
    return facts_in(replication_, of);
}

// Who says no role says nothing.
bool acknowledgement::another_life(const core::server_facts& of) const {
    const bool said = !info_field(replication_, "role").empty();
    return said && !core::same_life(of, life_after(of));
}

std::optional<failure> acknowledgement::why_not(const terms& under, const core::server_facts& of,
                                                std::string_view done) const {
    if (another_life(of)) {
        return failure{.code = errc::unsafe_server,
                       .message = life_after(of).is_replica
                                      ? "is a replica now"
                                      : "was a replica meanwhile: its locks may be gone"};
    }
    if (refused_) {
        auto why = *refused_;
        why.message.insert(0, std::string(done) + ", but not acknowledged by its replicas: ");
        return why;
    }
    const bool said = !info_field(replication_, "role").empty();
    if (!said) return failure{errc::protocol, "its INFO says no role", true};
    const auto others = strangers(under);
    const bool enough = count_ >= 0 && static_cast<std::size_t>(count_) >= under.needed + others;
    if (!enough) return too_few(count_, under.needed, done, others);
    return std::nullopt;
}

std::size_t acknowledgement::strangers(const terms& under) const {
    const auto text = info_field(replication_, "connected_slaves");
    std::uint32_t follow = 0;
    (void)std::from_chars(text.data(), text.data() + text.size(), follow);
    const bool more = under.members > 0 && follow >= under.members;
    return more ? follow - under.members + 1 : 0;
}

}  // namespace holdfast::net
