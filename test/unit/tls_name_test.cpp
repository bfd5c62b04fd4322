#include <gtest/gtest.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <boost/asio/io_context.hpp>
#include <string>
#include <system_error>

#include "holdfast/error.hpp"
#include "platform/tls.hpp"

namespace holdfast::platform {
namespace {

std::string text_of(char* owned) {
    const std::string text = owned == nullptr ? "" : owned;
    OPENSSL_free(owned);
    return text;
}

tls_stream stream_to(boost::asio::io_context& io, const endpoint& where) {
    return make_tls_stream(io, *tls_credentials(where.tls_options).current(), where);
}

/// The address that OpenSSL will compare with the certificate's; empty: none.
std::string expected_address(const endpoint& where) {
    boost::asio::io_context io;
    auto stream = stream_to(io, where);
    return text_of(X509_VERIFY_PARAM_get1_ip_asc(SSL_get0_param(stream.native_handle())));
}

TEST(tls, expects_an_address_without_its_zone) {
    EXPECT_EQ(expected_address({.host = "::1", .tls = true}), "0:0:0:0:0:0:0:1");
    EXPECT_EQ(expected_address({.host = "::1%lo", .tls = true}), "0:0:0:0:0:0:0:1");
    EXPECT_EQ(expected_address({.host = "fe80::1%eth0", .tls = true}), "FE80:0:0:0:0:0:0:1");
    const endpoint by_option{
        .host = "localhost", .tls = true, .tls_options = {.server_name = "::1%lo"}};
    EXPECT_EQ(expected_address(by_option), "0:0:0:0:0:0:0:1");
}

TEST(tls, refuses_to_verify_a_name_that_cannot_be_compared) {
    boost::asio::io_context io;
    for (const auto& name : {std::string("%lo"), std::string("a\0b", 3), std::string(300, 'x')}) {
        const endpoint where{
            .host = "localhost", .tls = true, .tls_options = {.server_name = name}};
        try {
            stream_to(io, where);
            ADD_FAILURE() << "accepted '" << name << "'";
        } catch (const std::system_error& refused) {
            EXPECT_EQ(refused.code(), errc::invalid_option) << refused.what();
        }
    }
}

}  // namespace
}  // namespace holdfast::platform
