#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/server/command_executor.hpp"
#include "sim/server/value.hpp"

/// The part of a server that the scripts see: strings, hashes, lists and sorted sets that expire by
/// the server's wall clock.
///
/// Answers as Redis 7 does, errors included, to GET SET DEL EXISTS INCR PEXPIRE PTTL MGET STRLEN
/// GETRANGE TYPE HSET HSETNX HMGET HLEN HKEYS LPUSH RPUSH LPOP LREM LLEN LPOS LRANGE ZADD ZREM
/// ZREMRANGEBYSCORE ZSCORE ZCOUNT ZRANGE ZREVRANGE ZRANGEBYSCORE TIME FLUSHALL and FLUSHDB;
/// `sim/test/keyspace_test.cpp` compares it with a real server. Known differences: LPOP takes no
/// count, LPOS and ZADD no options, ZRANGE none but WITHSCORES. A handful of keys is all that a
/// simulated node ever holds, so they stand in a vector.
namespace holdfast::sim {

/// Hears of every read and every change, as client-side caching (`CLIENT TRACKING`) does.
class keyspace_listener {
  public:
    virtual void on_read(std::string_view key) = 0;
    virtual void on_change(std::string_view key) = 0;

    /// All keys are gone, by FLUSHALL or FLUSHDB. Of none of them a change is told.
    virtual void on_flush() {}

  protected:
    ~keyspace_listener() = default;
};

class keyspace final : public command_executor {
  public:
    struct entry {
        std::string key;
        std::string text;
        std::int64_t expires_at_ms = no_expiry;
        std::vector<std::pair<std::string, std::string>> fields{};  // of a hash; others have none
        std::vector<std::string> items{};                           // of a list; others have none
        std::vector<std::pair<std::string, double>> members{};      // of a sorted set, by score

        [[nodiscard]] bool is_hash() const { return !fields.empty(); }
        [[nodiscard]] bool is_list() const { return !items.empty(); }
        [[nodiscard]] bool is_sorted_set() const { return !members.empty(); }
        [[nodiscard]] bool is_string() const {
            return !is_hash() && !is_list() && !is_sorted_set();
        }
        friend bool operator==(const entry&, const entry&) = default;
    };
    static constexpr std::int64_t no_expiry = -1;

    value execute(arguments command, wall_time now) override;

    /// What is refused from now on, in a script or outside, and in which words: nothing, what may
    /// need more memory, or all that writes.
    enum class denial : std::uint8_t { none, growing, writing };
    void deny(denial what, std::string_view why) {
        denied_ = what;
        why_denied_ = why;
    }

    /// Between these, what is denied is denied only up to the first command that may write: a
    /// script that has begun to write is let finish.
    void begin_script() {
        in_script_ = true;
        has_written_ = false;
    }
    void end_script() { in_script_ = false; }

    /// Deletes what has expired, as the server's own cycle does now and then.
    void expire(wall_time now);

    /// The live value, without any of the effects of GET.
    [[nodiscard]] const entry* peek(std::string_view key, wall_time now) const;
    [[nodiscard]] const std::vector<entry>& entries() const { return entries_; }

    void clear();

    // What a master has done, at its replica. Nothing is denied to it.
    void assign(std::string_view key, const std::optional<entry>& after);
    void empty();
    /// Tells nobody, and what was there before cannot be brought back.
    void replace_all(std::vector<entry> by);

    void listen(keyspace_listener* listener) { listener_ = listener; }

    /// From now on remembers what every change replaced, so that it can be undone; `stamp` names
    /// the moment of the changes that follow.
    void keep_history(bool on) { keeps_history_ = on; }
    void stamp(std::int64_t moment) { stamp_ = moment; }

    /// A crash that lost everything written since `moment`.
    void roll_back_to(std::int64_t moment);
    void forget_history_before(std::int64_t moment);

  private:
    struct change {
        std::int64_t moment;
        std::string key;
        std::optional<entry> before;
    };

    value get(arguments command, wall_time now);
    value set(arguments command, wall_time now);
    value del(arguments command, wall_time now);
    value exists(arguments command, wall_time now);
    value incr(arguments command, wall_time now);
    value pexpire(arguments command, wall_time now);
    value pttl(arguments command, wall_time now);
    value mget(arguments command, wall_time now);
    value strlen(arguments command, wall_time now);
    value getrange(arguments command, wall_time now);
    value type(arguments command, wall_time now);
    value hset(arguments command, wall_time now);
    value hsetnx(arguments command, wall_time now);
    value hmget(arguments command, wall_time now);
    value hlen(arguments command, wall_time now);
    value hkeys(arguments command, wall_time now);
    value lpush(arguments command, wall_time now);
    value rpush(arguments command, wall_time now);
    value lpop(arguments command, wall_time now);
    value lrem(arguments command, wall_time now);
    value llen(arguments command, wall_time now);
    value lpos(arguments command, wall_time now);
    value lrange(arguments command, wall_time now);
    value zadd(arguments command, wall_time now);
    value zrem(arguments command, wall_time now);
    value zremrangebyscore(arguments command, wall_time now);
    value zscore(arguments command, wall_time now);
    value zrange(arguments command, wall_time now);
    value zrevrange(arguments command, wall_time now);
    value by_place(arguments command, wall_time now, bool from_largest);
    value zrangebyscore(arguments command, wall_time now);
    value zcount(arguments command, wall_time now);
    value time(arguments command, wall_time now);
    value flush(arguments command, wall_time now);

    enum class list_end : std::uint8_t { head, tail };
    value add(arguments command, wall_time now, list_end where);
    void replace_items(entry& list, std::vector<std::string> by);
    void replace_members(std::string_view name, entry* set,
                         std::vector<std::pair<std::string, double>> by);

    [[nodiscard]] bool is_denied(denial falls_under) const;
    entry* find(std::string_view key);
    entry* live(std::string_view key, wall_time now);
    entry* read(std::string_view key, wall_time now);
    void put(std::string_view key, std::string_view text, std::int64_t expires_at_ms);
    void erase(std::string_view key);
    void remember(std::string_view key);

    std::vector<entry> entries_;
    keyspace_listener* listener_ = nullptr;
    denial denied_ = denial::none;
    std::string why_denied_;
    bool in_script_ = false;
    bool has_written_ = false;
    bool keeps_history_ = false;
    std::int64_t stamp_ = 0;
    std::vector<change> history_;
};

}  // namespace holdfast::sim
