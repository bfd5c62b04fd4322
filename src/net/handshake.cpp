#include "net/handshake.hpp"

#include <algorithm>
#include <utility>

#include "net/explain.hpp"
#include "net/supported.hpp"
#include "resp/encoder.hpp"
#include "scripts/embedded.hpp"

namespace holdfast::net {
namespace {

bool begins_with(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

// Redis before 6 does not know HELLO; a proxy may know it and refuse version 3. Valkey 9 does not
// say to strangers that it does not know a command: a HELLO that said who comes was not understood.
bool means_no_hello(std::string_view error, bool introduced) {
    return begins_with(error, "NOPROTO") || error.find("unknown command") != error.npos ||
           (introduced && begins_with(error, "NOAUTH"));
}

// Redis before 6 has no users, and so no second argument.
bool means_no_users(std::string_view error) {
    return error.find("wrong number of arguments") != error.npos;
}

}  // namespace

std::string_view value_in(resp::view map, std::string_view key) {
    for (auto at = map.begin(); at != map.end(); ++at) {
        const bool found = (*at).text() == key;
        if (++at == map.end()) break;
        if (found) return (*at).text();
    }
    return {};
}

std::string_view info_field(std::string_view text, std::string_view name) {
    for (std::size_t line = 0; line < text.size();) {
        const auto end = std::min(text.find("\r\n", line), text.size());
        const auto entry = text.substr(line, end - line);
        if (begins_with(entry, name) && entry.substr(name.size(), 1) == ":") {
            return entry.substr(name.size() + 1);
        }
        line = end + 2;
    }
    return {};
}

core::server_facts facts_in(std::string_view replication, core::server_facts known) {
    const auto second = info_field(replication, "master_replid2");
    const bool none = second.find_first_not_of('0') == second.npos;
    known.replication_id = info_field(replication, "master_replid");
    known.second_replication_id = none ? std::string_view{} : second;
    known.is_replica = info_field(replication, "role") == "slave";
    return known;
}

std::string_view greeting::mode() const {
    if (!hello_mode.empty()) return hello_mode;
    const auto valkey = field("server_mode");
    return valkey.empty() ? field("redis_mode") : valkey;
}

std::string_view greeting::role() const {
    const auto said = field("role");
    if (!said.empty() || hello_role.empty()) return said;
    return hello_role == "master" ? "master" : "slave";
}

core::server_facts greeting::facts() const {
    auto all = facts_in(info, {.run_id = std::string(field("run_id")),
                               .eviction_policy = std::string(field("maxmemory_policy")),
                               .tracking = tracking});
    all.is_replica = role() == "slave";
    return all;
}

// A user without a password is that user, whom an ACL may let in without one, and nobody else.
void handshake::start(std::string& out) {
    if (!introduces_itself()) return resp::append_command(out, {"HELLO", "3"});
    const std::string_view user = who_.user.empty() ? "default" : std::string_view(who_.user);
    resp::append_command(out, {"HELLO", "3", "AUTH", user, who_.password});
}

void handshake::step(resp::view reply, std::string& out) {
    switch (state_) {
        case state::hello: return on_hello(reply, out);
        case state::legacy: return on_legacy(reply, out);
        case state::facts: return on_fact(reply, out);
        case state::enlisting: return on_enlisted(reply, out);
        case state::replicas: return on_replicas(reply, out);
        case state::done:
        case state::failed: return;
    }
}

void handshake::on_hello(resp::view reply, std::string& out) {
    if (!reply.is_error()) {
        if (reply.kind() != resp::kind::map) {
            return fail({errc::protocol, "not a Redis: " + resp::to_string(reply), true});
        }
        result_.protocol = 3;
        result_.hello_mode = value_in(reply, "mode");
        result_.hello_role = value_in(reply, "role");
        if (!refuse_unsupported()) ask_facts(out);
        return;
    }
    if (means_no_hello(reply.text(), introduces_itself())) return ask_legacy(out);
    fail(explain(reply));
}

void handshake::ask_legacy(std::string& out) {
    if (!introduces_itself()) return ask_facts(out);
    state_ = state::legacy;
    if (who_.user.empty()) return resp::append_command(out, {"AUTH", who_.password});
    resp::append_command(out, {"AUTH", who_.user, who_.password});
}

void handshake::on_legacy(resp::view reply, std::string& out) {
    if (!reply.is_error()) return ask_facts(out);
    if (!means_no_users(reply.text())) return fail(explain(reply));
    fail(too_old("knows no users, so it is older than Redis 6.0"));
}

// Whatever else it is asked it would answer with errors that do not say what is wrong.
bool handshake::refuse_unsupported() {
    if (who_.what_for == purpose::look) return false;
    auto why = why_unsupported(result_, who_.clustered);
    if (why) fail(std::move(*why));
    return state_ == state::failed;
}

void handshake::ask_facts(std::string& out) {
    state_ = state::facts;
    asked_.clear();
    answered_ = 0;
    emptied_ = false;
    acknowledged_ = false;
    if (!who_.client_name.empty()) {
        ask(out, question::set_name, {"CLIENT", "SETNAME", who_.client_name});
    }
    if (who_.database != 0 && !why_unsupported(result_, who_.clustered)) {
        ask(out, question::select, {"SELECT", resp::decimal{who_.database}.text()});
    }
    if (who_.what_for == purpose::acknowledge) return ask(out, question::info, {"INFO"});
    if (result_.protocol == 3) {
        ask(out, question::tracking, {"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"});
        // With RESP2 the connection would be good for nothing else.
        if (!who_.channel.empty()) ask(out, question::subscribe, {"SUBSCRIBE", who_.channel});
    }
    ask(out, question::info, {"INFO"});
    for (const auto* script : who_.loads) {
        ask(out, question::script, {"SCRIPT", "LOAD", script->text});
    }
    // Slot by slot it is called often.
    if (who_.clustered) ask(out, question::script, {"SCRIPT", "LOAD", scripts::enlist.text});
}

void handshake::ask(std::string& out, question what,
                    std::initializer_list<std::string_view> command) {
    resp::append_command(out, command);
    asked_.push_back(what);
}

// A restricted user may lock without being allowed to read INFO, a server without tracking or
// channels is polled, and one that has not loaded the scripts is sent them when it misses them.
// What is fatal: another database than was asked for, a missing authentication, and not to know the
// server's life for any other reason than that it is kept from us.
void handshake::on_fact(resp::view reply, std::string& out) {
    const auto what = asked_[answered_++];
    if (reply.is_error()) {
        auto why = explain(reply);
        const bool life_unknown = what == question::info && why.code != errc::permission;
        if (what == question::select || life_unknown || why.code == errc::authentication) {
            return fail(std::move(why));
        }
        if (what == question::subscribe) result_.not_subscribed = std::move(why);
    } else if (what == question::tracking) {
        result_.tracking = true;
    } else if (what == question::subscribe) {
        result_.subscribed = true;
    } else if (what == question::info) {
        result_.info = reply.text();
    }
    if (answered_ < asked_.size()) return;
    ask_enlist(out);
}

// Nothing may come before the answer. A replica is asked for no vote, and could not note anything.
// What emptied the server may have made it another one's replica for a while: the facts are old.
void handshake::ask_enlist(std::string& out) {
    if (emptied_) return ask_facts(out);
    if (refuse_unsupported()) return;
    const auto facts = result_.facts();
    const bool guards = who_.policy.restart_guard && who_.what_for != purpose::look;
    if (facts.run_id.empty() && (guards || who_.group.acks > 0)) {
        const std::string what = guards ? "the restart guard needs" : "replica_acks need";
        return fail({errc::permission, what + " INFO, which the ACL refuses", true});
    }
    const auto& vouched = who_.vouched_life;
    if (!vouched.empty() && core::life_of(facts) != vouched) return fail(another_life());
    const bool votes =
        !facts.run_id.empty() && !facts.is_replica && !only_reads() && !who_.clustered;
    state_ = votes ? state::enlisting : state::done;
    if (!votes) return;
    append_enlist(out, facts, as_whom(), core::judge(who_.policy), who_.group, acknowledged_);
}

// A quarantine has to outlast all that an earlier master gave away, and that one may go on for as
// long as enough of its replicas follow it: those that acknowledge this life do so no longer. So it
// counts from then. On this connection, which nobody uses yet: WAIT keeps nobody waiting.
void handshake::ask_replicas(std::string& out) {
    state_ = state::replicas;
    answered_ = 0;
    replicas_ = {};
    for (const auto what : acknowledgement::all) acknowledgement::append(out, what, who_.acks);
}

void handshake::on_replicas(resp::view reply, std::string& out) {
    replicas_.hear(acknowledgement::all[answered_++], reply);
    if (answered_ < acknowledgement::all.size()) return;
    if (emptied_) return ask_facts(out);
    const auto waited_for = std::exchange(who_.acks.strangers, replicas_.strangers(who_.acks));
    if (who_.acks.strangers > waited_for) return ask_replicas(out);
    if (auto why = replicas_.why_not(who_.acks, result_.facts(), "enlisted")) {
        return fail(std::move(*why));
    }
    acknowledged_ = true;
    ask_enlist(out);
}

failure another_life() {
    return {errc::unsafe_server,
            "has restarted, or was a replica, since it was looked at: it is not vouched for", true};
}

enlisting handshake::as_whom() const {
    if (who_.what_for == purpose::vouch) return enlisting::vouched;
    return who_.policy.restart_guard ? enlisting::guarded : enlisting::unguarded;
}

// A server that is loading, out of memory or busy has not noted its life: no vote may be asked of
// it. Without the guard a user may be there only to look; whoever draws a token without the right
// to enlist is refused that.
void handshake::on_enlisted(resp::view reply, std::string& out) {
    if (emptied_) return ask_facts(out);
    auto found = read_enlist(reply);
    const auto* const record = std::get_if<core::enlistment>(&found);
    if (record != nullptr) {
        who_.group.acks = core::acks_when_grown(who_.group, record->grown_from);
        who_.acks.needed = who_.group.acks;
    }
    if (record != nullptr && record->noted_only) {
        const bool asked_for = who_.group.acks > 0 && !acknowledged_;
        return asked_for ? ask_replicas(out) : fail(no_record());
    }
    if (auto* why = std::get_if<failure>(&found)) {
        const bool kept_from_us = why->code == errc::permission && !who_.policy.restart_guard;
        if (!kept_from_us) return fail(std::move(*why));
        result_.not_enlisted = std::move(*why);
    } else {
        result_.enlisted = std::get<core::enlistment>(found);
    }
    state_ = state::done;
}

// Servers repeat the arguments of commands that they do not know.
void handshake::fail(failure why) {
    state_ = state::failed;
    why_ = std::move(why);
    if (who_.password.empty()) return;
    for (auto at = why_.message.find(who_.password); at != why_.message.npos;
         at = why_.message.find(who_.password, at)) {
        why_.message.replace(at, who_.password.size(), "***");
        at += 3;
    }
}

}  // namespace holdfast::net
