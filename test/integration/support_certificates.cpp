#include "support/certificates.hpp"

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "support/redis_server.hpp"
#include "support/scratch_directory.hpp"
#include "support/sockets.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

struct tls_client_options {
    std::filesystem::path authority;
    std::string host_name{};  // one of these two
    std::string address{};
    std::optional<certificate_files> certificate{};
};

/// Sends PING over TLS: "+PONG\r\n", or why the certificate of the server was refused.
std::string ping_over_tls(std::uint16_t port, const tls_client_options& options) {
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context{
        ::SSL_CTX_new(::TLS_client_method()), &::SSL_CTX_free};
    ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    ::SSL_CTX_load_verify_file(context.get(), options.authority.c_str());
    if (const auto& own = options.certificate) {
        ::SSL_CTX_use_certificate_file(context.get(), own->certificate.c_str(), SSL_FILETYPE_PEM);
        ::SSL_CTX_use_PrivateKey_file(context.get(), own->key.c_str(), SSL_FILETYPE_PEM);
    }
    const std::unique_ptr<SSL, decltype(&SSL_free)> session{::SSL_new(context.get()), &::SSL_free};
    X509_VERIFY_PARAM* const check = ::SSL_get0_param(session.get());
    if (!options.host_name.empty()) ::SSL_set1_host(session.get(), options.host_name.c_str());
    if (!options.address.empty()) ::X509_VERIFY_PARAM_set1_ip_asc(check, options.address.c_str());

    const file_descriptor socket = connect_to_loopback(port, 5s);
    ::SSL_set_fd(session.get(), socket.get());
    if (::SSL_connect(session.get()) != 1)
        return ::X509_verify_cert_error_string(::SSL_get_verify_result(session.get()));
    ::SSL_write(session.get(), "PING\r\n", 6);
    std::string answer(64, '\0');
    const int size = ::SSL_read(session.get(), answer.data(), static_cast<int>(answer.size()));
    return size <= 0 ? "closed" : answer.substr(0, static_cast<std::size_t>(size));
}

class support_certificates : public testing::Test {
  protected:
    redis_options served_with(const certificate_files& files, bool ask_clients = false) const {
        return {.tls = tls_files{.certificate = files.certificate,
                                 .key = files.key,
                                 .authority = authority_.file(),
                                 .require_client_certificate = ask_clients}};
    }

    // OpenSSL writes without a guard, here to servers that may have closed already.
    void SetUp() override { before_ = ::signal(SIGPIPE, SIG_IGN); }
    void TearDown() override { ::signal(SIGPIPE, before_); }

    void (*before_)(int) = nullptr;
    scratch_directory directory_;
    certificate_authority authority_{directory_.path()};
};

TEST_F(support_certificates, a_server_is_trusted_under_each_of_its_names) {
    redis_server server{served_with(
        authority_.issue_server("server", {"localhost", "redis.test", "127.0.0.1", "::1"}))};
    const auto ping = [&](const std::string& host_name, const std::string& address) {
        return ping_over_tls(
            server.tls_port(),
            {.authority = authority_.file(), .host_name = host_name, .address = address});
    };
    EXPECT_EQ(ping("localhost", ""), "+PONG\r\n");
    EXPECT_EQ(ping("redis.test", ""), "+PONG\r\n");
    EXPECT_EQ(ping("", "127.0.0.1"), "+PONG\r\n");
    EXPECT_EQ(ping("", "::1"), "+PONG\r\n");
    EXPECT_EQ(ping("other.test", ""), "hostname mismatch");
    EXPECT_EQ(ping("", "127.0.0.2"), "IP address mismatch");
    EXPECT_EQ(server.tls_url(), "rediss://127.0.0.1:" + std::to_string(server.tls_port()));
    EXPECT_EQ(server.command({"PING"}), "PONG");  // the plain ways stay open
    EXPECT_EQ(to_string(raw_client::connect_tcp(server.port()).command({"PING"})), "PONG");
}

TEST_F(support_certificates, an_expired_and_a_future_one_are_refused_for_their_dates) {
    redis_server expired{
        served_with(authority_.issue_server("old", {"127.0.0.1"}, validity::expired))};
    EXPECT_EQ(ping_over_tls(expired.tls_port(), {.authority = authority_.file()}),
              "certificate has expired");
    redis_server future{
        served_with(authority_.issue_server("new", {"127.0.0.1"}, validity::not_yet))};
    EXPECT_EQ(ping_over_tls(future.tls_port(), {.authority = authority_.file()}),
              "certificate is not yet valid");
}

TEST_F(support_certificates, a_self_signed_one_is_refused_unless_trusted_itself) {
    const certificate_files files = make_self_signed(directory_.path(), "self", {"127.0.0.1"});
    redis_server server{served_with(files)};
    EXPECT_EQ(ping_over_tls(server.tls_port(), {.authority = authority_.file()}),
              "self-signed certificate");
    EXPECT_EQ(ping_over_tls(server.tls_port(), {.authority = files.certificate}), "+PONG\r\n");
}

TEST_F(support_certificates, another_authority_is_not_trusted) {
    const certificate_authority stranger{directory_.path(), "stranger"};
    redis_server server{served_with(authority_.issue_server("server", {"127.0.0.1"}))};
    EXPECT_EQ(ping_over_tls(server.tls_port(), {.authority = stranger.file()}),
              "self-signed certificate in certificate chain");
}

TEST_F(support_certificates, a_server_that_asks_lets_in_only_clients_with_a_valid_certificate) {
    redis_server server{served_with(authority_.issue_server("server", {"127.0.0.1"}), true)};
    const auto ping = [&](std::optional<certificate_files> own) {
        return ping_over_tls(server.tls_port(),
                             {.authority = authority_.file(), .certificate = std::move(own)});
    };
    EXPECT_EQ(ping(authority_.issue_client("client")), "+PONG\r\n");
    EXPECT_EQ(ping(authority_.issue_client("late", validity::expired)), "closed");
    EXPECT_EQ(ping(std::nullopt), "closed");
}

}  // namespace
}  // namespace holdfast::test
