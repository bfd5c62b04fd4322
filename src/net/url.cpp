#include "net/url.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace holdfast::net {
namespace {

constexpr auto npos = std::string_view::npos;

constexpr std::array<std::string_view, 2> sentinel_parameters{"sentinel_user", "sentinel_password"};
constexpr std::string_view sentinel_suffix = "+sentinel";
constexpr std::string_view cluster_suffix = "+cluster";
constexpr std::array<std::string_view, 4> tcp_schemes{"redis", "rediss", "valkey", "valkeys"};

// Our own classes of characters: those of <cctype> depend on the locale.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_scheme_character(char c) {
    return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
}
constexpr bool is_host_character(char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.';
}
constexpr bool is_word_character(char c) { return is_scheme_character(c) || c == '_'; }
constexpr bool is_control(char c) { return (c >= '\0' && c < ' ') || c == '\x7f'; }
constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

constexpr int hexadecimal_value(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

constexpr bool is_hexadecimal(char c) { return hexadecimal_value(c) >= 0; }

std::string lower_case(std::string_view text) {
    std::string lower{text};
    for (char& c : lower) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return lower;
}

/// The number that `digits` spell; nullopt if they are no digits, none, or more than `largest`.
std::optional<unsigned> number_up_to(unsigned largest, std::string_view digits) {
    if (digits.empty()) return std::nullopt;
    std::uint64_t number = 0;
    for (const char c : digits) {
        if (!is_digit(c)) return std::nullopt;
        number = number * 10 + static_cast<std::uint64_t>(c - '0');
        if (number > largest) return std::nullopt;
    }
    return static_cast<unsigned>(number);
}

/// Cuts `text` at the first `separator`, which goes to neither side; `rest` is null without one.
struct halves {
    std::string_view first;
    std::optional<std::string_view> rest;
};

halves cut(std::string_view text, char separator) {
    const auto at = text.find(separator);
    if (at == npos) return {text, std::nullopt};
    return {text.substr(0, at), text.substr(at + 1)};
}

bool is_ipv4(std::string_view text) {
    int numbers = 0;
    std::optional<std::string_view> rest = text;
    while (rest) {
        const auto [number, after] = cut(*rest, '.');
        if (number.size() > 3 || !number_up_to(255, number)) return false;
        ++numbers;
        rest = after;
    }
    return numbers == 4;
}

/// How many of the eight 16-bit groups `text` spells, which holds no "::". Only the end of
/// an address may be written as IPv4. nullopt: it is no list of groups.
std::optional<int> count_groups(std::string_view text, bool ends_address) {
    if (text.empty()) return 0;
    int groups = 0;
    std::optional<std::string_view> rest = text;
    while (rest) {
        const auto [group, after] = cut(*rest, ':');
        if (!after && ends_address && is_ipv4(group)) return groups + 2;
        if (group.empty() || group.size() > 4) return std::nullopt;
        if (!std::ranges::all_of(group, is_hexadecimal)) return std::nullopt;
        ++groups;
        rest = after;
    }
    return groups;
}

bool is_ipv6(std::string_view text) {
    const auto gap = text.find("::");
    if (gap == npos) return count_groups(text, true) == 8;
    const auto before = count_groups(text.substr(0, gap), false);
    const auto after = count_groups(text.substr(gap + 2), true);
    return before && after && *before + *after <= 7;
}

bool is_ipv6_with_zone(std::string_view text) {
    const auto [address, zone] = cut(text, '%');
    if (zone && (zone->empty() || !std::ranges::all_of(*zone, is_host_character))) return false;
    return is_ipv6(address);
}

/// `redis` of `redis+sentinel` and `redis+cluster`.
std::string_view without_suffix(std::string_view scheme) {
    for (const auto suffix : {sentinel_suffix, cluster_suffix}) {
        if (scheme.ends_with(suffix)) return scheme.substr(0, scheme.size() - suffix.size());
    }
    return scheme;
}

bool is_tcp(std::string_view scheme) {
    return std::ranges::find(tcp_schemes, scheme) != tcp_schemes.end();
}

/// A word to show in a message, if it is one; else nothing, and the message has to do without.
std::string quoted_if_short(std::string_view word) {
    constexpr std::size_t longest_shown = 32;
    if (word.size() > longest_shown || !std::ranges::all_of(word, is_word_character)) return {};
    return " '" + std::string{word} + "'";
}

/// Reads one URL. Every part is a view into `text_`, so that an error can say where it is.
/// A step that finds a mistake throws the url_error, which parse_url turns into its result: there
/// are many mistakes, and they are all the end of the matter.
class url_reader {
  public:
    url_reader(std::string_view text, std::span<const std::string_view> known_parameters)
        : text_{text}, known_parameters_{known_parameters} {}

    parsed_url read() {
        check_characters();
        const auto rest = read_scheme();
        split(rest);
        if (is_unix()) {
            read_path();
        } else if (by_sentinels()) {
            read_sentinels();
        } else if (result_.cluster) {
            read_seeds();
        } else {
            read_host_and_port();
        }
        read_credentials();
        read_database();
        read_query();
        return std::move(result_);
    }

  private:
    [[noreturn]] void fail_at(std::string_view part, std::string message) const {
        const auto position = static_cast<std::size_t>(part.data() - text_.data());
        message += " (at character " + std::to_string(position + 1) + ")";
        throw url_error{std::move(message), position};
    }

    [[noreturn]] void fail(std::string message) const { throw url_error{std::move(message), 0}; }

    void check_characters() const {
        if (text_.empty()) fail("the URL is empty: expected redis://host:port");
        if (text_.size() > max_url_length) {
            fail("the URL is longer than " + std::to_string(max_url_length) + " characters");
        }
        if (is_space(text_.front())) fail_at(text_, "the URL begins with white space: remove it");
        if (is_space(text_.back())) {
            fail_at(text_.substr(text_.size() - 1), "the URL ends with white space: remove it");
        }
        for (std::size_t i = 0; i < text_.size(); ++i) {
            if (text_[i] == ' ') fail_at(text_.substr(i), "a space must be written as %20");
            if (is_control(text_[i])) {
                fail_at(text_.substr(i), "a control character must be percent-encoded");
            }
        }
    }

    /// Returns what follows the "://".
    std::string_view read_scheme() {
        const auto end = std::ranges::find_if_not(text_, is_scheme_character) - text_.begin();
        const auto written = text_.substr(0, static_cast<std::size_t>(end));
        const auto rest = text_.substr(written.size());
        const auto scheme = lower_case(written);
        if (scheme == "local" && rest.starts_with(':')) {
            fail("local: is not the URL of a server: only the command line understands it");
        }
        if (scheme.empty() || !rest.starts_with("://")) fail_without_scheme(scheme, rest);
        accept_scheme(scheme);
        return rest.substr(3);
    }

    void accept_scheme(std::string_view written) {
        const auto scheme = without_suffix(written);
        if (written == "unix") {
            result_.where.transport = endpoint::transport_kind::unix_socket;
        } else if (!is_tcp(scheme)) {
            fail("unknown scheme" + quoted_if_short(scheme == "unix" ? written : scheme) +
                 ": expected redis, rediss, valkey or valkeys, also with +sentinel or +cluster, "
                 "or unix");
        }
        result_.where.tls = scheme == "rediss" || scheme == "valkeys";
        result_.cluster = written.ends_with(cluster_suffix);
        if (written.ends_with(sentinel_suffix)) result_.where.sentinels.emplace();
    }

    [[noreturn]] void fail_without_scheme(const std::string& scheme, std::string_view rest) const {
        // First, because `redis:6379` is a server that somebody named redis.
        if (is_host_and_port()) {
            fail("the URL has no scheme: did you mean redis://" + std::string{text_} + "?");
        }
        if (text_.front() == '/' || (scheme == "unix" && rest.starts_with(':'))) {
            fail("a Unix socket is written unix:///path/to/socket");
        }
        if (is_tcp(without_suffix(scheme)) && rest.starts_with(':')) {
            fail_at(rest.substr(1), scheme + ": must be followed by //host:port");
        }
        fail("the URL has no scheme: expected redis://host:port");
    }

    /// And nothing else: `user:password@host` must not be shown.
    bool is_host_and_port() const {
        const auto [host, port] = cut(text_, ':');
        return port && !host.empty() && number_up_to(65535, *port) &&
               std::ranges::all_of(host, is_host_character);
    }

    void split(std::string_view rest) {
        if (const auto at = rest.find('#'); at != npos) {
            fail_at(rest.substr(at),
                    "'#' begins a fragment, which means nothing here; "
                    "in a password it must be written as %23");
        }
        const auto authority_end = std::min(rest.find_first_of("/?"), rest.size());
        const auto after = rest.substr(authority_end);
        path_ = after.substr(0, after.find('?'));
        if (path_.size() < after.size()) query_ = after.substr(path_.size() + 1);
        split_authority(rest.substr(0, authority_end));
        check_stray_at_signs();
    }

    /// At the last '@': whatever a badly encoded password holds, it does not become the host.
    void split_authority(std::string_view authority) {
        host_and_port_ = authority;
        const auto at = authority.rfind('@');
        if (at == npos) return;
        host_and_port_ = authority.substr(at + 1);
        credentials_ = authority.substr(0, at);
        if (const auto raw = credentials_->find('@'); raw != npos) {
            fail_at(credentials_->substr(raw), "'@' in a user or password must be written as %40");
        }
    }

    /// An '@' behind the authority most likely means that the password has a raw '/' or '?', and
    /// that what looks like host, port or path is half of it. Only the path of a socket without
    /// credentials may hold one.
    void check_stray_at_signs() const {
        const bool path_may = is_unix() && host_and_port_.empty() && !credentials_;
        for (const auto part : {path_may ? std::string_view{} : path_, query_.value_or("")}) {
            if (const auto at = part.find('@'); at != npos) {
                fail_at(part.substr(at),
                        "unexpected '@': it must be written as %40, "
                        "and in a user or password '/' as %2F and '?' as %3F");
            }
        }
    }

    bool by_sentinels() const { return result_.where.sentinels.has_value(); }

    bool is_unix() const {
        return result_.where.transport == endpoint::transport_kind::unix_socket;
    }

    std::string decoded(std::string_view part) const {
        std::string text;
        text.reserve(part.size());
        for (std::size_t i = 0; i < part.size(); ++i) {
            if (part[i] != '%') {
                text += part[i];
                continue;
            }
            const int high = i + 2 < part.size() ? hexadecimal_value(part[i + 1]) : -1;
            const int low = i + 2 < part.size() ? hexadecimal_value(part[i + 2]) : -1;
            if (high < 0 || low < 0) {
                fail_at(part.substr(i),
                        "'%' must be followed by two hexadecimal digits; itself it is %25");
            }
            text += static_cast<char>(high * 16 + low);
            i += 2;
        }
        return text;
    }

    std::string decoded_printable(std::string_view part, const std::string& what) const {
        auto text = decoded(part);
        if (text.find('\0') != npos) fail_at(part, "the " + what + " contains a NUL byte (%00)");
        if (std::ranges::any_of(text, is_control)) {
            fail_at(part, "the " + what + " contains an encoded control character");
        }
        return text;
    }

    void read_credentials() {
        if (!credentials_) return;
        const auto [user, password] = cut(*credentials_, ':');
        result_.where.user = decoded(user);
        if (password) result_.where.password = decoded(*password);
    }

    void read_path() {
        if (!host_and_port_.empty()) {
            fail_at(host_and_port_,
                    "the path of a Unix socket must be absolute: "
                    "unix:///path/to/socket, with three slashes");
        }
        if (path_.size() < 2)
            fail_at(path_, "the path is missing: expected unix:///path/to/socket");
        result_.where.path = decoded_printable(path_, "path");
        if (result_.where.path.size() > max_socket_path_length) {
            fail_at(path_, "the path of a Unix socket must not be longer than " +
                               std::to_string(max_socket_path_length) + " bytes");
        }
    }

    struct address {
        std::string host;
        std::optional<std::uint16_t> port{};
    };

    void read_host_and_port() {
        if (!host_and_port_.starts_with('[') && host_and_port_.find_first_of(",;") != npos) {
            fail_at(host_and_port_, "one URL names one host: give several URLs for a quorum");
        }
        auto [host, port] = read_address(host_and_port_);
        result_.where.host = std::move(host);
        result_.where.port = port.value_or(result_.where.port);
    }

    /// `h1[:port],h2,[::1]:7000`; where one has no port, it is the usual one. `what`: what messages
    /// call one of them.
    template <typename Address>
    void read_addresses(const std::string& what, std::size_t most, std::vector<Address>& all) {
        std::optional<std::string_view> rest = host_and_port_;
        while (rest) {
            const auto [written, after] = cut(*rest, ',');
            auto [host, port] = read_address(written);
            Address next{.host = std::move(host)};
            next.port = port.value_or(next.port);
            if (std::ranges::find(all, next) != all.end()) {
                fail_at(written, "this " + what + " is given twice");
            }
            if (all.size() == most) {
                fail_at(written, "more than " + std::to_string(most) + " " + what + "s");
            }
            all.push_back(std::move(next));
            rest = after;
        }
        result_.where.host = all.front().host;
        result_.where.port = all.front().port;
    }

    /// Any of them tells of the others.
    void read_seeds() { read_addresses("seed", max_url_length, result_.seeds); }

    void read_sentinels() {
        read_addresses("Sentinel", max_sentinels, result_.where.sentinels->addresses);
        read_master_name();
    }

    /// Leaves the database in the path.
    void read_master_name() {
        const auto whole = path_.empty() ? path_ : path_.substr(1);
        const auto [name, after] = cut(whole, '/');
        if (name.empty()) {
            fail_at(whole, "the name of the master is missing: expected " + expected());
        }
        auto& master = result_.where.sentinels->master_name;
        master = decoded(name);
        if (std::ranges::any_of(master, [](char c) { return c <= ' ' || c > '~'; })) {
            fail_at(name,
                    "the name of a master consists of printable ASCII characters without spaces");
        }
        if (after && after->find('/') != npos) {
            fail_at(after->substr(after->find('/')), "unexpected '/': expected " + expected() +
                                                         "; in a name it must be written as %2F");
        }
        path_ = after ? whole.substr(name.size()) : std::string_view{};
    }

    std::string expected() const {
        const std::string scheme = result_.where.tls ? "rediss" : "redis";
        if (by_sentinels()) return scheme + "+sentinel://host[:port],.../master-name[/database]";
        if (result_.cluster) return scheme + "+cluster://host[:port],host[:port],...";
        return scheme + "://host[:port][/database]";
    }

    address read_address(std::string_view written) const {
        return written.starts_with('[') ? read_bracketed_host(written) : read_plain_host(written);
    }

    address read_bracketed_host(std::string_view written) const {
        const auto [ip, after] = cut(written.substr(1), ']');
        if (!after) fail_at(written, "the '[' before an IPv6 address is never closed");
        address result{.host = decoded_printable(ip, "IPv6 address")};
        if (!is_ipv6_with_zone(result.host)) {
            fail_at(ip, "this is not an IPv6 address; with a zone it is [fe80::1%25eth0]");
        }
        if (after->empty()) return result;
        if (!after->starts_with(':')) fail_at(*after, "expected ':' and a port after ']'");
        result.port = read_port(after->substr(1));
        return result;
    }

    address read_plain_host(std::string_view written) const {
        const auto [host, port] = cut(written, ':');
        if (host.empty()) fail_at(host, "the host is missing: expected " + expected());
        if (port && port->find(':') != npos) {
            fail_at(*port,
                    "more than one ':' after the host: "
                    "an IPv6 address must stand in brackets, as in [::1]:6379");
        }
        address result{.host = decoded_printable(host, "host")};
        if (!std::ranges::all_of(result.host, is_host_character)) {
            fail_at(host, "a host consists of letters, digits, '.', '-' and '_'");
        }
        if (port) result.port = read_port(*port);
        return result;
    }

    std::uint16_t read_port(std::string_view written) const {
        if (written.empty()) fail_at(written, "the port is missing after ':'");
        const auto port = number_up_to(65535, decoded(written));
        if (!port || *port == 0) fail_at(written, "the port is not a number from 1 to 65535");
        return static_cast<std::uint16_t>(*port);
    }

    /// The one in the path, which `/` alone does not give.
    void read_database() {
        if (is_unix() || path_.size() < 2) return;
        result_.where.database = database_from(path_.substr(1));
        has_database_ = true;
    }

    unsigned database_from(std::string_view written) const {
        const auto database = number_up_to(max_database, decoded(written));
        if (!database) {
            fail_at(written,
                    "the database is not a number from 0 to " + std::to_string(max_database));
        }
        if (result_.cluster && *database != 0) {
            fail_at(written, "a Cluster has no other database than 0");
        }
        return *database;
    }

    void read_query() {
        auto rest = query_;
        while (rest) {
            const auto [parameter, after] = cut(*rest, '&');
            read_parameter(parameter);
            rest = after;
        }
    }

    void read_parameter(std::string_view parameter) {
        const auto [written_name, value] = cut(parameter, '=');
        if (written_name.empty()) fail_at(parameter, "a query parameter has no name");
        const auto name = decoded(written_name);
        check_name(written_name, name);
        if (!value) fail_at(parameter, "query parameter '" + name + "' has no value");
        if (name == "db") {
            read_database_parameter(written_name, *value);
        } else if (name == "sentinel_user") {
            result_.where.sentinels->user = decoded(*value);
        } else if (name == "sentinel_password") {
            result_.where.sentinels->password = decoded(*value);
        } else {
            result_.parameters.emplace_back(name, decoded(*value));
        }
    }

    void check_name(std::string_view written, const std::string& name) {
        const bool of_sentinels =
            std::ranges::find(sentinel_parameters, name) != sentinel_parameters.end();
        if (of_sentinels && !by_sentinels()) {
            fail_at(written, "query parameter '" + name + "' belongs to a redis+sentinel:// URL");
        }
        if (name != "db" && !of_sentinels &&
            std::ranges::find(known_parameters_, name) == known_parameters_.end()) {
            fail_at(written, "unknown query parameter" + quoted_if_short(name) + ": known are " +
                                 list_of_names());
        }
        if (std::ranges::find(given_, name) != given_.end()) {
            fail_at(written, "query parameter '" + name + "' is given twice");
        }
        given_.push_back(name);
    }

    void read_database_parameter(std::string_view name, std::string_view value) {
        if (has_database_) fail_at(name, "the database is given twice: in the path and as ?db=");
        result_.where.database = database_from(value);
    }

    std::string list_of_names() const {
        std::string names = "db";
        if (by_sentinels()) {
            for (const auto name : sentinel_parameters) names.append(", ").append(name);
        }
        for (const auto name : known_parameters_) names.append(", ").append(name);
        return names;
    }

    std::string_view text_;
    std::span<const std::string_view> known_parameters_;

    // The parts as written, once split() has run.
    std::optional<std::string_view> credentials_;
    std::string_view host_and_port_;
    std::string_view path_;
    std::optional<std::string_view> query_;

    bool has_database_ = false;
    std::vector<std::string> given_;  // query parameters
    parsed_url result_;
};

}  // namespace

bool is_of_cluster(std::string_view url) {
    const auto scheme = lower_case(url.substr(0, std::min(url.find(':'), std::size_t{16})));
    return scheme.ends_with(cluster_suffix) && is_tcp(without_suffix(scheme));
}

std::variant<parsed_url, url_error> parse_url(std::string_view text,
                                              std::span<const std::string_view> known_parameters) {
    try {
        return url_reader{text, known_parameters}.read();
    } catch (url_error& error) {
        return std::move(error);
    }
}

}  // namespace holdfast::net
