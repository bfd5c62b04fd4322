#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/server/server.hpp"

namespace holdfast::sim {

/// A Sentinel as clients see it: bytes in, bytes out, as of server. It watches one master, and
/// knows of it what it was told last; whom it asks and whom it promotes is not its business here.
///
/// Answers as redis-sentinel 7.0 does to what the library sends: HELLO, CLIENT SETNAME, CLIENT
/// TRACKING, SUBSCRIBE, INFO, PING, SENTINEL GET-MASTER-ADDR-BY-NAME and SENTINEL MASTER. What else
/// there is it calls unknown. Known differences: INFO and SENTINEL MASTER have the fields that are
/// read.
class sentinel final {
  public:
    using connection = server_wire::connection;

    struct view {
        std::string host{};
        std::uint16_t port = 6379;
        std::uint64_t epoch = 0;  // of the fail-over that brought it
        friend bool operator==(const view&, const view&) = default;
    };
    struct watched {
        std::string name{};
        std::size_t replicas = 0;
        std::size_t sentinels = 0;
    };

    /// REQUIRES: `out` lives longer.
    sentinel(server_wire& out, watched what, view first);
    ~sentinel();
    sentinel(const sentinel&) = delete;
    sentinel& operator=(const sentinel&) = delete;

    connection open();
    void receive(connection from, std::string_view bytes);
    void close(connection whom);
    /// All connections are gone, without a word.
    void crash();

    /// Whoever is subscribed to +switch-master is told where the master is another one.
    void learn(const view& next);
    [[nodiscard]] const view& knows() const { return view_; }

  private:
    struct session;

    session* find(connection whom);
    void run(session& from, keyspace::arguments words);
    static void answer_unknown(keyspace::arguments words, reply_writer& out);
    void hello(const session& from, reply_writer& out) const;
    void subscribe(session& from, keyspace::arguments words, reply_writer& out);
    void info(reply_writer& out) const;
    void about_master(keyspace::arguments words, reply_writer& out) const;
    void describe(reply_writer& out) const;

    server_wire& wire_;
    watched what_;
    view view_;
    connection last_ = 0;
    std::vector<std::unique_ptr<session>> sessions_;
};

}  // namespace holdfast::sim
