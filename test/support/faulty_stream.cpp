#include "support/faulty_stream.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace holdfast::test {

namespace {

// Like a kernel's buffers: the sender stalls when this much is under way.
constexpr std::size_t capacity = 1 << 20;

std::chrono::nanoseconds time_under_way(const stream_faults& faults, std::minstd_rand& chance) {
    if (faults.jitter.count() <= 0) return faults.delay;
    std::uniform_int_distribution<std::int64_t> extra{0, faults.jitter.count()};
    return faults.delay + std::chrono::nanoseconds{extra(chance)};
}

}  // namespace

bool faulty_stream::wants_input() const {
    return ending_ == ending::none && !finished_ && waiting_bytes_ < capacity;
}

void faulty_stream::read_from(const file_descriptor& source, time_point now,
                              const stream_faults& faults, std::minstd_rand& chance) {
    char buffer[65536];
    const ssize_t size = ::recv(source.get(), buffer, sizeof buffer, 0);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    last_due_ = std::max(last_due_, now + time_under_way(faults, chance));
    if (size < 0) return end(ending::reset, last_due_);
    if (size == 0) return end(ending::orderly, last_due_);
    waiting_.push_back({last_due_, std::string(buffer, static_cast<std::size_t>(size))});
    waiting_bytes_ += static_cast<std::size_t>(size);
}

void faulty_stream::source_was_reset(time_point now) { end(ending::reset, now); }

void faulty_stream::end(ending kind, time_point due) {
    if (ending_ != ending::none) return;
    ending_ = kind;
    end_due_ = due;
}

faulty_stream::outcome faulty_stream::write_to(const file_descriptor& destination, time_point now,
                                               stream_faults& faults) {
    blocked_ = false;
    if (finished_ || faults.silent) return outcome::open;
    while (!waiting_.empty() && waiting_.front().due <= now) {
        const outcome result = write_chunk(destination, faults);
        // After a single byte the proxy looks around, which gives the receiver time to read it.
        if (result != outcome::open || blocked_ || faults.split) return result;
    }
    if (waiting_.empty() && ending_ != ending::none && end_due_ <= now)
        return pass_on_the_end(destination);
    return outcome::open;
}

faulty_stream::outcome faulty_stream::write_chunk(const file_descriptor& destination,
                                                  stream_faults& faults) {
    chunk& next = waiting_.front();
    std::size_t size = faults.split ? 1 : next.bytes.size();
    if (faults.cut_after) size = std::min(size, *faults.cut_after);
    if (size == 0) return outcome::cut;

    const ssize_t written =
        ::send(destination.get(), next.bytes.data(), size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written < 0) {
        blocked_ = errno == EAGAIN || errno == EINTR;
        if (blocked_) return outcome::open;
        finished_ = true;
        return outcome::broken;
    }
    const auto gone = static_cast<std::size_t>(written);
    next.bytes.erase(0, gone);
    waiting_bytes_ -= gone;
    passed_on_ += gone;
    if (faults.cut_after) *faults.cut_after -= gone;
    if (next.bytes.empty()) waiting_.pop_front();
    return faults.cut_after == 0U ? outcome::cut : outcome::open;
}

faulty_stream::outcome faulty_stream::pass_on_the_end(const file_descriptor& destination) {
    finished_ = true;
    if (ending_ == ending::reset) return outcome::severed;
    ::shutdown(destination.get(), SHUT_WR);
    return outcome::finished;
}

std::optional<faulty_stream::time_point> faulty_stream::next_due() const {
    if (finished_) return std::nullopt;
    if (!waiting_.empty()) return waiting_.front().due;
    if (ending_ != ending::none) return end_due_;
    return std::nullopt;
}

}  // namespace holdfast::test
