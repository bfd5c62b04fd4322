#pragma once

#include <cstdint>
#include <string>

#include "sim/random.hpp"

namespace holdfast::sim {

/// What tells one life of a server from another, as Redis keeps it (tried on 7.0.15):
///
///   event                        run_id   replication id        second one
///   start                        new      new                   none
///   first replica attaches       stays    new                   none
///   backlog is given up          stays    new                   none
///   becomes a replica            stays    stays                 stays
///   full resynchronisation       stays    its master's          none
///   partial resynchronisation    stays    its master's          its own former one
///   is promoted                  stays    new                   its former one
class life {
  public:
    /// All ids follow from the seed.
    explicit life(std::uint64_t seed) : chance_(seed) { begin(); }

    void begin();
    void replica_attached();
    void give_up_backlog();
    void become_replica() { replica_ = true; }
    /// `id`: its master's; empty: of one that is not simulated.
    void resynchronised_in_full(const std::string& id = {});
    /// The history that it has followed so far ended behind `offset`, as far as it knows it.
    void resynchronised_in_part(const std::string& id = {}, std::int64_t offset = 0);
    void promoted(std::int64_t offset = 0);
    void lost_master() { connected_ = false; }
    void lost_replicas() { replicas_ = 0; }
    void replica_detached() { replicas_ -= replicas_ > 0 ? 1 : 0; }

    [[nodiscard]] const std::string& run_id() const { return run_id_; }
    [[nodiscard]] const std::string& replication_id() const { return replication_id_; }
    [[nodiscard]] const std::string& second_replication_id() const { return second_id_; }
    [[nodiscard]] bool has_second_id() const { return second_id_ != no_id; }
    /// The first of the stream that is not of the second id; -1: there is none.
    [[nodiscard]] std::int64_t second_offset() const { return second_offset_; }
    [[nodiscard]] bool is_replica() const { return replica_; }
    [[nodiscard]] bool is_connected() const { return connected_; }  // to its master
    [[nodiscard]] bool has_backlog() const { return backlog_; }
    [[nodiscard]] unsigned replicas() const { return replicas_; }

  private:
    inline static const std::string no_id = std::string(40, '0');

    std::string new_id();
    void new_replication_id(std::string id);
    void shift_replication_id(std::string id, std::int64_t offset);

    random chance_;
    std::string run_id_;
    std::string replication_id_;
    std::string second_id_;
    std::int64_t second_offset_ = -1;
    bool replica_ = false;
    bool connected_ = false;
    bool backlog_ = false;
    unsigned replicas_ = 0;
};

}  // namespace holdfast::sim
