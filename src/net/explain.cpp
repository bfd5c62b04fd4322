#include "net/explain.hpp"

#include <string>

namespace holdfast::net {
namespace {

// Redis before 7 wraps what a command in a script answered, with or without the minus:
// "ERR Error running script (call to f_...): @user_script:9: -READONLY You can't write ...".
std::string_view cause_of(std::string_view text) {
    constexpr std::string_view place = "@user_script:";
    if (!text.starts_with("ERR Error running script")) return text;
    const auto where = text.rfind(place);
    const auto end = where == text.npos ? text.npos : text.find(": ", where + place.size());
    if (end == text.npos) return text;
    const auto cause = text.substr(end + 2);
    return cause.starts_with('-') ? cause.substr(1) : cause;
}

// Servers say in which script a command failed, by its hash, which tells nobody anything. `quoted`
// is an error as resp::to_string writes it.
std::string without_script_hash(std::string quoted) {
    constexpr std::string_view behind = " script: ";     // ... HASH, on @user_script:1.
    constexpr std::string_view before = " (call to f_";  // before Redis 7: ... HASH): ...
    const auto is_hash = [&](std::size_t at) {
        return quoted.find_first_not_of("0123456789abcdef", at) == at + 40;
    };
    if (const auto at = quoted.find(behind); at != quoted.npos && is_hash(at + behind.size())) {
        return quoted.substr(0, at) + "\"";
    }
    if (const auto at = quoted.find(before); at != quoted.npos && is_hash(at + before.size())) {
        quoted.erase(at, before.size() + 40 + 1);
    }
    return quoted;
}

}  // namespace

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
        {"The user executing the script can't", errc::permission, true},
        {"ERR ACL failure in script", errc::permission, true},
        {"WRONGTYPE", errc::wrong_type, true},
        {"HOLDFASTLIMIT", errc::other_limit, true},
        {"READONLY", errc::unsafe_server, false},
    };
    const auto text = cause_of(error_reply.text());
    const auto words = without_script_hash(resp::to_string(error_reply));
    for (const auto& [prefix, code, hopeless] : kinds) {
        if (text.starts_with(prefix)) return {code, words, hopeless};
    }
    return {errc::server_error, words, false};
}

bool says_not_the_master(std::string_view reply) {
    if (!reply.starts_with('-')) return false;
    const auto cause = cause_of(reply.substr(1));
    return cause.starts_with("READONLY") || cause.starts_with("MOVED");
}

}  // namespace holdfast::net
