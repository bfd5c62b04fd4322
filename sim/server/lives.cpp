// How a server's lives end and begin.

#include "sim/server/refusals.hpp"
#include "sim/server/server.hpp"
#include "sim/server/session.hpp"

namespace holdfast::sim {

void server::be(condition how) {
    condition_ = how;
    apply_denials();
}

// Nobody listens any more when the data go.
void server::crash(memory left, std::int64_t last_kept) {
    up_ = false;
    log_.drop_changes();
    sessions_.clear();
    tracked_.clear();
    channels_.clear();
    cached_.clear();
    if (left == memory::partial) data_.roll_back_to(last_kept);
    if (left == memory::none) data_.clear();
}

void server::restart(server_settings how) {
    up_ = true;
    settings_ = std::move(how);
    life_.begin();
    disconnect_replicas();
    log_.restart_at(0);
    be(condition::well);
}

void server::flush_all(wall_time now) {
    static constexpr std::string_view command = "FLUSHALL";
    data_.deny(keyspace::denial::none, {});
    data_.execute({&command, 1}, now);
    apply_denials();
    if (feed_) propagate();
}

void server::resynchronise_in_full(std::int64_t last_kept) {
    data_.roll_back_to(last_kept);
    life_.resynchronised_in_full();
    tell_emptied();
}

void server::resynchronise_in_part() { life_.resynchronised_in_part(); }

}  // namespace holdfast::sim
