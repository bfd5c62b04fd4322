#include "net/transport.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <utility>
#include <vector>

namespace holdfast::net {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using error_code = boost::system::error_code;
using stream_protocol = asio::generic::stream_protocol;
using socket_type = stream_protocol::socket;
using tls_type = ssl::stream<socket_type>;

socket_type& lowest(socket_type& stream) { return stream; }
socket_type& lowest(tls_type& stream) { return stream.next_layer(); }

// Asio's own open() leaves the descriptor to be inherited by every program that is executed.
error_code open_socket(socket_type& socket, const stream_protocol& protocol) {
    const int descriptor =
        ::socket(protocol.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return {errno, boost::system::system_category()};
    if (protocol.family() != AF_UNIX) {
        const int on = 1;
        ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        ::setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    }
    error_code error;
    socket.assign(protocol, descriptor, error);
    if (error) ::close(descriptor);
    return error;
}

failure cannot_connect(const error_code& error) {
    return {.code = errc::unreachable, .message = error.message()};
}

template <typename Stream>
class stream_transport final : public transport,
                               public std::enable_shared_from_this<stream_transport<Stream>> {
  public:
    template <typename... Arguments>
    stream_transport(asio::io_context& io, const endpoint& where, std::mutex& guard,
                     events& listener, Arguments&&... arguments)
        : where_(where),
          guard_(guard),
          listener_(&listener),
          resolver_(io),
          stream_(std::forward<Arguments>(arguments)...) {}

    void open() override {
        if (where_.transport == endpoint::transport_kind::unix_socket) {
            candidates_.emplace_back(asio::local::stream_protocol::endpoint(where_.path));
            return connect_next({});
        }
        // A numeric address needs no resolver, and no thread for it.
        error_code not_numeric;
        const auto address = asio::ip::make_address(where_.host, not_numeric);
        if (!not_numeric) {
            candidates_.emplace_back(asio::ip::tcp::endpoint(address, where_.port));
            return connect_next({});
        }
        resolver_.async_resolve(
            where_.host, std::to_string(where_.port),
            guarded([this](const error_code& error, const auto& results) {
                if (error) return opened(failure{.message = "cannot resolve: " + error.message()});
                for (const auto& result : results) candidates_.emplace_back(result.endpoint());
                connect_next({});
            }));
    }

    void read(std::span<char> into) override {
        stream_.async_read_some(asio::buffer(into.data(), into.size()),
                                guarded([this](const error_code& error, std::size_t bytes) {
                                    listener_->on_read(!error, bytes);
                                }));
    }

    std::size_t write_now([[maybe_unused]] std::string_view what) noexcept override {
        if constexpr (std::is_same_v<Stream, socket_type>) {
            const auto sent = ::send(stream_.native_handle(), what.data(), what.size(),
                                     MSG_NOSIGNAL | MSG_DONTWAIT);
            return sent > 0 ? static_cast<std::size_t>(sent) : 0;
        } else {
            return 0;
        }
    }

    void write(std::string_view what) override {
        asio::async_write(stream_, asio::buffer(what),
                          guarded([this](const error_code& error, std::size_t) {
                              listener_->on_written(!error);
                          }));
    }

    bool hung_up() noexcept override {
        pollfd wanted{lowest(stream_).native_handle(), POLLRDHUP, 0};
        return ::poll(&wanted, 1, 0) > 0;
    }

    void close() noexcept override {
        listener_ = nullptr;
        error_code ignored;
        resolver_.cancel();
        lowest(stream_).close(ignored);
    }

    void abandon() noexcept override {
        listener_ = nullptr;
        if (lowest(stream_).is_open()) ::close(lowest(stream_).native_handle());
    }

  private:
    // A handler that keeps the transport alive, holds the lock, and is silent after close().
    template <typename Handler>
    auto guarded(Handler handler) {
        return [self = this->shared_from_this(), handler](const auto&... arguments) {
            const std::lock_guard lock(self->guard_);
            if (self->listener_ != nullptr) handler(arguments...);
        };
    }

    void connect_next(const error_code& last) {
        if (candidates_.empty()) return opened(cannot_connect(last));
        const auto candidate = candidates_.front();
        candidates_.erase(candidates_.begin());
        error_code ignored;
        lowest(stream_).close(ignored);
        if (const auto error = open_socket(lowest(stream_), candidate.protocol())) {
            return connect_next(error);
        }
        lowest(stream_).async_connect(candidate, guarded([this](const error_code& error) {
                                          if (error) return connect_next(error);
                                          secure();
                                      }));
    }

    void secure() {
        if constexpr (std::is_same_v<Stream, tls_type>) {
            stream_.async_handshake(
                ssl::stream_base::client,
                guarded([this](const error_code& error) { opened(tls_failure(error)); }));
        } else {
            opened(std::nullopt);
        }
    }

    std::optional<failure> tls_failure(const error_code& error) {
        if (!error) return std::nullopt;
        if constexpr (std::is_same_v<Stream, tls_type>) {
            const auto verdict = SSL_get_verify_result(stream_.native_handle());
            if (verdict != X509_V_OK) {
                return failure{
                    errc::untrusted,
                    std::string("certificate refused: ") + X509_verify_cert_error_string(verdict),
                    true};
            }
        }
        if (error.category() == asio::error::get_ssl_category()) {
            return failure{errc::protocol, "no TLS there: " + error.message(), true};
        }
        return failure{errc::unreachable, "TLS handshake: " + error.message(), false};
    }

    void opened(std::optional<failure> why_not) { listener_->on_open(std::move(why_not)); }

    endpoint where_;
    std::mutex& guard_;
    events* listener_;
    asio::ip::tcp::resolver resolver_;
    std::vector<stream_protocol::endpoint> candidates_;
    Stream stream_;
};

[[noreturn]] void refuse(const std::string& what, const std::string& file,
                         const error_code& error) {
    throw std::system_error(errc::invalid_option, what + " '" + file + "': " + error.message());
}

std::shared_ptr<ssl::context> make_context(const tls_settings& settings) {
    auto context = std::make_shared<ssl::context>(ssl::context::tls_client);
    SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
    error_code error;
    if (settings.ca_file.empty()) {
        context->set_default_verify_paths(error);
    } else {
        context->load_verify_file(settings.ca_file, error);
        if (error) refuse("cannot read the certificate authorities in", settings.ca_file, error);
    }
    if (!settings.certificate_file.empty()) {
        context->use_certificate_chain_file(settings.certificate_file, error);
        if (error) refuse("cannot use the certificate in", settings.certificate_file, error);
    }
    if (!settings.key_file.empty()) {
        context->use_private_key_file(settings.key_file, ssl::context::pem, error);
        if (error) refuse("cannot use the private key in", settings.key_file, error);
    }
    return context;
}

bool is_address(const std::string& name) {
    error_code error;
    asio::ip::make_address(name, error);
    return !error;
}

// The stream keeps a pointer into the context's data; OpenSSL counts references to it itself.
tls_type make_tls(asio::io_context& io, const endpoint& where) {
    const auto context = make_context(where.tls_options);
    tls_type stream(io, *context);
    const auto& settings = where.tls_options;
    const auto name = settings.server_name.empty() ? where.host : settings.server_name;
    if (!is_address(name)) {  // what SSL_set_tlsext_host_name does, less its C cast
        SSL_ctrl(stream.native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                 const_cast<char*>(name.c_str()));
    }
    if (settings.verify) {
        stream.set_verify_mode(ssl::verify_peer);
        stream.set_verify_callback(ssl::host_name_verification(name));
    } else {
        stream.set_verify_mode(ssl::verify_none);
    }
    return stream;
}

}  // namespace

std::shared_ptr<transport> transport::make(asio::io_context& io, const endpoint& where,
                                           std::mutex& guard, events& listener) {
    if (where.tls) {
        return std::make_shared<stream_transport<tls_type>>(io, where, guard, listener,
                                                            make_tls(io, where));
    }
    return std::make_shared<stream_transport<socket_type>>(io, where, guard, listener, io);
}

}  // namespace holdfast::net
