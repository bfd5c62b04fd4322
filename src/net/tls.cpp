#include "net/tls.hpp"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <system_error>

namespace holdfast::net {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using error_code = boost::system::error_code;

[[noreturn]] void refuse(const std::string& what, const std::string& file,
                         const error_code& error) {
    throw std::system_error(errc::invalid_option, what + " '" + file + "': " + error.message());
}

ssl::context make_context(const tls_settings& settings) {
    ssl::context context(ssl::context::tls_client);
    SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
    error_code error;
    if (settings.ca_file.empty()) {
        context.set_default_verify_paths(error);
    } else {
        context.load_verify_file(settings.ca_file, error);
        if (error) refuse("cannot read the certificate authorities in", settings.ca_file, error);
    }
    if (settings.certificate_file.empty()) return context;
    context.use_certificate_chain_file(settings.certificate_file, error);
    if (error) refuse("cannot use the certificate in", settings.certificate_file, error);
    const auto& key = settings.key_file.empty() ? settings.certificate_file : settings.key_file;
    context.use_private_key_file(key, ssl::context::pem, error);
    if (error) refuse("cannot use the private key in", key, error);
    return context;
}

const std::string& name_of(const endpoint& where) {
    const auto& given = where.tls_options.server_name;
    return given.empty() ? where.host : given;
}

bool is_address(const std::string& name) {
    error_code error;
    asio::ip::make_address(name, error);
    return !error;
}

// Left to OpenSSL, which then says what did not match.
void verify_name(SSL* connection, const std::string& name) {
    auto* const wanted = SSL_get0_param(connection);
    if (is_address(name)) {
        X509_VERIFY_PARAM_set1_ip_asc(wanted, name.c_str());
    } else {
        X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
        X509_VERIFY_PARAM_set1_host(wanted, name.data(), name.size());
    }
}

std::string advice_for(long verdict, const endpoint& where) {
    switch (verdict) {
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH:
            return "; it is not for '" + name_of(where) + "', see tls.server_name";
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            return "; give the authority that issued it in tls.ca_file";
        default: return {};
    }
}

}  // namespace

// The stream outlives the context: OpenSSL counts who uses what is in it.
tls_stream make_tls_stream(asio::io_context& io, const endpoint& where) {
    auto context = make_context(where.tls_options);
    tls_stream stream(io, context);
    const auto& name = name_of(where);
    if (!is_address(name)) {  // what SSL_set_tlsext_host_name does, less its C cast
        SSL_ctrl(stream.native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                 const_cast<char*>(name.c_str()));
    }
    stream.set_verify_mode(where.tls_options.verify ? ssl::verify_peer : ssl::verify_none);
    if (where.tls_options.verify) verify_name(stream.native_handle(), name);
    return stream;
}

failure explain_tls_handshake(tls_stream& stream, const endpoint& where, const error_code& error) {
    const auto verdict = SSL_get_verify_result(stream.native_handle());
    if (verdict != X509_V_OK) {
        return {errc::untrusted,
                std::string("certificate refused: ") + X509_verify_cert_error_string(verdict) +
                    advice_for(verdict, where),
                true};
    }
    if (auto why = explain_tls(error)) return *why;
    return {.message = "TLS handshake: " + error.message()};
}

std::optional<failure> explain_tls(const error_code& error) {
    if (error.category() != asio::error::get_ssl_category()) return std::nullopt;
    switch (ERR_GET_REASON(static_cast<unsigned long>(error.value()))) {
        case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
        case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
        case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
        case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
        case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
        case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
            return failure{errc::authentication,
                           "our certificate, or its absence, was refused: " + error.message() +
                               "; see tls.certificate_file",
                           true};
        case SSL_R_WRONG_VERSION_NUMBER:
        case SSL_R_UNSUPPORTED_PROTOCOL:
            return failure{errc::protocol, "no TLS there: " + error.message(), true};
        default: return failure{errc::protocol, "TLS: " + error.message(), true};
    }
}

}  // namespace holdfast::net
