#pragma once

#include <memory>

#include "base/locks.hpp"
#include "net/endpoint.hpp"
#include "net/transport.hpp"

namespace boost::asio {
class io_context;
}

/// Byte streams by Asio: TCP, unix sockets, and TLS over either. As net::network says it.
namespace holdfast::platform {

std::shared_ptr<net::credentials> prepare(boost::asio::io_context& io, const net::endpoint& where);

std::shared_ptr<net::transport> make_transport(boost::asio::io_context& io,
                                               const net::endpoint& where,
                                               std::shared_ptr<net::credentials> with,
                                               base::client_mutex& guard,
                                               net::transport::events& listener);

}  // namespace holdfast::platform
