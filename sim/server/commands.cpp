// What a server is asked about connections, about itself and about data.

#include <algorithm>
#include <array>

#include "sim/server/command_table.hpp"
#include "sim/server/refusals.hpp"
#include "sim/server/server.hpp"
#include "sim/server/session.hpp"
#include "sim/server/words.hpp"

namespace holdfast::sim {
namespace {

constexpr std::string_view syntax_error = "ERR syntax error";
constexpr std::string_view not_a_number = "ERR value is not an integer or out of range";
constexpr std::string_view bad_name =
    "ERR Client names cannot contain spaces, newlines or special characters.";

bool is_name(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c >= '!' && c <= '~'; });
}

struct greeting_options {
    std::string_view user{};
    std::string_view password{};
    std::string_view name{};
    bool introduces = false;
    bool names = false;
    std::string_view unknown{};  // what is no option
};

greeting_options options_of(keyspace::arguments words) {
    greeting_options o;
    for (std::size_t i = 2; i < words.size(); ++i) {
        const auto left = words.size() - i - 1;
        const auto word = letters(words[i]);
        if (word == letters("AUTH") && left >= 2) {
            o.introduces = true;
            o.user = words[++i];
            o.password = words[++i];
        } else if (word == letters("SETNAME") && left >= 1) {
            o.names = true;
            o.name = words[++i];
        } else {
            o.unknown = words[i];
            return o;
        }
    }
    return o;
}

std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return lower;
}

}  // namespace

bool server::is_password(std::string_view user, std::string_view password) const {
    if (user == "default") return !needs_password() || password == settings_.password;
    return std::ranges::any_of(settings_.users, [&](const server_settings::user& u) {
        return u.name == user && u.password == password;
    });
}

void server::hello(call& c) {
    auto protocol = c.from.protocol;
    if (c.words.size() > 1) {
        const auto wanted = whole_number(c.words[1]);
        if (!wanted) return c.out.error("ERR Protocol version is not an integer or out of range");
        if (*wanted != 2 && *wanted != 3) {
            return c.out.error("NOPROTO unsupported protocol version");
        }
        protocol = static_cast<int>(*wanted);
    }
    const auto options = options_of(c.words);
    if (options.unknown.data()) {
        text_ = "ERR Syntax error in HELLO option '";
        return c.out.error((text_ += options.unknown) += "'");
    }
    if (!is_name(options.name)) return c.out.error(bad_name);
    if (options.introduces) {
        if (!is_password(options.user, options.password)) {
            return c.out.error(refusals::wrong_password);
        }
        c.from.authenticated = true;
    }
    if (!c.from.authenticated) {
        return c.out.error(
            "NOAUTH HELLO must be called with the client already authenticated, otherwise the "
            "HELLO "
            "AUTH <user> <pass> option can be used to authenticate the client and select the RESP "
            "protocol version at the same time");
    }
    if (options.names) c.from.name = options.name;
    c.from.protocol = protocol;
    describe(c, protocol);
}

// In the protocol that the answer itself announces.
void server::describe(call& c, int protocol) {
    reply_writer out(answer_, protocol);
    out.map(7);
    out.bulk("server");
    out.bulk("redis");
    out.bulk("version");
    out.bulk(settings_.version);
    out.bulk("proto");
    out.integer(protocol);
    out.bulk("id");
    out.integer(c.from.number);
    out.bulk("mode");
    out.bulk(settings_.mode);
    out.bulk("role");
    out.bulk(life_.is_replica() ? "replica" : "master");
    out.bulk("modules");
    out.array(0);
}

void server::auth(call& c) {
    if (c.words.size() > 3) return c.out.error(syntax_error);
    const bool by_name = c.words.size() == 3;
    if (!by_name && !needs_password()) {
        return c.out.error(
            "ERR AUTH <password> called without any password configured for the default user. Are "
            "you sure your configuration is correct?");
    }
    if (!is_password(by_name ? c.words[1] : "default", c.words.back())) {
        return c.out.error(refusals::wrong_password);
    }
    c.from.authenticated = true;
    c.out.ok();
}

void server::select(call& c) {
    const auto index = whole_number(c.words[1]);
    if (!index) return c.out.error(not_a_number);
    if (*index != 0) return c.out.error("ERR DB index is out of range");
    c.out.ok();
}

void server::ping(call& c) {
    if (c.words.size() > 2) {
        return c.out.error("ERR wrong number of arguments for 'ping' command");
    }
    if (c.from.only_listens()) {
        c.out.array(2);
        c.out.bulk("pong");
        return c.out.bulk(c.words.size() == 2 ? c.words[1] : "");
    }
    if (c.words.size() == 2) return c.out.bulk(c.words[1]);
    c.out.status("PONG");
}

void server::set_name(call& c) {
    if (!is_name(c.words[2])) return c.out.error(bad_name);
    c.from.name = c.words[2];
    c.out.ok();
}

void server::get_name(call& c) {
    if (c.from.name.empty()) return c.out.null();
    c.out.bulk(c.from.name);
}

void server::client_id(call& c) { c.out.integer(c.from.number); }

// CLIENT KILL ID number [SKIPME yes|no]. Whoever kills itself hears the answer first.
void server::client_kill(call& c) {
    if (c.words.size() == 3) return c.out.error("ERR No such client");
    const bool spares_itself = c.words.size() < 6 || letters(c.words[5]) != letters("NO");
    const bool skips = c.words.size() == 6 && letters(c.words[4]) == letters("SKIPME");
    const bool understood = c.words.size() == 4 || skips;
    if (letters(c.words[2]) != letters("ID") || !understood) return c.out.error(syntax_error);
    const auto number = whole_number(c.words[3]);
    if (!number || *number <= 0) return c.out.error("ERR client-id should be greater than 0");
    auto* whom = find(static_cast<connection>(*number));
    const bool itself = whom == &c.from;
    if (!whom || (itself && spares_itself)) return c.out.integer(0);
    c.out.integer(1);
    if (!itself) return kill(whom->number);
    c.from.closing = true;
}

// Of the modes that there are, OPTIN and the default one.
void server::tracking(call& c) {
    auto& from = c.from;
    const auto mode = letters(c.words[2]);
    bool only_when_asked = false;
    bool not_of_its_own = false;
    for (const auto word : c.words.subspan(3)) {
        const auto option = letters(word);
        if (option == letters("OPTIN")) {
            only_when_asked = true;
        } else if (option == letters("NOLOOP")) {
            not_of_its_own = true;
        } else {
            return c.out.error(syntax_error);
        }
    }
    if (mode != letters("ON") && mode != letters("OFF")) return c.out.error(syntax_error);
    from.tracking = mode == letters("ON");
    from.only_when_asked = from.tracking && only_when_asked;
    from.not_of_its_own = from.tracking && not_of_its_own;
    from.caching = from.caching && from.tracking;
    c.out.ok();
}

void server::caching(call& c) {
    if (!c.from.tracking) {
        return c.out.error(
            "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN "
            "or OPTOUT mode enabled");
    }
    const auto wish = letters(c.words[2]);
    if (wish == letters("NO")) {
        return c.out.error(
            "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.");
    }
    if (wish != letters("YES")) return c.out.error(syntax_error);
    if (!c.from.only_when_asked) {
        return c.out.error(
            "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.");
    }
    c.from.caching = true;
    c.out.ok();
}

void server::info(call& c) {
    static constexpr std::array<std::string_view, 4> all{"server", "memory", "persistence",
                                                         "replication"};
    const auto wants = [&](std::string_view section) {
        if (c.words.size() == 1) return true;
        return std::ranges::any_of(c.words.subspan(1), [&](std::string_view word) {
            const auto name = lower_case(word);
            return name == section || name == "default" || name == "all" || name == "everything";
        });
    };
    text_.clear();
    for (const auto section : all) {
        if (!wants(section)) continue;
        append_section(text_, section, settings_, life_, standing(),
                       condition_ == condition::loading);
    }
    c.out.verbatim(text_);
}

void server::config_get(call& c) {
    std::vector<std::pair<std::string, std::string>> found;
    for (const auto word : c.words.subspan(2)) {
        const auto* text = setting_named(lower_case(word), settings_, text_);
        if (text) found.emplace_back(word, *text);
    }
    c.out.map(found.size());
    for (const auto& [name, text] : found) {
        c.out.bulk(name);
        c.out.bulk(text);
    }
}

void server::of_data(call& c) { c.out.write(data_.execute(c.words, c.now)); }

}  // namespace holdfast::sim
