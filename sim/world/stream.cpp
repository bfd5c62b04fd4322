#include "sim/world/stream.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sim/world/network.hpp"

namespace holdfast::sim {

void stream::open() { network_.connect(*this); }

void stream::opened(bool refused) {
    if (closed()) return;
    listener_->on_open(refused ? std::optional(net::no_answer("Connection refused"))
                               : std::nullopt);
}

// One piece as the reader's buffer takes it: whoever drives looks again as long as there is more.
// Between knowing that there is something to read and reading it a process may stand still.
void stream::take_in() {
    if (!has_news()) return;
    process_.maybe_pause(network_.pauses_per_write);
    const auto into = std::exchange(into_, {});
    if (arrived_.empty()) {
        return listener_->on_broken(net::no_answer("connection closed by the server"));
    }
    const auto bytes = std::min(into.size(), arrived_.size());
    std::memcpy(into.data(), arrived_.data(), bytes);
    arrived_.erase(0, bytes);
    read_so_far_ += bytes;
    network_.was_read(*this);
    listener_->on_read(bytes);
}

// Between the decision to write and the write a process may stand still.
std::size_t stream::write_now(std::string_view what) noexcept {
    process_.maybe_pause(network_.pauses_per_write);
    const auto taken = network_.room_for(*this, what.size());
    if (taken > 0) network_.carry_up(*this, what.substr(0, taken));
    return taken;
}

void stream::write(std::string_view what) {
    unwritten_ = what;
    network_.drain(*this);
}

void stream::written() {
    if (closed() || unwritten_.empty()) return;
    network_.carry_up(*this, std::exchange(unwritten_, {}));
    listener_->on_written();
}

void stream::close() noexcept {
    if (closed()) return;
    listener_ = nullptr;
    into_ = {};
    unwritten_ = {};
    network_.hang_up(*this);
}

}  // namespace holdfast::sim
