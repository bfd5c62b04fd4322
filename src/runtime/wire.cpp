#include "runtime/wire.hpp"

#include <initializer_list>

#include "core/judge.hpp"
#include "net/handshake.hpp"
#include "resp/encoder.hpp"
#include "scripts/embedded.hpp"

namespace holdfast::runtime::wire {
namespace {

// Servers count whole milliseconds. Rounded up, so that a key never dies before it should.
std::int64_t milliseconds(core::duration value) {
    return std::chrono::ceil<std::chrono::milliseconds>(value).count();
}

core::duration from_milliseconds(std::int64_t value) {
    constexpr std::int64_t century = 3'155'760'000'000;  // more than nanoseconds can hold is wrong
    return value < 0 || value > century ? core::duration{-1} : std::chrono::milliseconds(value);
}

using key_list = std::initializer_list<std::string_view>;

resp::command_writer& begin(resp::command_writer& command, const scripts::script& which,
                            bool by_text, key_list keys_used) {
    command.add(by_text ? "EVAL" : "EVALSHA").add(by_text ? which.text : which.sha1);
    command.add(keys_used.size());
    for (const auto key : keys_used) command.add(key);
    return command;
}

void append_counter_key(std::string& out, std::string_view lock) {
    const auto open = lock.find('{');
    const auto close = open == lock.npos ? lock.npos : lock.find('}', open + 1);
    const bool has_tag = close != lock.npos && close > open + 1;
    out += has_tag ? "holdfast:fence:" : "holdfast:{";
    out += lock;
    if (!has_tag) out += "}:fence";
}

// Made anew for every request: a lease that is held for hours would otherwise keep it for nothing.
// Valid until the next call by this thread.
std::string_view counter_of(const keys& of) {
    thread_local std::string name;
    name.clear();
    append_counter_key(name, of.lock);
    return name;
}

net::failure nonsense(resp::view reply) {
    return {errc::protocol, "an answer that no lock script gives: " + resp::to_string(reply), true};
}

net::failure refused(resp::view reply) {
    return reply.is_error() ? net::explain(reply) : nonsense(reply);
}

}  // namespace

std::string counter_key(std::string_view lock) {
    std::string name;
    append_counter_key(name, lock);
    return name;
}

void set_if_absent(std::string& out, const keys& of, std::string_view owner, core::duration ttl) {
    resp::command_writer{out}.add("SET").add(of.lock).add(owner).add("NX").add("PX").add(
        milliseconds(ttl));
}

// NOLINTNEXTLINE(readability-function-size): one parameter for each argument of the script
void acquire(std::string& out, bool by_text, const keys& of, bool guarded, std::string_view owner,
             core::duration ttl, core::duration retention, std::uint32_t tokens) {
    resp::command_writer command{out};
    if (guarded) {
        begin(command, scripts::acquire, by_text,
              {of.lock, counter_of(of), core::life_key, core::marker_key, core::quarantine_key});
    } else if (of.fenced) {
        begin(command, scripts::acquire, by_text, {of.lock, counter_of(of), core::life_key});
    } else {
        begin(command, scripts::acquire, by_text, {of.lock});
    }
    command.add(owner).add(milliseconds(ttl)).add(of.fenced ? milliseconds(retention) : 0);
    command.add(tokens);
}

void commit(std::string& out, bool by_text, const keys& of, std::string_view owner,
            core::fencing_token token, core::duration retention) {
    resp::command_writer command{out};
    begin(command, scripts::commit, by_text, {of.lock, counter_of(of)})
        .add(owner)
        .add(token.value)
        .add(milliseconds(retention));
}

void extend(std::string& out, bool by_text, const keys& of, std::string_view owner,
            core::duration ttl, core::duration retention) {
    resp::command_writer command{out};
    begin(command, scripts::extend, by_text,
          of.fenced ? key_list{of.lock, counter_of(of)} : key_list{of.lock})
        .add(owner)
        .add(milliseconds(ttl))
        .add(milliseconds(retention));
}

void release(std::string& out, bool by_text, const keys& of, std::string_view owner) {
    resp::command_writer command{out};
    begin(command, scripts::release, by_text, {of.lock}).add(owner);
}

void enlist(std::string& out, bool by_text, std::string_view run_id,
            std::optional<core::duration> quarantine) {
    resp::command_writer command{out};
    begin(command, scripts::enlist, by_text,
          quarantine ? key_list{core::life_key, core::marker_key, core::quarantine_key}
                     : key_list{core::life_key});
    command.add(run_id).add(milliseconds(quarantine.value_or(core::duration{0})));
}

acquire_answer read_set_if_absent(resp::view reply) {
    if (reply.is_null()) return held{{}, core::duration{-1}};
    if (reply.is_text() && reply.text() == "OK") return granted{};
    return refused(reply);
}

acquire_answer read_acquire(resp::view reply) {
    const auto number = [&](std::size_t index) {
        const auto child = reply.at(index);
        return child ? child->integer() : std::nullopt;
    };
    const auto code = number(0);
    const auto first = number(1);
    if (code == 1 && reply.size() == 2 && first && *first >= 0) {
        return granted{{static_cast<std::uint64_t>(*first)}};
    }
    if (code == 0 && reply.size() == 3 && reply.at(1)->is_text() && number(2)) {
        return held{reply.at(1)->text(), from_milliseconds(*number(2))};
    }
    if (code == 2 && reply.size() == 2 && first) return quarantined{from_milliseconds(*first)};
    if (code == 3 && reply.size() == 1) return unlisted{};
    return refused(reply);
}

ownership_answer read_ownership(resp::view reply) {
    const auto code = reply.integer();
    if (code == 1) return ownership::ours;
    if (code == 0) return ownership::not_ours;
    // Somebody put another type of value at the key: whatever it is, it is not our lock.
    if (reply.is_error() && net::explain(reply).code == errc::wrong_type) {
        return ownership::not_ours;
    }
    return refused(reply);
}

enlist_answer read_enlist(resp::view reply) {
    const auto left = reply.at(1);
    if (reply.size() != 2 || !left || !left->integer()) return refused(reply);
    return from_milliseconds(*left->integer());
}

}  // namespace holdfast::runtime::wire
