#include "floor.hpp"

#include <algorithm>
#include <stdexcept>

#include "scripts/embedded.hpp"

namespace holdfast::bench {

floor::floor(const std::string& host, std::uint16_t port)
    : context_(redisConnect(host.c_str(), port)),
      owner_("hf1:0123456789012345678901234567890123456789:bench@bench:1234:"),
      acquire_sha_(scripts::exclusive::acquire.sha1),
      release_sha_(scripts::exclusive::release.sha1) {
    if (!context_ || context_->err != 0) throw std::runtime_error("hiredis cannot connect");
    command("SCRIPT LOAD %s", scripts::exclusive::acquire.text.data());
    command("SCRIPT LOAD %s", scripts::exclusive::release.text.data());
}

template <typename... Arguments>
floor::reply floor::command(const char* format, Arguments... arguments) {
    reply answer(static_cast<redisReply*>(redisCommand(context_.get(), format, arguments...)));
    if (!answer || answer->type == REDIS_REPLY_ERROR) {
        throw std::runtime_error(std::string("hiredis: ") + (answer ? answer->str : "no reply"));
    }
    return answer;
}

void floor::round_trip(const std::string& key) {
    command("SET %s %s PX 30000", key.c_str(), owner_.c_str());
}

void floor::replicated(const std::string& key) {
    redisAppendCommand(context_.get(), "SET %s %s PX 30000", key.c_str(), owner_.c_str());
    redisAppendCommand(context_.get(), "WAIT 1 1000");
    read_answer();
    read_answer();
}

void floor::plain_cycle(const std::string& key) {
    command("SET %s %s NX PX 30000", key.c_str(), owner_.c_str());
    command("EVALSHA %s 1 %s %s", release_sha_.c_str(), key.c_str(), owner_.c_str());
}

void floor::ask_lock(const std::string& key) {
    redisAppendCommand(context_.get(), "SET %s %s NX PX 30000", key.c_str(), owner_.c_str());
    flush();
}

void floor::ask_unlock(const std::string& key) {
    redisAppendCommand(context_.get(), "EVALSHA %s 1 %s %s", release_sha_.c_str(), key.c_str(),
                       owner_.c_str());
    flush();
}

void floor::flush() {
    int done = 0;
    while (done == 0) {
        if (redisBufferWrite(context_.get(), &done) != REDIS_OK) {
            throw std::runtime_error("hiredis: cannot write");
        }
    }
}

void floor::read_answer() {
    void* answer = nullptr;
    if (redisGetReply(context_.get(), &answer) != REDIS_OK) {
        throw std::runtime_error("hiredis: no reply");
    }
    const reply owned(static_cast<redisReply*>(answer));
    if (owned->type == REDIS_REPLY_ERROR) throw std::runtime_error(owned->str);
}

void floor::fenced_cycle(const std::string& key) {
    command("EVALSHA %s 2 %s holdfast:{%s}:fence %s 30000 3600000 1 0", acquire_sha_.c_str(),
            key.c_str(), key.c_str(), owner_.c_str());
    command("EVALSHA %s 1 %s %s", release_sha_.c_str(), key.c_str(), owner_.c_str());
}

void floor::pipelined_cycles(std::size_t count) {
    for (std::size_t n = 0; n < count; ++n) {
        const auto key = "floor:" + std::to_string(n);
        redisAppendCommand(context_.get(), "SET %s %s NX PX 30000", key.c_str(), owner_.c_str());
        redisAppendCommand(context_.get(), "EVALSHA %s 1 %s %s", release_sha_.c_str(), key.c_str(),
                           owner_.c_str());
    }
    for (std::size_t n = 0; n < 2 * count; ++n) read_answer();
}

void floor::fill(std::size_t count) {
    constexpr std::size_t batch = 1000;
    for (std::size_t n = 0; n < count;) {
        const auto until = std::min(count, n + batch);
        const auto asked = until - n;
        for (; n < until; ++n) {
            redisAppendCommand(context_.get(), "SET rb:%012d %s PX 30000", static_cast<int>(n),
                               owner_.c_str());
        }
        for (std::size_t read = 0; read < asked; ++read) read_answer();
    }
}

void floor::clear() { command("FLUSHALL"); }

}  // namespace holdfast::bench
