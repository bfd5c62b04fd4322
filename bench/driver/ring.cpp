#include "ring.hpp"

#include <poll.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace holdfast::bench {

ring_member::ring_member(std::uint16_t port, std::string key, std::size_t size, bool awaited)
    : listening_(connect(port)),
      publishing_(connect(port)),
      key_(std::move(key)),
      size_(size),
      awaited_(awaited),
      seat_(static_cast<std::size_t>(count("seats")) - 1),
      next_(channel((seat_ + 1) % size_)) {
    listen();
    // Who comes last begins: all others listen by then, so no message is lost.
    has_message_ = count("listening") == static_cast<long long>(size_);
}

ring_member::connection ring_member::connect(std::uint16_t port) {
    connection made(redisConnect("127.0.0.1", port));
    if (!made || made->err != 0) throw std::runtime_error("ring: hiredis cannot connect");
    return made;
}

ring_member::reply ring_member::read(redisContext& from) {
    void* answer = nullptr;
    if (redisGetReply(&from, &answer) != REDIS_OK) throw std::runtime_error("ring: no reply");
    reply owned(static_cast<redisReply*>(answer));
    if (owned->type == REDIS_REPLY_ERROR) throw std::runtime_error(owned->str);
    return owned;
}

long long ring_member::count(const std::string& what) {
    redisAppendCommand(publishing_.get(), "INCR %s:%s", key_.c_str(), what.c_str());
    return read(*publishing_)->integer;
}

std::string ring_member::channel(std::size_t seat) const {
    return key_ + ":" + std::to_string(seat);
}

void ring_member::listen() {
    redisAppendCommand(listening_.get(), "SUBSCRIBE %s", channel(seat_).c_str());
    read(*listening_);
}

void ring_member::lock() {
    while (!has_message_ && !(has_message_ = has_arrived())) {
        if (!wait_for_bytes()) return;
    }
    if (owes_answer_) read_answer();  // it is there: the message came after it
}

void ring_member::unlock() {
    if (!has_message_) return;
    has_message_ = false;
    redisAppendCommand(publishing_.get(), "PUBLISH %s go", next_.c_str());
    for (int done = 0; done == 0;) {
        if (redisBufferWrite(publishing_.get(), &done) != REDIS_OK) {
            throw std::runtime_error("ring: cannot write");
        }
    }
    owes_answer_ = true;
    if (awaited_) read_answer();
}

void ring_member::read_answer() {
    owes_answer_ = false;
    if (read(*publishing_)->integer != 1) throw std::runtime_error("ring: the next one is gone");
}

bool ring_member::has_arrived() {
    void* message = nullptr;
    if (redisGetReplyFromReader(listening_.get(), &message) != REDIS_OK) {
        throw std::runtime_error("ring: no message");
    }
    return reply(static_cast<redisReply*>(message)) != nullptr;
}

/// False at the end of the round.
bool ring_member::wait_for_bytes() const {
    const auto left = std::max(end_ - std::chrono::steady_clock::now(), nanoseconds(0));
    const timespec bound{left / std::chrono::seconds(1), (left % std::chrono::seconds(1)).count()};
    pollfd socket{listening_->fd, POLLIN, 0};
    if (::ppoll(&socket, 1, &bound, nullptr) <= 0) return false;
    if (redisBufferRead(listening_.get()) != REDIS_OK) throw std::runtime_error("ring: cut off");
    return true;
}

}  // namespace holdfast::bench
