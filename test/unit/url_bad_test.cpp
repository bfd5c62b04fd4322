#include <gtest/gtest.h>

#include <array>
#include <ostream>
#include <string>
#include <string_view>
#include <variant>

#include "net/url.hpp"

namespace {

using namespace std::string_literals;
using holdfast::net::parse_url;
using holdfast::net::url_error;

constexpr std::array<std::string_view, 2> known{"node_timeout", "max_ttl"};

// Every secret in the table below is made of these two; no message may show either.
constexpr std::array<std::string_view, 2> secrets{"hunter2", "alice"};

struct bad_url {
    std::string text;
    std::string message;
};

void PrintTo(const bad_url& bad, std::ostream* out) { *out << bad.text.substr(0, 80); }

class every_bad_url : public testing::TestWithParam<bad_url> {};

TEST_P(every_bad_url, is_refused_with_its_reason_and_without_its_secrets) {
    const auto result = parse_url(GetParam().text, known);
    const auto* error = std::get_if<url_error>(&result);
    ASSERT_NE(error, nullptr) << "was accepted";
    EXPECT_EQ(error->message, GetParam().message);
    EXPECT_LE(error->position, GetParam().text.size());
    for (const auto secret : secrets) {
        EXPECT_EQ(error->message.find(secret), std::string::npos) << error->message;
    }
}

const std::string stray_at =
    "unexpected '@': it must be written as %40, and in a user or password '/' as %2F and '?' as "
    "%3F";
const std::string one_host = "one URL names one host: give several URLs for a quorum";
const std::string no_scheme = "the URL has no scheme: expected redis://host:port";
const std::string bad_escape = "'%' must be followed by two hexadecimal digits; itself it is %25";
const std::string bad_port = "the port is not a number from 1 to 65535";
const std::string bad_database = "the database is not a number from 0 to 2147483647";
const std::string bad_ipv6 = "this is not an IPv6 address; with a zone it is [fe80::1%25eth0]";
const std::string bad_host = "a host consists of letters, digits, '.', '-' and '_'";
const std::string no_host = "the host is missing: expected redis://host[:port][/database]";
const std::string not_absolute =
    "the path of a Unix socket must be absolute: unix:///path/to/socket, with three slashes";
const std::string no_path = "the path is missing: expected unix:///path/to/socket";
const std::string socket_form = "a Unix socket is written unix:///path/to/socket";
const std::string fragment =
    "'#' begins a fragment, which means nothing here; in a password it must be written as %23";

std::string at(int character) { return " (at character " + std::to_string(character) + ")"; }

INSTANTIATE_TEST_SUITE_P(
    characters, every_bad_url,
    testing::Values(
        bad_url{"", "the URL is empty: expected redis://host:port"},
        bad_url{"redis://:" + std::string(4087, 'p') + "@h",
                "the URL is longer than 4096 characters"},
        bad_url{" redis://:hunter2@h", "the URL begins with white space: remove it" + at(1)},
        bad_url{"\tredis://h", "the URL begins with white space: remove it" + at(1)},
        bad_url{"redis://h ", "the URL ends with white space: remove it" + at(10)},
        bad_url{"redis://:hunter2@h\n", "the URL ends with white space: remove it" + at(19)},
        bad_url{"redis://:hunter2 @h", "a space must be written as %20" + at(17)},
        bad_url{"redis://h\x01", "a control character must be percent-encoded" + at(10)},
        bad_url{"redis://:hun\nter2@h", "a control character must be percent-encoded" + at(13)},
        bad_url{"redis://h\0/"s, "a control character must be percent-encoded" + at(10)},
        bad_url{"redis://h\x7f", "a control character must be percent-encoded" + at(10)}));

INSTANTIATE_TEST_SUITE_P(
    scheme, every_bad_url,
    testing::Values(
        bad_url{"localhost:6379", "the URL has no scheme: did you mean redis://localhost:6379?"},
        bad_url{"redis:6379", "the URL has no scheme: did you mean redis://redis:6379?"},
        bad_url{"10.0.0.1:7", "the URL has no scheme: did you mean redis://10.0.0.1:7?"},
        bad_url{"localhost", no_scheme}, bad_url{"h:65536", no_scheme},
        bad_url{"alice:hunter2@h:6379", no_scheme}, bad_url{"hunter2@h", no_scheme},
        bad_url{"alice:hunter2", no_scheme}, bad_url{"//:hunter2@h", socket_form},
        bad_url{"://h", no_scheme}, bad_url{":6379", no_scheme}, bad_url{"?", no_scheme},
        bad_url{"/run/redis.sock", socket_form}, bad_url{"unix:/run/redis.sock", socket_form},
        bad_url{"redis:host", "redis: must be followed by //host:port" + at(7)},
        bad_url{"rediss:/:hunter2@h", "rediss: must be followed by //host:port" + at(8)},
        bad_url{"http://:hunter2@h",
                "unknown scheme 'http': expected redis, rediss, valkey or valkeys, also with "
                "+sentinel or +cluster, or unix"},
        bad_url{"HTTP://h",
                "unknown scheme 'http': expected redis, rediss, valkey or valkeys, also with "
                "+sentinel or +cluster, or unix"},
        bad_url{std::string(33, 'x') + "://h",
                "unknown scheme: expected redis, rediss, valkey or valkeys, also with "
                "+sentinel or +cluster, or unix"},
        bad_url{"http+sentinel://:hunter2@h1,h2/main",
                "unknown scheme 'http': expected redis, rediss, valkey or valkeys, also with "
                "+sentinel or +cluster, or unix"},
        bad_url{"http+cluster://:hunter2@h1,h2",
                "unknown scheme 'http': expected redis, rediss, valkey or valkeys, also with "
                "+sentinel or +cluster, or unix"},
        bad_url{
            "unix+sentinel://h/main",
            "unknown scheme 'unix+sentinel': expected redis, rediss, valkey or valkeys, also with "
            "+sentinel or +cluster, or unix"},
        bad_url{
            "unix+cluster://h",
            "unknown scheme 'unix+cluster': expected redis, rediss, valkey or valkeys, also with "
            "+sentinel or +cluster, or unix"},
        bad_url{"redis+sentinel:h/main",
                "redis+sentinel: must be followed by //host:port" + at(16)},
        bad_url{"redis+cluster:h", "redis+cluster: must be followed by //host:port" + at(15)},
        bad_url{"redis+cluster://h1,h2/1", "a Cluster has no other database than 0" + at(23)},
        bad_url{"rediss+cluster://h?db=3", "a Cluster has no other database than 0" + at(23)},
        bad_url{
            "redis+cluster://h1,,h2",
            "the host is missing: expected redis+cluster://host[:port],host[:port],..." + at(20)},
        bad_url{"redis+cluster://h1,h2:x", "the port is not a number from 1 to 65535" + at(23)},
        bad_url{"redis+cluster://h1,h2,h1:6379", "this seed is given twice" + at(23)},
        bad_url{"local:",
                "local: is not the URL of a server: only the command line understands it"},
        bad_url{"LOCAL://x",
                "local: is not the URL of a server: only the command line understands it"}));

INSTANTIATE_TEST_SUITE_P(
    host, every_bad_url,
    testing::Values(
        bad_url{"redis://", no_host + at(9)}, bad_url{"redis:///0", no_host + at(9)},
        bad_url{"redis://?db=1", no_host + at(9)}, bad_url{"redis://:6379", no_host + at(9)},
        bad_url{"redis://:hunter2", no_host + at(9)},
        bad_url{"redis://alice:hunter2@", no_host + at(23)},
        bad_url{"redis://alice:hunter2@/3", no_host + at(23)},
        bad_url{"rediss://",
                "the host is missing: expected rediss://host[:port][/database]" + at(10)},
        bad_url{"redis://:hunter2@a%00b", "the host contains a NUL byte (%00)" + at(18)},
        bad_url{"redis://a%0ab", "the host contains an encoded control character" + at(9)},
        bad_url{"redis://a%20b", bad_host + at(9)}, bad_url{"redis://a%2Fb", bad_host + at(9)},
        bad_url{"redis://a%40b", bad_host + at(9)}, bad_url{"redis://a!b", bad_host + at(9)},
        bad_url{"redis://b\xc3\xbc"
                "ro",
                bad_host + at(9)},
        bad_url{"redis://h1,h2", one_host + at(9)}, bad_url{"redis://h1;h2", one_host + at(9)},
        bad_url{"redis://a:1,redis://b:2", one_host + at(9)},
        bad_url{"redis://a:1;redis://b:2", one_host + at(9)},
        bad_url{"redis://u:p@a:1,b:2", one_host + at(13)},
        bad_url{"redis://h%zz", bad_escape + at(10)}, bad_url{"redis://h%4", bad_escape + at(10)}));

const std::string no_master =
    "the name of the master is missing: expected "
    "redis+sentinel://host[:port],.../master-name[/database]";
const std::string bad_master =
    "the name of a master consists of printable ASCII characters without spaces";
const std::string no_sentinel =
    "the host is missing: expected redis+sentinel://host[:port],.../master-name[/database]";

INSTANTIATE_TEST_SUITE_P(
    sentinel, every_bad_url,
    testing::Values(
        bad_url{"redis+sentinel://h", no_master + at(19)},
        bad_url{"redis+sentinel://h/", no_master + at(20)},
        bad_url{"redis+sentinel://:hunter2@h1,h2//3", no_master + at(33)},
        bad_url{"redis+sentinel://:hunter2@h1,h2?db=1", no_master + at(32)},
        bad_url{"redis+sentinel:///main", no_sentinel + at(18)},
        bad_url{"redis+sentinel://h1,/main", no_sentinel + at(21)},
        bad_url{"redis+sentinel://h1,,h2/main", no_sentinel + at(21)},
        bad_url{"redis+sentinel://:1,h2/main", no_sentinel + at(18)},
        bad_url{"redis+sentinel://h1,h2:0/main",
                "the port is not a number from 1 to 65535" + at(24)},
        bad_url{"redis+sentinel://h1,h2;h3/main",
                "a host consists of letters, digits, '.', '-' and '_'" + at(21)},
        bad_url{"redis+sentinel://h1,h2,h1:26379/main", "this Sentinel is given twice" + at(24)},
        bad_url{"redis+sentinel://a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p/main",
                "more than 15 Sentinels" + at(48)},
        bad_url{"redis+sentinel://h/main/x",
                "the database is not a number from 0 to 2147483647" + at(25)},
        bad_url{"redis+sentinel://h/main/1/2",
                "unexpected '/': expected redis+sentinel://host[:port],.../master-name[/database]; "
                "in a name it must be written as %2F" +
                    at(26)},
        bad_url{"redis+sentinel://h/ma%0Ain", bad_master + at(20)},
        bad_url{"redis+sentinel://h/my%20master", bad_master + at(20)},
        bad_url{"redis+sentinel://h/m%C3%BCller", bad_master + at(20)},
        bad_url{"redis+sentinel://h/main/1?db=1",
                "the database is given twice: in the path and as ?db=" + at(27)},
        bad_url{"redis+sentinel://h/main?sentinel_password=hunter2&sentinel_password=hunter2",
                "query parameter 'sentinel_password' is given twice" + at(51)},
        bad_url{"redis+sentinel://h/main?sentinel_password",
                "query parameter 'sentinel_password' has no value" + at(25)},
        bad_url{"redis+sentinel://h/main?sentinel_pass=hunter2",
                "unknown query parameter 'sentinel_pass': known are db, sentinel_user, "
                "sentinel_password, node_timeout, max_ttl" +
                    at(25)},
        bad_url{"redis://h?sentinel_password=hunter2",
                "query parameter 'sentinel_password' belongs to a redis+sentinel:// URL" + at(11)},
        bad_url{"rediss+sentinel://h",
                "the name of the master is missing: expected "
                "rediss+sentinel://host[:port],.../master-name[/database]" +
                    at(20)}));

INSTANTIATE_TEST_SUITE_P(
    ipv6, every_bad_url,
    testing::Values(
        bad_url{"redis://::1",
                "the host is missing: expected redis://host[:port][/database]" + at(9)},
        bad_url{"redis://fe80::1:6379",
                "more than one ':' after the host: an IPv6 address must stand in brackets, "
                "as in [::1]:6379" +
                    at(14)},
        bad_url{"redis://[::1", "the '[' before an IPv6 address is never closed" + at(9)},
        bad_url{"redis://[]", bad_ipv6 + at(10)}, bad_url{"redis://[:]", bad_ipv6 + at(10)},
        bad_url{"redis://[:::]", bad_ipv6 + at(10)}, bad_url{"redis://[1]", bad_ipv6 + at(10)},
        bad_url{"redis://[1:2:3:4:5:6:7]", bad_ipv6 + at(10)},
        bad_url{"redis://[1:2:3:4:5:6:7:8:9]", bad_ipv6 + at(10)},
        bad_url{"redis://[1:2:3:4::5:6:7:8]", bad_ipv6 + at(10)},
        bad_url{"redis://[1::2::3]", bad_ipv6 + at(10)},
        bad_url{"redis://[::12345]", bad_ipv6 + at(10)},
        bad_url{"redis://[::g]", bad_ipv6 + at(10)}, bad_url{"redis://[::1:]", bad_ipv6 + at(10)},
        bad_url{"redis://[:1::2]", bad_ipv6 + at(10)},
        bad_url{"redis://[::1.2.3]", bad_ipv6 + at(10)},
        bad_url{"redis://[::1.2.3.256]", bad_ipv6 + at(10)},
        bad_url{"redis://[::1.2.3.0004]", bad_ipv6 + at(10)},
        bad_url{"redis://[1.2.3.4::]", bad_ipv6 + at(10)},
        bad_url{"redis://[1:2:3:4:5:6:7:1.2.3.4]", bad_ipv6 + at(10)},
        bad_url{"redis://[127.0.0.1]", bad_ipv6 + at(10)},
        bad_url{"redis://[localhost]", bad_ipv6 + at(10)},
        bad_url{"redis://[fe80::1%25]", bad_ipv6 + at(10)},
        bad_url{"redis://[fe80::1%25a%2Fb]", bad_ipv6 + at(10)},
        bad_url{"redis://[fe80::1%25a%00]", "the IPv6 address contains a NUL byte (%00)" + at(10)},
        bad_url{"redis://[fe80::1%eth0]", bad_escape + at(17)},
        bad_url{"redis://:hunter2@[::1]6379", "expected ':' and a port after ']'" + at(23)},
        bad_url{"redis://[::1]:", "the port is missing after ':'" + at(15)}));

INSTANTIATE_TEST_SUITE_P(
    port, every_bad_url,
    testing::Values(
        bad_url{"redis://h:", "the port is missing after ':'" + at(11)},
        bad_url{"redis://h:/1", "the port is missing after ':'" + at(11)},
        bad_url{"redis://h:0", bad_port + at(11)}, bad_url{"redis://h:65536", bad_port + at(11)},
        bad_url{"redis://h:18446744073709551617", bad_port + at(11)},
        bad_url{"redis://h:-1", bad_port + at(11)}, bad_url{"redis://h:+1", bad_port + at(11)},
        bad_url{"redis://h:63x", bad_port + at(11)}, bad_url{"redis://h:%20", bad_port + at(11)},
        bad_url{"redis://alice:hunter2", bad_port + at(15)},
        bad_url{"redis://alice:hunter2/0", bad_port + at(15)},
        bad_url{"redis://[::1]:x", bad_port + at(15)}));

INSTANTIATE_TEST_SUITE_P(
    credentials, every_bad_url,
    testing::Values(bad_url{"redis://alice:hun@hunter2@h",
                            "'@' in a user or password must be written as %40" + at(18)},
                    bad_url{"redis://alice:hunter2@@h",
                            "'@' in a user or password must be written as %40" + at(22)},
                    bad_url{"redis://alice:hunter2/hunter2@h", stray_at + at(30)},
                    bad_url{"redis://alice:hunter2?hunter2@h", stray_at + at(30)},
                    bad_url{"redis://alice:hunter2?hunter2=@h", stray_at + at(31)},
                    bad_url{"redis://alice:hunter2@hunter2/hunter2@h", stray_at + at(38)},
                    bad_url{"redis://alice:1/hunter2@h", stray_at + at(24)},
                    bad_url{"redis://alice:hunter2#hunter2@h", fragment + at(22)},
                    bad_url{"redis://alice:hunter2%@h", bad_escape + at(22)},
                    bad_url{"redis://alice:hunter2%4@h", bad_escape + at(22)},
                    bad_url{"redis://alice:%4ghunter2@h", bad_escape + at(15)},
                    bad_url{"redis://%xalice:hunter2@h", bad_escape + at(9)},
                    bad_url{"unix://alice:hunter2/hunter2@/s", stray_at + at(29)},
                    bad_url{"unix://alice:hunter2@/hunter2@/s", stray_at + at(30)},
                    bad_url{"unix://alice:hunter2?hunter2@/s", stray_at + at(29)}));

INSTANTIATE_TEST_SUITE_P(
    path_and_database, every_bad_url,
    testing::Values(
        bad_url{"redis://:hunter2@h/x", bad_database + at(20)},
        bad_url{"redis://h/-1", bad_database + at(11)},
        bad_url{"redis://h/1x", bad_database + at(11)},
        bad_url{"redis://h/2147483648", bad_database + at(11)},
        bad_url{"redis://h/99999999999999999999999", bad_database + at(11)},
        bad_url{"redis://h/1/", bad_database + at(11)},
        bad_url{"redis://h//", bad_database + at(11)},
        bad_url{"redis://h/%00", bad_database + at(11)},
        bad_url{"redis://h/%", bad_escape + at(11)}, bad_url{"redis://h/0#x", fragment + at(12)},
        bad_url{"unix://run/redis.sock", not_absolute + at(8)},
        bad_url{"unix://alice:hunter2@run/s", not_absolute + at(22)},
        bad_url{"unix://", no_path + at(8)}, bad_url{"unix:///", no_path + at(8)},
        bad_url{"unix://?db=1", no_path + at(8)},
        bad_url{"unix://alice:hunter2@", no_path + at(22)},
        bad_url{"unix:///a%00b", "the path contains a NUL byte (%00)" + at(8)},
        bad_url{"unix:///a%1bb", "the path contains an encoded control character" + at(8)},
        bad_url{"unix:///a%2", bad_escape + at(10)},
        bad_url{"unix:///" + std::string(107, 'x'),
                "the path of a Unix socket must not be longer than 107 bytes" + at(8)}));

INSTANTIATE_TEST_SUITE_P(
    query, every_bad_url,
    testing::Values(
        bad_url{"redis://:hunter2@h?max_tll=1",
                "unknown query parameter 'max_tll': known are db, node_timeout, max_ttl" + at(20)},
        bad_url{"redis://h?Max_TTL=1",
                "unknown query parameter 'Max_TTL': known are db, node_timeout, max_ttl" + at(11)},
        bad_url{"redis://h?a%0ab=1",
                "unknown query parameter: known are db, node_timeout, max_ttl" + at(11)},
        bad_url{"redis://h?" + std::string(33, 'x') + "=1",
                "unknown query parameter: known are db, node_timeout, max_ttl" + at(11)},
        bad_url{"redis://h?max_ttl=1&node_timeout=2&max_ttl=3",
                "query parameter 'max_ttl' is given twice" + at(36)},
        bad_url{"redis://h?max_ttl=1&max%5Fttl=1",
                "query parameter 'max_ttl' is given twice" + at(21)},
        bad_url{"unix:///s?db=1&db=1", "query parameter 'db' is given twice" + at(16)},
        bad_url{"redis://h/1?db=1",
                "the database is given twice: in the path and as ?db=" + at(13)},
        bad_url{"redis://h/0?db=0",
                "the database is given twice: in the path and as ?db=" + at(13)},
        bad_url{"redis://h?db=x", bad_database + at(14)},
        bad_url{"unix:///s?db=", bad_database + at(14)},
        bad_url{"unix:///s?db=2147483648", bad_database + at(14)},
        bad_url{"redis://h?db", "query parameter 'db' has no value" + at(11)},
        bad_url{"redis://h?max_ttl", "query parameter 'max_ttl' has no value" + at(11)},
        bad_url{"redis://h?", "a query parameter has no name" + at(11)},
        bad_url{"redis://h?=1", "a query parameter has no name" + at(11)},
        bad_url{"redis://h?db=1&", "a query parameter has no name" + at(16)},
        bad_url{"redis://h?max_ttl=%4", bad_escape + at(19)},
        bad_url{"redis://h?max%ttl=1", bad_escape + at(14)},
        bad_url{"redis://h?max_ttl=a@b", stray_at + at(20)},
        bad_url{"redis://h?max_ttl=1#", fragment + at(20)}));

TEST(bad_url, knows_only_db_when_the_caller_knows_nothing) {
    const auto result = parse_url("redis://h?max_ttl=1");
    ASSERT_TRUE(std::holds_alternative<url_error>(result));
    EXPECT_EQ(std::get<url_error>(result).message,
              "unknown query parameter 'max_ttl': known are db (at character 11)");
}

TEST(bad_url, gives_the_position_for_programs_too) {
    const auto result = parse_url("redis://h:x");
    ASSERT_TRUE(std::holds_alternative<url_error>(result));
    EXPECT_EQ(std::get<url_error>(result).position, 10U);
}

}  // namespace
