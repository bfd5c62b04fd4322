#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "descriptor.hpp"
#include "stop_schedule.hpp"

namespace holdfast::tool {

/// What `holdfast` tells the supervisor of its command. The end of the orders means that `holdfast`
/// has died.
struct order {
    enum class kind : std::uint8_t {
        start,   // the command, with the environment that follows: NAME=value, each ended by \0
        lease,   // how the lease stands now
        signal,  // for the group of the command
        end,     // whoever is left of them, because of `signal`
    };
    kind what = kind::lease;
    int signal = 0;
    stop_schedule::lease_view lease{};
    clock::time_point at_most = clock::time_point::max();
};

/// What the supervisor tells. The end of the reports before `over` means that it has died.
struct report {
    enum class kind : std::uint8_t {
        forked,   // somebody is about to become the command
        started,  // `value`: the errno that kept it from it, or 0
        stopped,  // by the signal `value`
        ended,    // the command, with the wait status `value`; others are still waited for
        over,     // the same, and nobody is waited for any more
    };
    kind what = kind::started;
    int value = 0;
    pid_t command = -1;
    stop_schedule::cause why = stop_schedule::cause::none;
    bool ended_before_stop = false;  // the command; it is the others who were stopped
    unsigned signals_delivered = 0;
};

/// One end of the line between the two, which carries whole messages.
class supervisor_link {
  public:
    explicit supervisor_link(descriptor end) : end_(std::move(end)) {}

    [[nodiscard]] int readable() const { return end_.get(); }
    /// The other end has died, and all that it had to say was heard.
    [[nodiscard]] bool closed() const { return !end_; }

    /// Never blocks. False: the other end has died, or has not listened for long.
    template <typename Message>
    bool send(const Message& message, std::string_view text = {}) const {
        static_assert(std::is_trivially_copyable_v<Message>);
        std::array<iovec, 2> parts{{{const_cast<Message*>(&message), sizeof message},
                                    {const_cast<char*>(text.data()), text.size()}}};
        msghdr header{};
        header.msg_iov = parts.data();
        header.msg_iovlen = parts.size();
        return ::sendmsg(end_.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
    }

    enum class patience : std::uint8_t { wait, do_not_wait };

    /// Nothing: see closed().
    template <typename Message>
    std::optional<Message> receive(patience how, std::string* text = nullptr) {
        static_assert(std::is_trivially_copyable_v<Message>);
        Message message;
        std::string after(text != nullptr ? longest_text : 0, '\0');
        std::array<iovec, 2> parts{{{&message, sizeof message}, {after.data(), after.size()}}};
        msghdr header{};
        header.msg_iov = parts.data();
        header.msg_iovlen = parts.size();
        const int flags = how == patience::wait ? 0 : MSG_DONTWAIT;
        ssize_t size = 0;
        // A reset says once that the other end has not read all before it ended. What it had to say
        // comes behind that.
        do size = ::recvmsg(end_.get(), &header, flags);
        while (size < 0 && (errno == EINTR || errno == ECONNRESET));
        if (size < 0 && errno == EAGAIN) return std::nullopt;
        if (size < static_cast<ssize_t>(sizeof message)) {
            end_.reset();
            return std::nullopt;
        }
        after.resize(text != nullptr ? static_cast<std::size_t>(size) - sizeof message : 0);
        if (text != nullptr) *text = std::move(after);
        return message;
    }

  private:
    // A key has up to 64 KiB.
    static constexpr std::size_t longest_text = 128 * 1024;

    descriptor end_;
};

}  // namespace holdfast::tool
