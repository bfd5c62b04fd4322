#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "sim/world/stream.hpp"

namespace holdfast::sim {

/// A release that was refused, or not answered in time, is sent again after pauses that grow:
/// src/runtime/operations/release_retries.cpp.
inline constexpr core::duration longest_pause = std::chrono::milliseconds(5100);

class network_listener {
  public:
    /// The client has read from it.
    virtual void was_read(const stream& which) = 0;

  protected:
    ~network_listener() = default;
};

/// The streams between clients and servers, and what becomes of the bytes in them. Within one
/// connection and direction they arrive in the order in which they were written; between
/// connections, in any.
///
/// Answers and pushes share one stream. So no push is lost alone: where one is lost, all that
/// follows it is, because the connection breaks or that direction falls silent; and where one is
/// late, all that follows it is.
class network {
  public:
    static constexpr unsigned pauses_per_write = 8;  // in a thousand

    explicit network(world& in);

    void listen(network_listener* whom) { listener_ = whom; }
    std::shared_ptr<stream> make(process& of, std::uint32_t server, net::transport::events& whom);
    stream& at(std::uint32_t id) { return *streams_[id]; }

    /// The machines that a connection by the address that moves may lead to: the same one twice,
    /// but while it moves.
    void lead_address_to(std::uint32_t one, std::uint32_t other) { address_ = {one, other}; }
    [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> address() const { return address_; }
    [[nodiscard]] std::uint32_t follow_address() {
        return address_.first == address_.second || chance_.coin() ? address_.first
                                                                   : address_.second;
    }

    /// Nothing that a client wrote is under way any more.
    [[nodiscard]] bool nothing_goes_up() const;

    // The client's ends.
    void connect(stream& which);
    std::size_t room_for(stream& which, std::size_t bytes);
    void carry_up(stream& which, std::string_view bytes);
    void drain(stream& which);
    void hang_up(stream& which);
    void was_read(const stream& which) {
        if (listener_ != nullptr) listener_->was_read(which);
    }

    // The servers' ends.
    void answer_connect(stream& which, bool refused);
    void carry_down(stream& which, std::string_view bytes, bool with_push);
    void close_down(stream& which);

    /// It breaks, for no reason of either end; the client hears of it after the usual delay. Every
    /// other time the server does, too, behind what is under way to it; otherwise it never does.
    void break_connection(stream& which);
    void break_between(std::uint32_t client, std::uint32_t server);
    /// The server went away: all of its connections break.
    void break_all_of(std::uint32_t server);

    /// Nothing passes between them, in one direction or both, until `until`.
    void cut(std::uint32_t client, std::uint32_t server, instant until, bool up, bool down);
    void mend();
    void slow_down(std::uint32_t server, core::duration by) { slowness_[server] = by; }

    /// When the pair was last disturbed by anything that may have delayed or lost a message.
    [[nodiscard]] instant disturbed_at(std::uint32_t client, std::uint32_t server) const {
        return disturbed_[client][server];
    }
    void disturb(std::uint32_t client, std::uint32_t server, instant until) {
        auto& last = disturbed_[client][server];
        last = std::max(last, until);
    }
    void disturb_server(std::uint32_t server, instant until);
    void disturb_client(std::uint32_t client, instant until);

  private:
    static constexpr std::size_t most_clients = 8;
    static constexpr std::size_t most_servers = 8;
    template <typename T>
    using per_pair = std::array<std::array<T, most_servers>, most_clients>;

    struct journey {
        bool arrives = true;
        instant at{};
    };

    void carry(stream& which, std::string_view bytes, flight::piece how, bool up);
    void carry_piece(stream& which, std::string_view bytes, flight::piece how, bool up);
    journey travel(stream& which, instant departure, bool up);
    core::duration draw_delay(const stream& which);
    bool hit(fault f);
    void tell_broken(stream& which, instant at);

    world& world_;
    network_listener* listener_ = nullptr;
    random chance_;
    random noticing_;
    std::vector<std::shared_ptr<stream>> streams_;
    std::pair<std::uint32_t, std::uint32_t> address_{};
    per_pair<instant> cut_up_{};
    per_pair<instant> cut_down_{};
    per_pair<instant> disturbed_{};
    std::array<core::duration, most_servers> slowness_{};
};

}  // namespace holdfast::sim
