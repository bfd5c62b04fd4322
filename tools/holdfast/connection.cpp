#include "connection.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "exit_code.hpp"
#include "failure.hpp"
#include "holdfast/client.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/error.hpp"
#include "local_server.hpp"
#include "message.hpp"
#include "private_directory.hpp"
#include "wording.hpp"

namespace holdfast::tool {
namespace {

constexpr std::string_view local_url = "local:";

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::vector<std::string> words(const std::string& text) {
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
}

std::string user_name() {
    const auto* found = ::getpwuid(::geteuid());
    return found == nullptr ? std::to_string(::geteuid()) : found->pw_name;
}

/// Only the shape is looked at: reading URLs is the library's business.
bool carries_password(std::string_view url) {
    const auto start = url.find("://");
    if (start == std::string_view::npos) return false;
    url.remove_prefix(start + 3);
    const auto query = url.substr(std::min(url.find('?'), url.size()));
    if (query.find("sentinel_password=") != query.npos) return true;
    url = url.substr(0, url.find_first_of("/?#"));
    const auto at = url.rfind('@');
    if (at == std::string_view::npos) return false;
    const auto colon = url.find(':');
    return colon < at && colon + 1 < at;
}

void refuse_password(const std::string& url) {
    if (!carries_password(url)) return;
    throw failure(exit_code::usage,
                  "--url holds a password, which every user of this machine could read; put the "
                  "URL into HOLDFAST_URL, or use --password-file or REDISCLI_AUTH");
}

/// Several URLs in one, as many other programs take them. `advice` says how they are given here.
void refuse_several(std::string_view url, const std::string& advice) {
    const auto start = url.find("://");
    if (start == std::string_view::npos || url.substr(0, start).find('+') != url.npos) return;
    const auto comma = url.find_first_of(",;");
    const bool urls = comma != url.npos && url.find("://", comma) != url.npos;
    auto hosts = url.substr(start + 3);
    hosts = hosts.substr(0, hosts.find_first_of("/?#"));
    hosts.remove_prefix(hosts.rfind('@') == hosts.npos ? 0 : hosts.rfind('@') + 1);
    if (urls || hosts.find_first_of(",;") != hosts.npos) throw failure(exit_code::usage, advice);
}

/// Whoever gave the URL knows it by where it was given. It is not repeated: it may hold a password.
/// A client connects to nothing before it is used.
void require_valid(const std::string& url, const std::string& source) {
    if (url == local_url) return;
    if (url == "local") {
        throw failure(exit_code::usage,
                      source + ": 'local' is no URL; this machine's own server is local:");
    }
    try {
        options one;
        one.urls = {url};
        (void)client(one);
    } catch (const std::system_error& error) {
        if (error.code() != errc::invalid_url && error.code() != errc::invalid_option) throw;
        throw failure(exit_code_of(error.code()), source + ": " + in_our_words(error));
    }
}

void refuse_directory(const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) return;
    throw failure(exit_code::configuration, path + " is a directory; give a file");
}

std::string read_password(const std::string& path) {
    refuse_directory(path);
    std::ifstream file(path, std::ios::binary);
    std::string password(std::istreambuf_iterator<char>(file), {});
    if (!file.is_open() || file.bad()) {
        throw failure(exit_code::configuration,
                      "cannot read the password file " + path + ": " + std::strerror(errno));
    }
    if (password.ends_with('\n')) password.pop_back();
    if (password.ends_with('\r')) {
        say("the password in " + path +
            " ends with a carriage return, which is taken for a part of it; if the file has the "
            "line ends of another system (CRLF), remove it");
    }
    if (password.empty()) {
        throw failure(exit_code::configuration, "the password file " + path + " is empty");
    }
    return password;
}

/// Says of a file what read_password() says of its own; the library calls it a bad option.
void require_readable(const std::string& path) {
    refuse_directory(path);
    if (path.empty() || std::ifstream(path).is_open()) return;
    throw failure(exit_code::configuration, "cannot read " + path + ": " + std::strerror(errno));
}

/// Where no file is named for the key, it is taken from the certificate's.
void require_key_in(const std::string& certificate) {
    std::ifstream file(certificate);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    if (text.find("PRIVATE KEY") != text.npos) return;
    throw failure(exit_code::usage,
                  certificate + " holds no private key; name the file that does by --key");
}

}  // namespace

void connection::declare(command_line& line) {
    line.heading("Connecting");
    line.texts(
        "--url", "URL", given_urls_,
        "redis://, rediss:// (TLS) or unix:// URL of the server, valkey:// and valkeys:// for "
        "the first two, redis+sentinel://HOST,HOST,HOST/MASTER-NAME for the master that "
        "Sentinels name, redis+cluster://HOST,HOST,HOST for a Cluster, or local: for one of this "
        "machine's own; several times: a quorum of independent servers. Default: HOLDFAST_URL, "
        "REDIS_URL, local:");
    line.text("--user", "NAME", user_,
              "User name, where the URL has none; without a password: that user, if it needs none");
    line.text("--password-file", "FILE", password_file_,
              "File with the password; else REDISCLI_AUTH");
    line.text("--cacert", "FILE", authority_file_, "Certificates to trust (PEM), with rediss://");
    line.text("--cert", "FILE", certificate_file_, "Our certificate (PEM)");
    line.text("--key", "FILE", key_file_, "Its private key (PEM); default: in the file of --cert");
    line.text("--sni", "NAME", server_name_, "Expect this server name instead of the URL's host");
    line.flag("--insecure", insecure_, "Do not verify the server's certificate");
    line.text("--prefix", "TEXT", prefix_,
              "Put before every key at the server; keys are given and shown without it");
    line.flag("--allow-eviction", allow_eviction_,
              "Use servers that may evict locks (maxmemory-policy other than noeviction)");
}

options connection::settings(std::optional<std::chrono::milliseconds> ttl) const {
    if (ttl && (*ttl < min_ttl || *ttl > longest_max_ttl)) {
        throw failure(exit_code::usage, "--ttl takes " + format_duration(min_ttl) + " to " +
                                            format_duration(longest_max_ttl) + ", not " +
                                            format_duration(*ttl));
    }
    options result;
    result.urls = urls();
    for (std::string& url : result.urls) {
        if (url == local_url) url = local_server().start();
    }
    result.user = user_;
    result.password = password();
    result.prefix = prefix_;
    result.allow_eviction = allow_eviction_;
    for (const auto& file : {authority_file_, certificate_file_, key_file_}) require_readable(file);
    if (!certificate_file_.empty() && key_file_.empty()) require_key_in(certificate_file_);
    result.tls.ca_file = authority_file_;
    result.tls.certificate_file = certificate_file_;
    result.tls.key_file = key_file_;
    result.tls.server_name = server_name_;
    result.tls.verify = !insecure_;
    // Clients that guard against restarts agree on max_ttl; nobody raises it for itself.
    const bool longer = ttl && *ttl > result.max_ttl;
    if (longer && !client(result).settings().restart_guard.value_or(true)) result.max_ttl = *ttl;
    result.fence_retention = std::max(result.fence_retention, result.max_ttl);
    return result;
}

std::vector<std::string> connection::urls() const {
    for (const std::string& url : given_urls_) {
        refuse_password(url);
        refuse_several(url, "--url names one server; for a quorum give it several times");
        require_valid(url, "--url");
    }
    if (!given_urls_.empty()) return given_urls_;
    if (auto several = words(environment("HOLDFAST_URL")); !several.empty()) {
        for (const std::string& url : several) {
            refuse_several(url,
                           "HOLDFAST_URL has a comma or semicolon between servers; write the whole "
                           "URL of each, separated by spaces");
            require_valid(url, "HOLDFAST_URL");
        }
        return several;
    }
    if (auto one = environment("REDIS_URL"); !one.empty()) {
        refuse_several(one,
                       "REDIS_URL names one server; for a quorum put the whole URL of each, "
                       "separated by spaces, into HOLDFAST_URL");
        require_valid(one, "REDIS_URL");
        return {one};
    }
    say("no --url, HOLDFAST_URL or REDIS_URL: using local:, so the lock holds on this machine "
        "only, "
        "for user " +
        user_name() + ", through " + private_directory_path());
    return {std::string(local_url)};
}

std::string connection::password() const {
    if (!password_file_.empty()) return read_password(password_file_);
    return environment("REDISCLI_AUTH");
}

}  // namespace holdfast::tool
