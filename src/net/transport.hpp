#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "base/locks.hpp"
#include "net/failure.hpp"

namespace holdfast::net {

/// What a client shows to a server, and what it trusts: only those look inside who made it.
class credentials {
  public:
    virtual ~credentials() = default;
};

/// One byte stream to a server: TCP, unix socket, TLS over either, or none of these in a test.
///
/// Every call is made with the client's lock held; every event is delivered with it held, from
/// whichever thread drives, never inside a call but take_in(). After close() no event comes any
/// more. Buffers stay valid until their event or close(): they are kept alive by whoever closes.
///
/// A stream can be read in two ways. Whoever drives may poll its descriptor, where it has one, and
/// call take_in(): three system calls for a request and its answer. Or the environment completes
/// the read, after watch(), along with all else that it does.
class transport {
  public:
    class events {
      public:
        virtual void on_open(std::optional<failure> why_not) HOLDFAST_LOCKED = 0;
        virtual void on_read(std::size_t bytes) HOLDFAST_LOCKED = 0;
        virtual void on_written() HOLDFAST_LOCKED = 0;
        virtual void on_broken(const failure& why) HOLDFAST_LOCKED = 0;  // while reading or writing

      protected:
        ~events() = default;
    };

    virtual ~transport() = default;

    virtual void open() HOLDFAST_LOCKED = 0;
    virtual void read(std::span<char> into) HOLDFAST_LOCKED = 0;

    /// What to poll for a read under way, -1 where only the environment can tell.
    [[nodiscard]] virtual int descriptor() const noexcept HOLDFAST_LOCKED { return -1; }

    /// Completes the read with what has arrived, if anything. REQUIRES: descriptor() is not -1.
    virtual void take_in() HOLDFAST_LOCKED {}

    /// Lets the environment complete the read under way, if there is one.
    virtual void watch() HOLDFAST_LOCKED {}

    /// Writes at once what the other end takes, from any thread, without an event. Zero where
    /// nothing could be written this way: then write() is the way.
    virtual std::size_t write_now(std::string_view what) noexcept HOLDFAST_LOCKED = 0;
    virtual void write(std::string_view what) HOLDFAST_LOCKED = 0;

    /// Whether the other end has closed, read or not.
    [[nodiscard]] virtual bool hung_up() noexcept HOLDFAST_LOCKED = 0;

    virtual void close() noexcept HOLDFAST_LOCKED = 0;

    /// Closes the descriptor in a forked child, without a word to the server.
    virtual void abandon() noexcept = 0;
};

}  // namespace holdfast::net
