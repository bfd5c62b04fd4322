#pragma once

#include <hiredis/hiredis.h>

#include <cstdint>
#include <memory>
#include <string>

#include "crowd.hpp"

namespace holdfast::bench {

/// The bound under a queue of waiters at the server: members in a ring, each of which does nothing
/// but PUBLISH to the channel of the next. A member "has the lock" from the message that it gets to
/// the one that it sends, so exactly one is woken each time, by one command. There is one message
/// in the ring, and it stays there from round to round.
///
/// hiredis 0.14 knows no RESP3, so a member has two connections: one listens, one publishes.
class ring_member : public lockable {
  public:
    /// size: of the ring, all processes together; it begins when that many are there.
    /// awaited: whether a member reads the answer to its PUBLISH before it waits for its next turn.
    ring_member(std::uint16_t port, std::string key, std::size_t size, bool awaited);

    void begin_round(std::chrono::steady_clock::time_point end) override { end_ = end; }
    void lock() override;  // returns without the message at the end of the round
    void unlock() override;

  private:
    struct closer {
        void operator()(redisContext* context) const { redisFree(context); }
        void operator()(redisReply* reply) const { freeReplyObject(reply); }
    };
    using connection = std::unique_ptr<redisContext, closer>;
    using reply = std::unique_ptr<redisReply, closer>;

    static connection connect(std::uint16_t port);
    static reply read(redisContext& from);
    long long count(const std::string& what);
    [[nodiscard]] std::string channel(std::size_t seat) const;
    void listen();
    void read_answer();
    bool has_arrived();
    [[nodiscard]] bool wait_for_bytes() const;

    connection listening_;
    connection publishing_;
    std::string key_;
    std::size_t size_;
    bool awaited_;
    std::size_t seat_;
    std::string next_;  // the channel of the next seat
    bool has_message_ = false;
    bool owes_answer_ = false;
    std::chrono::steady_clock::time_point end_;
};

}  // namespace holdfast::bench
