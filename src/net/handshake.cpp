#include "net/handshake.hpp"

#include <algorithm>
#include <utility>

#include "resp/encoder.hpp"
#include "scripts/embedded.hpp"

namespace holdfast::net {
namespace {

bool begins_with(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

// Redis before 6 does not know HELLO; a proxy may know it and refuse version 3.
bool means_no_hello(std::string_view error) {
    return begins_with(error, "NOPROTO") || error.find("unknown command") != error.npos;
}

}  // namespace

std::string_view greeting::field(std::string_view name) const {
    const std::string_view text = info;
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

core::server_facts greeting::facts() const {
    return {.run_id = std::string(field("run_id")),
            .replication_id = std::string(field("master_replid")),
            .eviction_policy = std::string(field("maxmemory_policy")),
            .is_replica = field("role") == "slave",
            .fsync_always = field("aof_enabled") == "1" && appendfsync == "always"};
}

failure explain(resp::view error_reply) {
    struct kind {
        std::string_view prefix;
        errc code;
        bool hopeless;
    };
    static constexpr kind kinds[] = {
        {"NOAUTH", errc::authentication, true},
        {"WRONGPASS", errc::authentication, true},
        {"ERR invalid password", errc::authentication, true},
        {"ERR Client sent AUTH", errc::authentication, true},
        {"ERR AUTH", errc::authentication, true},
        {"NOPERM", errc::permission, true},
        {"ERR The user executing the script can't", errc::permission, true},
        {"WRONGTYPE", errc::wrong_type, true},
        {"READONLY", errc::unsafe_server, false},
    };
    const auto text = error_reply.text();
    for (const auto& [prefix, code, hopeless] : kinds) {
        if (begins_with(text, prefix)) return {code, resp::to_string(error_reply), hopeless};
    }
    return {errc::server_error, resp::to_string(error_reply), false};
}

void handshake::start(std::string& out) {
    if (who_.password.empty()) return resp::append_command(out, {"HELLO", "3"});
    const std::string_view user = who_.user.empty() ? "default" : std::string_view(who_.user);
    resp::append_command(out, {"HELLO", "3", "AUTH", user, who_.password});
}

void handshake::step(resp::view reply, std::string& out) {
    switch (state_) {
        case state::hello: return on_hello(reply, out);
        case state::legacy: return on_legacy(reply, out);
        case state::facts: return on_fact(reply, out);
        case state::enlisting: return on_enlisted(reply);
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
        return ask_facts(out);
    }
    if (means_no_hello(reply.text())) return ask_legacy(out);
    fail(explain(reply));
}

void handshake::ask_legacy(std::string& out) {
    if (who_.password.empty()) return ask_facts(out);
    state_ = state::legacy;
    if (who_.user.empty()) return resp::append_command(out, {"AUTH", who_.password});
    resp::append_command(out, {"AUTH", who_.user, who_.password});
}

void handshake::on_legacy(resp::view reply, std::string& out) {
    if (reply.is_error()) return fail(explain(reply));
    ask_facts(out);
}

void handshake::ask_facts(std::string& out) {
    state_ = state::facts;
    if (!who_.client_name.empty()) {
        ask(out, question::set_name, {"CLIENT", "SETNAME", who_.client_name});
    }
    if (who_.database != 0) {
        ask(out, question::select, {"SELECT", resp::decimal{who_.database}.text()});
    }
    if (result_.protocol == 3) {
        ask(out, question::tracking, {"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"});
    }
    ask(out, question::info, {"INFO"});
    ask(out, question::fsync, {"CONFIG", "GET", "appendfsync"});
    for (const auto* script :
         {&scripts::acquire, &scripts::commit, &scripts::extend, &scripts::release}) {
        ask(out, question::script, {"SCRIPT", "LOAD", script->text});
    }
}

void handshake::ask(std::string& out, question what,
                    std::initializer_list<std::string_view> command) {
    resp::append_command(out, command);
    asked_[asked_count_++] = what;
}

// Only SELECT and a missing authentication are fatal: a restricted user may lock without being
// allowed to read INFO, a server without tracking is polled, and one that has not loaded the
// scripts is sent them when it misses them.
void handshake::on_fact(resp::view reply, std::string& out) {
    const auto what = asked_[answered_++];
    if (reply.is_error()) {
        auto why = explain(reply);
        if (what == question::select || why.code == errc::authentication) {
            return fail(std::move(why));
        }
    } else if (what == question::tracking) {
        result_.tracking = true;
    } else if (what == question::info) {
        result_.info = reply.text();
    } else if (what == question::fsync) {
        if (const auto value = reply.at(1)) result_.appendfsync = value->text();
    }
    if (answered_ < asked_count_) return;
    ask_enlist(out);
}

// By text: this connection is new, and nothing may come before the answer.
void handshake::ask_enlist(std::string& out) {
    const auto run_id = result_.field("run_id");
    if (run_id.empty() && guarded()) {
        return fail(
            {errc::permission, "the restart guard needs INFO, which the ACL refuses", true});
    }
    state_ = run_id.empty() ? state::done : state::enlisting;
    if (run_id.empty()) return;
    if (!guarded()) {
        return resp::append_command(
            out, {"EVAL", scripts::enlist.text, "1", core::life_key, run_id, "0"});
    }
    const auto quarantine =
        std::chrono::ceil<std::chrono::milliseconds>(core::judge(who_.policy).quarantine());
    resp::append_command(out,
                         {"EVAL", scripts::enlist.text, "3", core::life_key, core::marker_key,
                          core::quarantine_key, run_id, resp::decimal{quarantine.count()}.text()});
}

bool handshake::guarded() const { return core::judge(who_.policy).guards(result_.facts()); }

// Without the guard it may fail: the user may be there only to look, and whoever draws a token
// without the right to will be told.
void handshake::on_enlisted(resp::view reply) {
    const auto left = reply.at(1);
    const bool understood = !reply.is_error() && left && left->integer();
    if (guarded() && !understood) return fail(explain(reply));
    state_ = state::done;
    result_.enlisted = guarded();
    if (!guarded()) return;
    result_.quarantine = std::chrono::milliseconds(std::max<std::int64_t>(*left->integer(), 0));
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
