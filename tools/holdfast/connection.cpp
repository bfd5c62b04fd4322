#include "connection.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "exit_code.hpp"
#include "failure.hpp"
#include "local_server.hpp"
#include "message.hpp"

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

/// Only the shape is looked at: reading URLs is the library's business.
bool carries_password(std::string_view url) {
    const auto start = url.find("://");
    if (start == std::string_view::npos) return false;
    url.remove_prefix(start + 3);
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

std::string read_password(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string password(std::istreambuf_iterator<char>(file), {});
    if (!file.is_open() || file.bad()) {
        throw failure(exit_code::configuration,
                      "cannot read the password file " + path + ": " + std::strerror(errno));
    }
    if (password.ends_with('\n')) password.pop_back();
    return password;
}

/// Says of a file what read_password() says of its own; the library calls it a bad option.
void require_readable(const std::string& path) {
    if (path.empty() || std::ifstream(path).is_open()) return;
    throw failure(exit_code::configuration, "cannot read " + path + ": " + std::strerror(errno));
}

}  // namespace

void connection::declare(command_line& line) {
    line.heading("Connecting");
    line.texts("--url", "URL", given_urls_,
               "redis://, rediss:// or unix:// URL of the server, or local: for a server of this "
               "machine's own; several times: a quorum of independent servers. Default: "
               "HOLDFAST_URL, REDIS_URL, local:");
    line.text("--user", "NAME", user_, "User name, where the URL has none");
    line.text("--password-file", "FILE", password_file_,
              "File with the password; else REDISCLI_AUTH");
    line.text("--cacert", "FILE", authority_file_, "Certificates to trust (PEM), with rediss://");
    line.text("--cert", "FILE", certificate_file_, "Our certificate (PEM)");
    line.text("--key", "FILE", key_file_, "Its private key (PEM)");
    line.text("--sni", "NAME", server_name_, "Expect this server name instead of the URL's host");
    line.flag("--insecure", insecure_, "Do not verify the server's certificate");
    line.text("--prefix", "TEXT", prefix_, "Put before every key");
}

options connection::settings(std::chrono::milliseconds ttl) const {
    options result;
    result.urls = urls();
    for (std::string& url : result.urls) {
        if (url == local_url) url = local_server().start();
    }
    if (result.urls.size() == 1) result.max_ttl = std::max(result.max_ttl, ttl);
    result.fence_retention = std::max(result.fence_retention, result.max_ttl);
    result.user = user_;
    result.password = password();
    result.prefix = prefix_;
    for (const auto& file : {authority_file_, certificate_file_, key_file_}) require_readable(file);
    result.tls.ca_file = authority_file_;
    result.tls.certificate_file = certificate_file_;
    result.tls.key_file = key_file_;
    result.tls.server_name = server_name_;
    result.tls.verify = !insecure_;
    return result;
}

std::vector<std::string> connection::urls() const {
    for (const std::string& url : given_urls_) refuse_password(url);
    if (!given_urls_.empty()) return given_urls_;
    if (auto several = words(environment("HOLDFAST_URL")); !several.empty()) return several;
    if (auto one = environment("REDIS_URL"); !one.empty()) return {one};
    say("no --url, HOLDFAST_URL or REDIS_URL: using local:, so the lock holds on this machine "
        "only");
    return {std::string(local_url)};
}

std::string connection::password() const {
    if (!password_file_.empty()) return read_password(password_file_);
    return environment("REDISCLI_AUTH");
}

}  // namespace holdfast::tool
