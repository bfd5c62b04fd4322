#include "storm/registers.hpp"

#include <stdexcept>

namespace holdfast::storm {
namespace {

// KEYS[1] register (a hash)  ARGV[1] token  ARGV[2] the version to write, or nothing to read.
// Returns the version that stands then, or nil if a later token was here.
constexpr auto fenced = R"(
local seen = tonumber(redis.call('HGET', KEYS[1], 'token') or '0')
if tonumber(ARGV[1]) < seen then return false end
redis.call('HSET', KEYS[1], 'token', ARGV[1])
if ARGV[2] then redis.call('HSET', KEYS[1], 'version', ARGV[2]) end
return redis.call('HGET', KEYS[1], 'version') or 'first'
)";

}  // namespace

// A worker that was stopped finds its answer late: only a server that is gone takes a minute.
registers::registers(std::uint16_t port)
    : server_(test::raw_client::connect_tcp(port, std::chrono::minutes(1))) {}

test::reply registers::ask(const std::vector<std::string>& arguments) {
    test::reply answer = server_.command(arguments);
    if (answer.is_error()) throw std::runtime_error("the register: " + answer.text);
    return answer;
}

std::string registers::read_plain(const std::string& key) {
    const test::reply answer = ask({"GET", "plain:" + key});
    return answer.is_nil() ? "first" : answer.text;
}

void registers::write_plain(const std::string& key, const std::string& version) {
    ask({"SET", "plain:" + key, version});
}

bool registers::rush() { return !ask({"GET", rush_key}).is_nil(); }

std::optional<std::string> registers::read_fenced(const std::string& key, std::uint64_t token) {
    const test::reply answer = ask({"EVAL", fenced, "1", "fenced:" + key, std::to_string(token)});
    if (answer.is_nil()) return std::nullopt;
    return answer.text;
}

bool registers::write_fenced(const std::string& key, std::uint64_t token,
                             const std::string& version) {
    return !ask({"EVAL", fenced, "1", "fenced:" + key, std::to_string(token), version}).is_nil();
}

}  // namespace holdfast::storm
