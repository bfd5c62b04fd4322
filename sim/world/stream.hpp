#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/transport.hpp"
#include "sim/world/process.hpp"

namespace holdfast::sim {

class network;

/// Bytes on their way in one direction, in the pieces in which they travel.
class flight {
  public:
    struct piece {
        std::size_t size = 0;
        instant departed{};
        bool breaks_after = false;  // once it is delivered, the connection breaks
    };

    void push(std::string_view bytes, const piece& what) {
        bytes_ += bytes;
        pieces_.push_back(what);
    }
    [[nodiscard]] bool empty() const { return first_ == pieces_.size(); }
    [[nodiscard]] const piece& front() const { return pieces_[first_]; }
    [[nodiscard]] std::string_view front_bytes() const {
        return std::string_view(bytes_).substr(begin_, front().size);
    }
    void pop() {
        begin_ += front().size;
        if (++first_ < pieces_.size()) return;
        clear();
    }
    void clear() {
        bytes_.clear();
        pieces_.clear();
        begin_ = first_ = 0;
    }

  private:
    std::string bytes_;
    std::vector<piece> pieces_;
    std::size_t begin_ = 0;
    std::size_t first_ = 0;
};

/// One connection, both ends of it. As the kernel keeps it for the client: what has arrived waits
/// until it is read; what was written cannot be called back, and may arrive after what was written
/// to the next connection.
class stream final : public net::transport {
  public:
    stream(network& on, process& of, std::uint32_t id, std::uint32_t server, events& listener)
        : network_(on), process_(of), id_(id), server_(server), listener_(&listener) {}

    [[nodiscard]] std::uint32_t id() const { return id_; }
    [[nodiscard]] std::uint32_t server() const { return server_; }
    [[nodiscard]] process& of() { return process_; }

    /// The client has given it up.
    [[nodiscard]] bool closed() const { return listener_ == nullptr; }
    /// Both directions carry on.
    [[nodiscard]] bool in_order() const { return !silent_up && !silent_down && !broken_; }
    /// The environment completes the read, because whoever drives cannot.
    [[nodiscard]] bool blocked() const { return !unwritten_.empty(); }
    [[nodiscard]] bool has_news() const {
        return !closed() && !into_.empty() && (!arrived_.empty() || broken_);
    }
    /// Of the bytes that came down, how many the client has read; and when it last did.
    [[nodiscard]] std::uint64_t read_so_far() const { return read_so_far_; }

    // What happens to it: `sim/world/network.hpp` decides when. Those that tell the client are
    // called with its lock held.
    void opened(bool refused);
    void arrived(std::string_view bytes) { arrived_ += bytes; }
    void broke() { broken_ = true; }
    void written();

    void open() override;
    void read(std::span<char> into) override { into_ = into; }
    [[nodiscard]] int descriptor() const noexcept override { return static_cast<int>(id_); }
    void take_in() override;
    std::size_t write_now(std::string_view what) noexcept override;
    void write(std::string_view what) override;
    [[nodiscard]] bool hung_up() noexcept override { return broken_; }
    void close() noexcept override;
    void abandon() noexcept override { close(); }

    // The network's.
    flight up;
    flight down;
    instant last_up{};
    instant last_down{};
    bool silent_up = false;     // nothing more reaches the server
    bool silent_down = false;   // nothing more reaches the client
    bool break_told = false;    // the client will hear, or has heard, that it is broken
    std::uint32_t session = 0;  // at the server; 0: not accepted yet
    std::uint32_t life = 0;     // of the server in which it was accepted
    std::uint64_t sent_down = 0;

    // The server's machine's: what is to be sent when the present step is over.
    std::string outbox;
    bool outbox_has_push = false;

  private:
    network& network_;
    process& process_;
    std::uint32_t id_;
    std::uint32_t server_;
    events* listener_;
    std::span<char> into_;
    std::string arrived_;
    std::string_view unwritten_;
    std::uint64_t read_so_far_ = 0;
    bool broken_ = false;
};

}  // namespace holdfast::sim
