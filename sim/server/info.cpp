#include "sim/server/info.hpp"

#include <algorithm>

#include "sim/server/words.hpp"

namespace holdfast::sim {
namespace {

class section_writer {
  public:
    section_writer(std::string& out, std::string_view title) : out_(out) {
        if (!out_.empty()) out_ += "\r\n";
        ((out_ += "# ") += title) += "\r\n";
    }
    section_writer& field(std::string_view name, std::string_view text) {
        (((out_ += name) += ':') += text) += "\r\n";
        return *this;
    }
    section_writer& field(std::string_view name, std::int64_t number) {
        return field(name, std::to_string(number));
    }
    section_writer& flag(std::string_view name, bool on) { return field(name, on ? "1" : "0"); }

  private:
    std::string& out_;
};

void append_server(std::string& out, const server_settings& how, const life& of) {
    section_writer(out, "Server")
        .field("redis_version", how.version)
        .field("redis_mode", how.mode)
        .field("run_id", of.run_id());
}

void append_memory(std::string& out, const server_settings& how) {
    section_writer(out, "Memory")
        .field("maxmemory", std::to_string(how.maxmemory))
        .field("maxmemory_policy", how.eviction_policy);
}

void append_persistence(std::string& out, const server_settings& how, bool loading) {
    section_writer(out, "Persistence")
        .flag("loading", loading)
        .flag("aof_enabled", how.append_only);
}

void describe_master(section_writer& to, const life& of, const replication_standing& stands) {
    to.field("master_host", stands.master_host)
        .field("master_port", stands.master_port)
        .field("master_link_status", of.is_connected() ? "up" : "down")
        .field("master_last_io_seconds_ago", of.is_connected() ? "0" : "-1")
        .field("master_sync_in_progress", "0")
        .field("slave_read_repl_offset", stands.offset)
        .field("slave_repl_offset", stands.offset);
    if (!of.is_connected()) to.field("master_link_down_since_seconds", "-1");
    to.field("slave_priority", "100").field("slave_read_only", "1").field("replica_announced", "1");
}

// What it has not been heard of since, a real server says in seconds.
void describe_replica(section_writer& to, std::size_t place, const attached_replica& which) {
    to.field("slave" + std::to_string(place),
             "ip=" + which.host + ",port=" + std::to_string(which.port) + ",state=online,offset=" +
                 std::to_string(std::max<std::int64_t>(which.acknowledged, 0)) + ",lag=0");
}

void append_replication(std::string& out, const life& of, const replication_standing& stands) {
    section_writer to(out, "Replication");
    to.field("role", of.is_replica() ? "slave" : "master");
    if (of.is_replica()) describe_master(to, of, stands);
    to.field("connected_slaves", of.replicas());
    for (std::size_t n = 0; n < stands.replicas.size(); ++n) {
        describe_replica(to, n, stands.replicas[n]);
    }
    to.field("master_failover_state", "no-failover")
        .field("master_replid", of.replication_id())
        .field("master_replid2", of.second_replication_id())
        .field("master_repl_offset", stands.offset)
        .field("second_repl_offset", of.second_offset())
        .flag("repl_backlog_active", of.has_backlog())
        .field("repl_backlog_size", "1048576")
        .field("repl_backlog_first_byte_offset",
               of.has_backlog() ? stands.offset - stands.kept + 1 : 0)
        .field("repl_backlog_histlen", stands.kept);
}

}  // namespace

void append_section(std::string& out, std::string_view section, const server_settings& how,
                    const life& of, const replication_standing& stands, bool loading) {
    if (section == "server") return append_server(out, how, of);
    if (section == "memory") return append_memory(out, how);
    if (section == "persistence") return append_persistence(out, how, loading);
    if (section == "replication") return append_replication(out, of, stands);
}

const std::string* setting_named(std::string_view name, const server_settings& how,
                                 std::string& room) {
    if (name == "save") return &how.save;
    if (name == "appendfsync") return &how.append_fsync;
    if (name == "maxmemory-policy") return &how.eviction_policy;
    if (name == "appendonly") return &(room = how.append_only ? "yes" : "no");
    if (name == "maxmemory") return &(room = std::to_string(how.maxmemory));
    if (name == "databases") return &(room = "1");
    return nullptr;
}

}  // namespace holdfast::sim
