#pragma once

#include <hiredis/hiredis.h>

#include <cstdint>
#include <memory>
#include <string>

namespace holdfast::bench {

/// What a lock and an unlock cost at the very least: the same commands, through hiredis.
class floor {
  public:
    floor(const std::string& host, std::uint16_t port);

    /// One command and its answer.
    void round_trip(const std::string& key);

    /// A write that a replica has carried out: SET and WAIT in one, and both answers.
    void replicated(const std::string& key);

    /// SET NX PX, then the release script, each awaited: one cycle without fencing.
    void plain_cycle(const std::string& key);

    /// The halves of a plain cycle: written at once; each answer is read later.
    void ask_lock(const std::string& key);
    void ask_unlock(const std::string& key);
    void read_answer();

    /// The acquire script with its counter, then the release script.
    void fenced_cycle(const std::string& key);

    /// `count` plain cycles on distinct keys, all written before the first answer is read.
    void pipelined_cycles(std::size_t count);

    /// Keys that redis-benchmark calls "rb:__rand_int__", all with this owner.
    void fill(std::size_t count);
    void clear();  // the server
    [[nodiscard]] const std::string& owner() const { return owner_; }

  private:
    struct closer {
        void operator()(redisContext* context) const { redisFree(context); }
        void operator()(redisReply* reply) const { freeReplyObject(reply); }
    };
    using reply = std::unique_ptr<redisReply, closer>;

    template <typename... Arguments>
    reply command(const char* format, Arguments... arguments);

    void flush();

    std::unique_ptr<redisContext, closer> context_;
    std::string owner_;
    std::string acquire_sha_;
    std::string release_sha_;
};

}  // namespace holdfast::bench
