#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl.hpp>
#include <optional>
#include <string>

#include "net/endpoint.hpp"
#include "net/failure.hpp"

/// What TLS adds to a transport: who is trusted, and what its errors mean.
namespace holdfast::net {

using tls_stream = boost::asio::ssl::stream<boost::asio::generic::stream_protocol::socket>;

/// A stream that trusts, shows and verifies what the endpoint says. Throws std::system_error with
/// errc::invalid_option where a file cannot be used.
tls_stream make_tls_stream(boost::asio::io_context& io, const endpoint& where);

/// Why a handshake with this stream failed.
failure explain_tls_handshake(tls_stream& stream, const endpoint& where,
                              const boost::system::error_code& error);

/// Why reading or writing failed, if TLS is to blame.
std::optional<failure> explain_tls(const boost::system::error_code& error);

}  // namespace holdfast::net
