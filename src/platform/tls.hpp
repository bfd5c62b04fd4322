#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/endpoint.hpp"
#include "net/failure.hpp"
#include "net/transport.hpp"

/// What TLS adds to a transport: who is trusted, and what its errors mean.
namespace holdfast::platform {

using net::endpoint;
using net::failure;
using net::tls_settings;

using tls_stream = boost::asio::ssl::stream<boost::asio::generic::stream_protocol::socket>;

/// The authorities, the certificate and the key that tls_settings name. They are read when this is
/// made, and again by current() if a file has changed since.
///
/// Both read files, which may lie on a slow disk: not with a client's lock held. One thread at a
/// time.
class tls_credentials final : public net::credentials {
  public:
    /// Throws std::system_error with errc::invalid_option where a file cannot be used.
    explicit tls_credentials(tls_settings from);

    /// Throws as the constructor does; the next call then tries again.
    std::shared_ptr<boost::asio::ssl::context> current();

  private:
    /// What tells one version of a file from another; all zero where there is none.
    struct version {
        std::uint64_t device = 0;
        std::uint64_t number = 0;
        std::int64_t size = 0;
        std::int64_t changed = 0;  // in nanoseconds: contents, or name, owner, rights
        bool operator==(const version&) const = default;
    };
    [[nodiscard]] std::vector<version> versions() const;

    tls_settings from_;
    std::vector<version> read_;
    std::shared_ptr<boost::asio::ssl::context> context_;
};

/// A stream that trusts and shows what the context says, and verifies what the endpoint says.
tls_stream make_tls_stream(boost::asio::io_context& io, boost::asio::ssl::context& context,
                           const endpoint& where);

/// Why a handshake with this stream failed.
failure explain_tls_handshake(tls_stream& stream, const endpoint& where,
                              const boost::system::error_code& error);

/// Why reading or writing failed, if TLS is to blame.
std::optional<failure> explain_tls(const boost::system::error_code& error);

}  // namespace holdfast::platform
