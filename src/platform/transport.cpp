#include "platform/transport.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <cstring>
#include <utility>
#include <vector>

#include "platform/locking_executor.hpp"
#include "platform/tls.hpp"

namespace holdfast::platform {
namespace {

using events = net::transport::events;
namespace asio = boost::asio;
using error_code = boost::system::error_code;
using stream_protocol = asio::generic::stream_protocol;
using socket_type = stream_protocol::socket;

socket_type& lowest(socket_type& stream) { return stream; }
socket_type& lowest(tls_stream& stream) { return stream.next_layer(); }

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

failure explain(const error_code& error) {
    if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) {
        return {.message = "connection closed by the server"};
    }
    if (auto why = explain_tls(error)) return *why;
    return {.message = error.message()};
}

template <typename Stream>
class stream_transport : public net::transport,
                         public std::enable_shared_from_this<stream_transport<Stream>> {
  public:
    stream_transport(asio::io_context& io, const endpoint& where, base::client_mutex& guard,
                     events& listener)
        : where_(where), guard_(guard), listener_(&listener), io_(io), resolver_(io) {}

    void open() override HOLDFAST_LOCKED {
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
            guarded([this](const error_code& error, const auto& results) HOLDFAST_LOCKED {
                if (error && where_.host != "localhost") {
                    return opened(failure{.message = "cannot resolve: " + error.message()});
                }
                if (error) {
                    add_loopback();
                } else {
                    for (const auto& result : results) candidates_.emplace_back(result.endpoint());
                }
                connect_next({});
            }));
    }

    bool hung_up() noexcept override HOLDFAST_LOCKED {
        pollfd wanted{lowest(*stream_).native_handle(), POLLRDHUP, 0};
        return ::poll(&wanted, 1, 0) > 0;
    }

    void close() noexcept override HOLDFAST_LOCKED {
        listener_ = nullptr;
        error_code ignored;
        try {
            resolver_.cancel();
        } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): nobody listens to it
        }
        if (stream_) lowest(*stream_).close(ignored);
    }

    void abandon() noexcept override HOLDFAST_UNCHECKED {  // the child has one thread, and no lock
        listener_ = nullptr;
        if (stream_ && lowest(*stream_).is_open()) ::close(lowest(*stream_).native_handle());
    }

  protected:
    // A handler that keeps the transport alive, holds the lock, and is silent after close().
    template <typename Handler>
    auto guarded(Handler handler) HOLDFAST_LOCKED {
        auto self = this->shared_from_this();
        if constexpr (std::is_same_v<Stream, tls_stream>) {
            return asio::bind_executor(locking_executor(io_, guard_),
                                       [self, handler](const auto&... arguments)
                                           HOLDFAST_LOCKED { self->tell(handler, arguments...); });
        } else {
            return [self, handler](const auto&... arguments) {
                const base::client_lock lock(self->guard_);
                self->tell(handler, arguments...);
            };
        }
    }

    // Whoever runs the io_context may be anybody: nothing must come through to him.
    template <typename Handler, typename... Arguments>
    void tell(const Handler& handler, const Arguments&... arguments) noexcept HOLDFAST_LOCKED {
        if (listener_ == nullptr) return;
        try {
            handler(arguments...);
        } catch (...) {
            listener_->on_broken(net::current_failure());
        }
    }

    virtual void secure() HOLDFAST_LOCKED = 0;

    void opened(std::optional<failure> why_not) HOLDFAST_LOCKED {
        listener_->on_open(std::move(why_not));
    }

    const endpoint& where() const { return where_; }
    base::client_mutex& guard() { return guard_; }
    asio::io_context& io() { return io_; }
    events& listener() HOLDFAST_LOCKED { return *listener_; }
    Stream& stream() HOLDFAST_LOCKED { return *stream_; }

    /// REQUIRES: before it is opened.
    void use(Stream stream) HOLDFAST_LOCKED { stream_.emplace(std::move(stream)); }

  private:
    // That name means this machine (RFC 6761), also where no /etc/hosts says so.
    void add_loopback() HOLDFAST_LOCKED {
        candidates_.emplace_back(
            asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), where_.port));
        candidates_.emplace_back(
            asio::ip::tcp::endpoint(asio::ip::address_v6::loopback(), where_.port));
    }

    // Whoever calls open() is told later, also of what fails at once.
    void connect_next(const error_code& last) HOLDFAST_LOCKED {
        if (candidates_.empty()) return give_up(last);
        const auto candidate = candidates_.front();
        candidates_.erase(candidates_.begin());
        error_code ignored;
        lowest(*stream_).close(ignored);
        if (const auto error = open_socket(lowest(*stream_), candidate.protocol())) {
            return connect_next(error);
        }
        lowest(*stream_).async_connect(candidate,
                                       guarded([this](const error_code& error) HOLDFAST_LOCKED {
                                           if (error) return connect_next(error);
                                           secure();
                                       }));
    }

    void give_up(const error_code& last) {
        asio::post(io_, [self = this->shared_from_this(), last] {
            const base::client_lock lock(self->guard_);
            self->tell([&]() HOLDFAST_LOCKED { self->opened(explain(last)); });
        });
    }

    const endpoint where_;
    base::client_mutex& guard_;
    events* listener_ HOLDFAST_GUARDED;
    asio::io_context& io_;
    asio::ip::tcp::resolver resolver_ HOLDFAST_GUARDED;
    std::vector<stream_protocol::endpoint> candidates_ HOLDFAST_GUARDED;
    std::optional<Stream> stream_ HOLDFAST_GUARDED;
};

class plain_transport final : public stream_transport<socket_type> {
  public:
    plain_transport(asio::io_context& io, const endpoint& where, base::client_mutex& guard,
                    events& listener)
        : stream_transport(io, where, guard, listener) {
        use(socket_type(io));
    }

    void read(std::span<char> into) override HOLDFAST_LOCKED { into_ = into; }

    [[nodiscard]] int descriptor() const noexcept override HOLDFAST_LOCKED {
        return into_.empty() ? -1 : descriptor_;
    }

    void take_in() override HOLDFAST_LOCKED {
        const auto got = ::recv(descriptor_, into_.data(), into_.size(), MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        into_ = {};
        if (got > 0) return listener().on_read(static_cast<std::size_t>(got));
        const error_code broken(errno, boost::system::system_category());
        listener().on_broken(explain(got == 0 ? error_code(asio::error::eof) : broken));
    }

    void watch() override HOLDFAST_LOCKED {
        if (into_.empty() || watched_) return;
        stream().async_wait(socket_type::wait_read,
                            guarded([this](const error_code&) HOLDFAST_LOCKED {
                                watched_ = false;
                                if (!into_.empty()) take_in();
                            }));
        watched_ = true;
    }

    std::size_t write_now(std::string_view what) noexcept override HOLDFAST_LOCKED {
        const auto sent =
            ::send(stream().native_handle(), what.data(), what.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        return sent > 0 ? static_cast<std::size_t>(sent) : 0;
    }

    void write(std::string_view what) override HOLDFAST_LOCKED {
        asio::async_write(stream(), asio::buffer(what),
                          guarded([this](const error_code& error, std::size_t) HOLDFAST_LOCKED {
                              if (error) return listener().on_broken(explain(error));
                              listener().on_written();
                          }));
    }

  private:
    void secure() override HOLDFAST_LOCKED {
        descriptor_ = stream().native_handle();
        opened(std::nullopt);
    }

    int descriptor_ HOLDFAST_GUARDED = -1;
    std::span<char> into_ HOLDFAST_GUARDED;  // of the read under way
    bool watched_ HOLDFAST_GUARDED = false;  // by the io_context
};

/// Has buffers of its own: a TLS stream may come back to them after the socket was closed, when
/// those of the caller are gone.
class tls_transport final : public stream_transport<tls_stream> {
  public:
    tls_transport(asio::io_context& io, const endpoint& where,
                  std::shared_ptr<tls_credentials> credentials, base::client_mutex& guard,
                  events& listener)
        : stream_transport(io, where, guard, listener), credentials_(std::move(credentials)) {}

    // Whoever runs the io_context does not hold the lock, and reads the files if need be.
    void open() override HOLDFAST_LOCKED {
        asio::post(io(), [this, self = shared_from_this()] { prepare(); });
    }

    void read(std::span<char> into) override HOLDFAST_LOCKED {
        const auto size = std::min(into.size(), incoming_.size());
        stream().async_read_some(
            asio::buffer(incoming_.data(), size),
            guarded([this, into](const error_code& error, std::size_t bytes) HOLDFAST_LOCKED {
                if (error) return listener().on_broken(explain(error));
                std::memcpy(into.data(), incoming_.data(), bytes);
                listener().on_read(bytes);
            }));
    }

    std::size_t write_now(std::string_view) noexcept override { return 0; }

    void write(std::string_view what) override HOLDFAST_LOCKED {
        outgoing_ = what;
        asio::async_write(stream(), asio::buffer(outgoing_),
                          guarded([this](const error_code& error, std::size_t) HOLDFAST_LOCKED {
                              if (error) return listener().on_broken(explain(error));
                              listener().on_written();
                          }));
    }

  private:
    void prepare() HOLDFAST_UNLOCKED {
        std::optional<tls_stream> made;
        failure why_not;
        try {
            made.emplace(make_tls_stream(io(), *credentials_->current(), where()));
        } catch (const std::system_error&) {  // files that have gone bad since
            why_not = net::current_failure();
            why_not.code = errc::invalid_option;
        } catch (...) {
            why_not = net::current_failure();
        }
        const base::client_lock lock(guard());
        tell([&]() HOLDFAST_LOCKED {
            if (!made) return opened(why_not);
            use(std::move(*made));
            stream_transport::open();
        });
    }

    void secure() override HOLDFAST_LOCKED {
        stream().async_handshake(asio::ssl::stream_base::client,
                                 guarded([this](const error_code& error) HOLDFAST_LOCKED {
                                     if (!error) return opened(std::nullopt);
                                     opened(explain_tls_handshake(stream(), where(), error));
                                 }));
    }

    std::shared_ptr<tls_credentials> credentials_;
    std::array<char, std::size_t{16} * 1024> incoming_ HOLDFAST_GUARDED;
    std::string outgoing_ HOLDFAST_GUARDED;
};

}  // namespace

std::shared_ptr<net::credentials> prepare(asio::io_context& io, const endpoint& where) {
    const socket_type first(io);  // makes all that sockets share
    if (!where.tls) return nullptr;
    auto made = std::make_shared<tls_credentials>(where.tls_options);
    make_tls_stream(io, *made->current(), where);
    return made;
}

std::shared_ptr<net::transport> make_transport(asio::io_context& io, const endpoint& where,
                                               std::shared_ptr<net::credentials> with,
                                               base::client_mutex& guard,
                                               net::transport::events& listener) {
    if (!with) return std::make_shared<plain_transport>(io, where, guard, listener);
    return std::make_shared<tls_transport>(
        io, where, std::static_pointer_cast<tls_credentials>(std::move(with)), guard, listener);
}

}  // namespace holdfast::platform
