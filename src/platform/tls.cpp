#include "platform/tls.hpp"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace holdfast::platform {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using error_code = boost::system::error_code;

[[noreturn]] void refuse(const std::string& what, const std::string& file,
                         const error_code& error) {
    throw std::system_error(errc::invalid_option, what + " '" + file + "': " + error.message());
}

/// What OpenSSL says to a setting that everything else relies on: 1, or there is no connection.
void require(long done, const std::string& what) {
    if (done != 1) throw std::system_error(errc::invalid_option, "TLS: cannot " + what);
}

std::string from_environment(const char* name, const char* otherwise) {
    const char* const given = ::secure_getenv(name);
    return given != nullptr ? given : otherwise;
}

/// All that a context is made of.
std::vector<std::string> files_of(const tls_settings& settings) {
    std::vector<std::string> all;
    if (settings.ca_file.empty()) {  // as OpenSSL finds those of the system
        all.push_back(
            from_environment(X509_get_default_cert_file_env(), X509_get_default_cert_file()));
        all.push_back(
            from_environment(X509_get_default_cert_dir_env(), X509_get_default_cert_dir()));
    }
    for (const auto& name : {settings.ca_file, settings.certificate_file, settings.key_file}) {
        if (!name.empty()) all.push_back(name);
    }
    return all;
}

std::shared_ptr<ssl::context> make_context(const tls_settings& settings) {
    auto made = std::make_shared<ssl::context>(ssl::context::tls_client);
    auto& context = *made;
    require(SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION),
            "ask for version 1.2");
    error_code error;
    if (settings.ca_file.empty()) {
        context.set_default_verify_paths(error);
        if (error) refuse("cannot use the certificate authorities of", "the system", error);
    } else {
        context.load_verify_file(settings.ca_file, error);
        if (error) refuse("cannot read the certificate authorities in", settings.ca_file, error);
    }
    if (settings.certificate_file.empty()) return made;
    context.use_certificate_chain_file(settings.certificate_file, error);
    if (error) refuse("cannot use the certificate in", settings.certificate_file, error);
    const auto& key = settings.key_file.empty() ? settings.certificate_file : settings.key_file;
    context.use_private_key_file(key, ssl::context::pem, error);
    if (error) refuse("cannot use the private key in", key, error);
    return made;
}

/// What the certificate must be for. The zone of an address says which of our own interfaces leads
/// there; no certificate has one.
std::string name_of(const endpoint& where) {
    const auto& given = where.tls_options.server_name;
    const auto& name = given.empty() ? where.host : given;
    return name.substr(0, name.find('%'));
}

bool is_address(const std::string& name) {
    error_code error;
    asio::ip::make_address(name, error);
    return !error;
}

// Left to OpenSSL, which then says what did not match. It compares nothing where it did not
// understand the name, nor where that is empty.
void verify_name(SSL* connection, const std::string& name) {
    auto* const wanted = SSL_get0_param(connection);
    const auto what = "verify a certificate for '" + name + "'";
    require(wanted != nullptr && !name.empty() ? 1 : 0, what);
    if (is_address(name)) {
        require(X509_VERIFY_PARAM_set1_ip_asc(wanted, name.c_str()), what);
    } else {
        X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
        require(X509_VERIFY_PARAM_set1_host(wanted, name.data(), name.size()), what);
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

tls_credentials::tls_credentials(tls_settings from) : from_(std::move(from)) { current(); }

// The versions are looked at first: what changes while it is read counts as changed.
std::shared_ptr<ssl::context> tls_credentials::current() {
    auto now = versions();
    if (context_ == nullptr || now != read_) {
        context_ = make_context(from_);
        read_ = std::move(now);
    }
    return context_;
}

std::vector<tls_credentials::version> tls_credentials::versions() const {
    std::vector<version> all;
    for (const auto& name : files_of(from_)) {
        struct stat found {};
        version seen;
        if (::stat(name.c_str(), &found) == 0) {
            const auto nanoseconds = std::int64_t{1'000'000'000};
            seen = {found.st_dev, found.st_ino, found.st_size,
                    found.st_ctim.tv_sec * nanoseconds + found.st_ctim.tv_nsec};
        }
        all.push_back(seen);
    }
    return all;
}

// The stream may outlive the context: OpenSSL counts who uses what is in it.
tls_stream make_tls_stream(asio::io_context& io, ssl::context& context, const endpoint& where) {
    tls_stream stream(io, context);
    const auto name = name_of(where);
    if (!is_address(name)) {  // what SSL_set_tlsext_host_name does, less its C cast
        require(SSL_ctrl(stream.native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME,
                         TLSEXT_NAMETYPE_host_name, const_cast<char*>(name.c_str())),
                "ask for the server name '" + name + "'");
    }
    error_code error;
    stream.set_verify_mode(where.tls_options.verify ? ssl::verify_peer : ssl::verify_none, error);
    require(error ? 0 : 1, "choose whether to verify");
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
            return failure{errc::protocol,
                           "no TLS there: " + error.message() + "; without it, use redis://", true};
        default: return failure{errc::protocol, "TLS: " + error.message(), true};
    }
}

}  // namespace holdfast::platform
