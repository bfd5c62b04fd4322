#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/server/channels.hpp"
#include "sim/server/info.hpp"
#include "sim/server/keyspace.hpp"
#include "sim/server/life.hpp"
#include "sim/server/replication.hpp"
#include "sim/server/reply_writer.hpp"
#include "sim/server/script_library.hpp"
#include "sim/server/tracking.hpp"

namespace holdfast::sim {

struct command_row;
struct server_session;

/// Where a server's bytes go. What it calls here must not call the server.
class server_wire {
  public:
    using connection = std::uint32_t;

    /// The answer to one command, or a push: whole frames, in the order in which a real
    /// server writes them to that connection. The bytes are gone after the call.
    virtual void reply(connection to, std::string_view bytes) = 0;
    virtual void push(connection to, std::string_view bytes) = 0;

    /// The server has closed it, behind all that it wrote.
    virtual void hang_up(connection whom) = 0;

  protected:
    ~server_wire() = default;
};

/// One command that has run, for checkers.
struct execution {
    server_wire::connection connection = 0;
    std::string_view name;          // of the command, "client|caching"; of our scripts: "acquire"
    keyspace::arguments keys;       // of a script: its KEYS; of a command that has one: its key
    keyspace::arguments arguments;  // all that follows
    std::string_view answer;        // as it is sent
    const std::string* before;      // what was at the first key; null: nothing, or no string
    const std::string* after;
    keyspace::wall_time now;
};

class server_listener {
  public:
    /// All that it is given is gone after the call.
    virtual void executed(const execution& what) = 0;

  protected:
    ~server_listener() = default;
};

/// A command that is about to run, for those who would rather refuse it.
struct asked_command {
    server_wire::connection connection = 0;
    std::string_view name;       // "hello", "client|tracking"
    keyspace::arguments words;   // all of it
    std::uint32_t position = 0;  // on this connection: 0 is the first
    bool in_handshake = true;    // nothing but what a handshake asks came before, nor is this
    bool in_script = false;      // a script calls it
};

/// A server that speaks RESP: bytes in, bytes out. It has one database, the shipped scripts,
/// client-side caching, channels, and lives that end and begin when it is told so. No sockets, no
/// threads, and no clock: the time of its wall clock is an argument.
///
///   up ---- crash() ----> down    connections are gone, without a word
///      <--- restart() ---         another run_id
///
/// Answers as Redis 7.0 does, byte for byte, to what the library sends; `sim/test/server_test.cpp`
/// compares it with a real one. What it does not know it calls unknown commands. Known differences:
/// there are no inline commands; of CLIENT TRACKING's modes there are OPTIN and the default;
/// channels have no patterns; LPOP takes no count, LPOS and ZADD no options; scores are texts in
/// either protocol; INFO has the fields that are read; offsets of the replication count
/// transactions; a replica, too, deletes what has expired when it is read, and has no replicas of
/// its own.
///
/// Thread safety: distinct objects safe, if they share no script_library; one object by one thread.
class server final : keyspace_listener {
  public:
    using connection = server_wire::connection;
    using wall_time = keyspace::wall_time;
    using arguments = keyspace::arguments;

    /// What a crash leaves of the data.
    enum class memory : std::uint8_t { full, partial, none };

    /// In which it refuses what a real server then refuses, also within scripts.
    enum class condition : std::uint8_t { well, loading, busy, out_of_memory, cannot_persist };

    /// Empty: let it run. Otherwise the error, without the minus: `sim/server/refusals.hpp`.
    using refusal = std::function<std::string_view(const asked_command&)>;

    /// All ids follow from the seed. REQUIRES: what it refers to lives longer.
    server(server_wire& out, script_library& scripts, server_settings how, std::uint64_t seed);
    ~server();
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    void listen(server_listener* listener) { listener_ = listener; }
    void refuse(refusal which) { refusal_ = std::move(which); }

    /// The same for what scripts call. Apart, as whoever asks there is asked ten times as often.
    void refuse_in_scripts(refusal which) { refusal_in_scripts_ = std::move(which); }

    /// A new connection; no other has or had its number. REQUIRES: it is up.
    connection open();

    /// Bytes have arrived, in whatever pieces. What comes for a connection that is gone is dropped.
    void receive(connection from, std::string_view bytes, wall_time now);

    /// The client has closed it, or is gone.
    void close(connection whom);

    /// As CLIENT KILL by somebody else.
    void kill(connection whom);

    /// Looks for keys that have expired, as Redis does ten times a second.
    void expire(wall_time now);

    /// As FLUSHALL by somebody who is not connected here; and a script cache that is emptied.
    void flush_all(wall_time now);
    void flush_scripts() { cached_.clear(); }

    void be(condition how);

    /// With `partial` it loses what was written after that moment, in the terms of data().stamp().
    void crash(memory left, std::int64_t last_kept = 0);
    void restart(server_settings how);
    void restart() { restart(settings_); }
    [[nodiscard]] bool up() const { return up_; }

    /// Made a replica of another server, which all connections outlive; in step with it, by all of
    /// its data (this server's own since `last_kept` are gone, and everybody who listens is told
    /// that all keys are), or by what was missing (nobody is told); and a master again.
    void demote();
    void resynchronise_in_full(std::int64_t last_kept);
    void resynchronise_in_part();
    void promote();

    /// A replica of its own comes; and the last one has been gone for repl-backlog-ttl.
    void attach_replica() { life_.replica_attached(); }
    void give_up_backlog() { life_.give_up_backlog(); }

    // Replication within a simulated group: somebody carries the stream from one to the other, and
    // the acknowledgements back. sim/server/replicas.cpp.
    /// REQUIRES: it lives longer.
    void feed(replication_feed* whom);
    /// What a command of somebody who is not connected here has changed goes to the replicas.
    void propagate();
    /// PSYNC: what is missing to who has followed that history up to there; nothing: it needs all.
    [[nodiscard]] std::optional<std::vector<transaction_pointer>> continue_from(
        std::string_view id, std::int64_t offset) const;
    [[nodiscard]] snapshot take_snapshot() const;
    void attach_replica(std::uint32_t number, std::string host, std::uint16_t port = 6379);
    void detach_replica(std::uint32_t number);
    void acknowledged(std::uint32_t replica, std::int64_t offset, wall_time now);
    void keep_backlog_of(std::size_t transactions) { log_.keep(transactions); }
    [[nodiscard]] std::int64_t offset() const { return log_.offset(); }
    /// REPLICAOF; and what the master that it is given has for it.
    void follow(std::string host, std::uint16_t port = 6379);
    void load(const snapshot& all);
    void continue_with(const std::string& id);
    void apply(const transaction_pointer& next);
    void lose_master() { life_.lost_master(); }

    /// Whoever waits for acknowledgements is told how many there were when its time is over.
    [[nodiscard]] wall_time next_wait_ends() const;
    void end_waits(wall_time now);

    [[nodiscard]] const life& present_life() const { return life_; }
    [[nodiscard]] const server_settings& settings() const { return settings_; }

    /// Its keys, to look at; and their history, which a crash with `partial` needs.
    keyspace& data() { return data_; }
    [[nodiscard]] const keyspace& data() const { return data_; }

    /// Whether anybody is told of what is published there.
    [[nodiscard]] bool has_receivers(std::string_view channel) const {
        return !channels_.receivers_of(channel).empty();
    }

  private:
    friend struct command_row;
    friend struct command_table;
    struct call;
    class script_caller;

    void on_read(std::string_view key) override;
    void on_change(std::string_view key) override;
    void on_flush() override;

    server_session* find(connection whom);
    std::size_t run_all(server_session& from, std::string_view bytes, wall_time now);
    void run(server_session& from, wall_time now);
    [[nodiscard]] std::string_view why_not(const server_session& from, const command_row& what);
    [[nodiscard]] std::string_view why_not_written(const command_row& what) const;
    [[nodiscard]] std::string_view why_not_now(const command_row& what) const;
    void answer_unknown(reply_writer& out) const;
    void execute(call& what);
    void finish(server_session& from);
    void note_before(const call& what);
    void report(const call& what);
    const std::string* text_at_first_key(const call& what) const;
    void break_off(server_session& from, std::string_view error);
    void drop(connection whom);
    void tell(server_session& whom, std::string_view push);
    void tell_emptied();
    std::int64_t send_message(std::string_view channel, std::string_view payload);
    [[nodiscard]] bool is_later_server() const {
        return settings_.tracks == server_settings::script_tracking::read_keys;
    }
    void apply_denials();
    void note_change(std::string_view key);
    void disconnect_replicas();
    [[nodiscard]] std::int64_t acknowledged_by(std::int64_t offset) const;
    template <typename Ended>
    void end_waits(Ended&& ended, wall_time now);
    const replication_standing& standing();
    [[nodiscard]] bool needs_password() const { return !settings_.password.empty(); }
    [[nodiscard]] bool is_password(std::string_view user, std::string_view password) const;

    // Commands.
    void hello(call& c);
    void auth(call& c);
    void select(call& c);
    void ping(call& c);
    void set_name(call& c);
    void get_name(call& c);
    void client_id(call& c);
    void client_kill(call& c);
    void tracking(call& c);
    void caching(call& c);
    void info(call& c);
    void config_get(call& c);
    void role(call& c);
    void script_load(call& c);
    void script_exists(call& c);
    void script_flush(call& c);
    void eval(call& c);
    void evalsha(call& c);
    void of_data(call& c);
    void subscribe(call& c);
    void unsubscribe(call& c);
    void publish(call& c);
    void wait(call& c);
    void confirm(call& c, std::string_view what, const std::string_view* channel);
    void describe(call& c, int protocol);
    void run_script(call& c, script_library::place which);
    bool split_keys(call& c);
    void cache(script_library::place which);
    [[nodiscard]] std::optional<script_library::place> find_cached(std::string_view sha1) const;
    std::optional<script_library::place> compiled(call& c, std::string_view text);

    server_wire& wire_;
    script_library& scripts_;
    server_settings settings_;
    life life_;
    keyspace data_;
    replication_log log_;
    replication_standing standing_;
    replication_feed* feed_ = nullptr;
    bool up_ = true;
    condition condition_ = condition::well;
    server_listener* listener_ = nullptr;
    refusal refusal_;
    refusal refusal_in_scripts_;
    connection last_ = 0;
    std::vector<std::unique_ptr<server_session>> sessions_;
    tracking_table tracked_;
    channel_table channels_;
    std::vector<bool> cached_;  // by the scripts' places in the library

    // Of the command that runs. They keep their room from one to the next.
    call* current_ = nullptr;
    std::vector<std::string_view> words_;
    std::string answer_;
    std::string text_;
    std::string before_;
    bool had_text_ = false;
};

}  // namespace holdfast::sim
