#include "runtime/wire.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <initializer_list>
#include <span>

#include "net/explain.hpp"
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

using text_list = std::span<const std::string_view>;

/// One command, with one look at the room that it takes.
void append_call(std::string& out, const scripts::script& which, bool by_text, text_list keys_used,
                 std::initializer_list<std::string_view> arguments) {
    const resp::decimal key_count{keys_used.size()};
    std::array<std::string_view, 16> all{by_text ? "EVAL" : "EVALSHA",
                                         by_text ? which.text : which.sha1, key_count.text()};
    assert(3 + keys_used.size() + arguments.size() <= all.size());
    auto end = std::copy(keys_used.begin(), keys_used.end(), all.begin() + 3);
    end = std::copy(arguments.begin(), arguments.end(), end);
    resp::append_command(out, {all.begin(), end});
}

void append_key_beside(std::string& out, std::string_view lock, std::string_view what) {
    const auto open = lock.find('{');
    const auto close = open == lock.npos ? lock.npos : lock.find('}', open + 1);
    const bool has_tag = close != lock.npos && close > open + 1;
    out += has_tag ? "holdfast:" : "holdfast:{";
    if (has_tag) (out += what) += ':';
    out += lock;
    if (!has_tag) (out += "}:") += what;
}

// Made anew for every request: a lease that is held for hours would otherwise keep it for nothing.
// Valid until the next call by this thread.
std::string_view counter_of(const keys& of) {
    thread_local std::string name;
    name.clear();
    append_key_beside(name, of.lock, "fence");
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
    append_key_beside(name, lock, "fence");
    return name;
}

std::string forced_key(std::string_view lock) {
    std::string name;
    append_key_beside(name, lock, "forced");
    return name;
}

void set_if_absent(std::string& out, const keys& of, std::string_view owner, core::duration ttl) {
    const resp::decimal life{milliseconds(ttl)};
    resp::append_command(out, {"SET", of.lock, owner, "NX", "PX", life.text()});
}

// NOLINTNEXTLINE(readability-function-size): one parameter for each argument of the script
void acquire(std::string& out, bool by_text, const keys& of, std::string_view owner,
             core::duration ttl, core::duration retention, std::uint32_t tokens,
             std::uint64_t floor) {
    const resp::decimal life{milliseconds(ttl)};
    if (!of.fenced) {
        const std::array<std::string_view, 1> only{of.lock};
        return append_call(out, scripts::acquire, by_text, only, {owner, life.text()});
    }
    const std::array<std::string_view, 2> both{of.lock, counter_of(of)};
    append_call(out, scripts::acquire, by_text, both,
                {owner, life.text(), resp::decimal{milliseconds(retention)}.text(),
                 resp::decimal{tokens}.text(), resp::decimal{floor}.text()});
}

void commit(std::string& out, bool by_text, const keys& of, std::string_view owner,
            core::fencing_token token, core::duration retention) {
    const std::array<std::string_view, 2> both{of.lock, counter_of(of)};
    append_call(
        out, scripts::commit, by_text, both,
        {owner, resp::decimal{token.value}.text(), resp::decimal{milliseconds(retention)}.text()});
}

namespace {

void prolong(std::string& out, const scripts::script& how, bool by_text, const keys& of,
             std::string_view owner, core::duration ttl, core::duration retention) {
    const std::array<std::string_view, 2> both{of.lock, of.fenced ? counter_of(of) : ""};
    append_call(out, how, by_text, text_list(both).first(of.fenced ? 2 : 1),
                {owner, resp::decimal{milliseconds(ttl)}.text(),
                 resp::decimal{milliseconds(retention)}.text()});
}

}  // namespace

void extend(std::string& out, bool by_text, const keys& of, std::string_view owner,
            core::duration ttl, core::duration retention) {
    prolong(out, scripts::extend, by_text, of, owner, ttl, retention);
}

void linger(std::string& out, const keys& of, std::string_view owner, core::duration how_long,
            core::duration retention) {
    prolong(out, scripts::linger, true, of, owner, how_long, retention);
}

void release(std::string& out, bool by_text, const keys& of, std::string_view owner) {
    const std::array<std::string_view, 1> only{of.lock};
    append_call(out, scripts::release, by_text, only, {owner});
}

void force(std::string& out, const keys& of, std::string_view owner, core::duration kept_for,
           const note& why) {
    const auto beside = forced_key(of.lock);
    const std::array<std::string_view, 2> both{of.lock, beside};
    append_call(
        out, scripts::force, true, both,
        {owner, resp::decimal{milliseconds(kept_for)}.text(), why.by, why.held_by, why.reason});
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

}  // namespace holdfast::runtime::wire
