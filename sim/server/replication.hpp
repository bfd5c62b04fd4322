#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/server/keyspace.hpp"

/// How a master's data get to its replicas, as Redis does it: a stream of what its commands have
/// changed, of which it keeps the end (the backlog), and all of the data for whoever needs more.
namespace holdfast::sim {

/// What one command, one script or one round of expiry has changed: replicas carry it out as a
/// whole. Whole values: a real stream has the commands, and absolute times in them.
struct transaction {
    struct effect {
        std::string key{};                       // empty: all keys are gone
        std::optional<keyspace::entry> after{};  // nothing: the key is gone
    };

    std::int64_t offset = 0;  // of the stream, behind it
    std::vector<effect> effects{};
};
using transaction_pointer = std::shared_ptr<const transaction>;

/// All of a server's data at one moment, for a full resynchronisation.
struct snapshot {
    std::vector<keyspace::entry> entries{};
    std::int64_t offset = 0;
    std::string replication_id{};
};

/// Where a master's stream goes.
class replication_feed {
  public:
    virtual void carry(const transaction_pointer& next) = 0;

    /// Somebody waits for acknowledgements: REPLCONF GETACK, to all that are attached.
    virtual void ask_for_acknowledgements() = 0;

  protected:
    ~replication_feed() = default;
};

/// The stream as one server keeps it, be it its own or its master's. An offset counts transactions:
/// a real one counts bytes.
class replication_log {
  public:
    /// Of what will be one transaction when it is over.
    void change(transaction::effect what) { changes_.push_back(std::move(what)); }
    [[nodiscard]] bool has_changes() const { return !changes_.empty(); }
    void drop_changes() { changes_.clear(); }

    /// What has changed since the last time, as the next part of the stream. REQUIRES:
    /// has_changes().
    transaction_pointer close_transaction();

    /// The next part came from a master.
    void follow(const transaction_pointer& next);

    /// All that is known is what it was told by a full resynchronisation.
    void restart_at(std::int64_t offset);

    [[nodiscard]] std::int64_t offset() const { return offset_; }
    /// What follows `offset`; nothing where the backlog does not reach back to it, or is not there
    /// yet.
    [[nodiscard]] std::optional<std::vector<transaction_pointer>> since(std::int64_t offset) const;
    [[nodiscard]] std::size_t kept() const { return backlog_.size(); }
    void keep(std::size_t most) { most_ = most; }

  private:
    void append(transaction_pointer next);

    std::int64_t offset_ = 0;
    std::size_t most_ = 1000;
    std::vector<transaction::effect> changes_;
    std::deque<transaction_pointer> backlog_;
};

/// A replica as its master knows it.
struct attached_replica {
    std::uint32_t number = 0;
    std::string host{};
    std::uint16_t port = 6379;
    std::int64_t acknowledged = -1;  // up to there; -1: it has not been heard of yet
};

/// Whom a server follows, how far its stream is, and who follows it: for INFO and ROLE.
struct replication_standing {
    std::string master_host = "127.0.0.1";
    std::uint16_t master_port = 1;
    std::int64_t offset = 0;
    std::int64_t kept = 0;  // of it, in the backlog
    std::vector<attached_replica> replicas{};
};

}  // namespace holdfast::sim
