// A server as a master and as a replica: who follows whom, how far, and who waits for that.

#include <algorithm>

#include "sim/server/command_table.hpp"
#include "sim/server/refusals.hpp"
#include "sim/server/server.hpp"
#include "sim/server/session.hpp"
#include "sim/server/words.hpp"

namespace holdfast::sim {
namespace {

constexpr std::string_view unblocked =
    "-UNBLOCKED force unblock from blocking operation, instance state changed (master -> "
    "replica?)\r\n";

}  // namespace

void server::feed(replication_feed* whom) { feed_ = whom; }

void server::note_change(std::string_view key) {
    if (life_.is_replica()) return;
    transaction::effect what{.key = std::string(key)};
    const auto& all = data_.entries();
    const auto found = std::ranges::find(all, key, &keyspace::entry::key);
    if (found != all.end()) what.after = *found;
    log_.change(std::move(what));
}

void server::propagate() {
    if (!log_.has_changes()) return;
    if (!life_.has_backlog()) return log_.drop_changes();  // nobody has ever followed it
    feed_->carry(log_.close_transaction());
}

std::optional<std::vector<transaction_pointer>> server::continue_from(std::string_view id,
                                                                      std::int64_t offset) const {
    const bool same = id == life_.replication_id();
    const bool former = id == life_.second_replication_id() && offset + 1 <= life_.second_offset();
    if (!life_.has_backlog() || !(same || former)) return std::nullopt;
    return log_.since(offset);
}

snapshot server::take_snapshot() const {
    return {data_.entries(), log_.offset(), life_.replication_id()};
}

void server::attach_replica(std::uint32_t number, std::string host, std::uint16_t port) {
    detach_replica(number);
    life_.replica_attached();
    standing_.replicas.push_back({.number = number, .host = std::move(host), .port = port});
    if (std::ranges::any_of(sessions_, [](const auto& each) { return each->waits.has_value(); })) {
        feed_->ask_for_acknowledgements();
    }
}

void server::detach_replica(std::uint32_t number) {
    const auto gone = std::erase_if(
        standing_.replicas, [&](const attached_replica& each) { return each.number == number; });
    if (gone > 0) life_.replica_detached();
}

void server::disconnect_replicas() {
    standing_.replicas.clear();
    life_.lost_replicas();
}

void server::acknowledged(std::uint32_t replica, std::int64_t offset, wall_time now) {
    for (auto& each : standing_.replicas) {
        if (each.number == replica) each.acknowledged = std::max(each.acknowledged, offset);
    }
    end_waits(
        [&](const server_session& who) {
            return acknowledged_by(who.waits->offset) >= who.waits->needed;
        },
        now);
}

std::int64_t server::acknowledged_by(std::int64_t offset) const {
    return std::ranges::count_if(standing_.replicas, [&](const attached_replica& each) {
        return each.acknowledged >= offset;
    });
}

void server::follow(std::string host, std::uint16_t port) {
    standing_.master_host = std::move(host);
    standing_.master_port = port;
    demote();
    life_.lost_master();
}

// Whoever is blocked waits for what cannot come any more.
void server::demote() {
    std::vector<connection> blocked;
    for (const auto& each : sessions_) {
        if (each->waits) blocked.push_back(each->number);
    }
    for (const auto whom : blocked) {
        wire_.reply(whom, unblocked);
        kill(whom);
    }
    disconnect_replicas();
    life_.become_replica();
    apply_denials();
}

void server::promote() {
    disconnect_replicas();
    life_.promoted(log_.offset());
    apply_denials();
}

void server::load(const snapshot& all) {
    data_.replace_all(all.entries);
    log_.restart_at(all.offset);
    life_.resynchronised_in_full(all.replication_id);
    tell_emptied();
}

void server::continue_with(const std::string& id) {
    life_.resynchronised_in_part(id, log_.offset());
}

void server::apply(const transaction_pointer& next) {
    for (const auto& each : next->effects) {
        if (each.key.empty()) {
            data_.empty();
        } else {
            data_.assign(each.key, each.after);
        }
    }
    log_.follow(next);
}

// As Redis 7 does it: what it counts is the offset of the last write of the connection.
void server::wait(call& c) {
    if (life_.is_replica()) return c.out.error(refusals::wait_at_replica);
    const auto needed = whole_number(c.words[1]);
    if (!needed) return c.out.error("ERR value is not an integer or out of range");
    const auto timeout = whole_number(c.words[2]);
    if (!timeout) return c.out.error("ERR timeout is not an integer or out of range");
    if (*timeout < 0) return c.out.error("ERR timeout is negative");
    const auto offset = c.from.written_up_to;
    const auto enough = acknowledged_by(offset);
    if (enough >= *needed) return c.out.integer(enough);
    const bool for_ever = *timeout == 0;
    c.from.waits = {
        .needed = *needed,
        .offset = offset,
        .until = for_ever ? wall_time::max() : c.now + std::chrono::milliseconds(*timeout)};
    if (feed_) feed_->ask_for_acknowledgements();
}

server::wall_time server::next_wait_ends() const {
    auto next = wall_time::max();
    for (const auto& each : sessions_) {
        if (each->waits) next = std::min(next, each->waits->until);
    }
    return next;
}

void server::end_waits(wall_time now) {
    end_waits([&](const server_session& who) { return who.waits->until <= now; }, now);
}

template <typename Ended>
void server::end_waits(Ended&& ended, wall_time now) {
    std::vector<connection> over;
    for (const auto& each : sessions_) {
        if (each->waits && ended(*each)) over.push_back(each->number);
    }
    for (const auto whom : over) {
        auto* const session = find(whom);
        if (!session) continue;
        answer_.clear();
        reply_writer(answer_, session->protocol).integer(acknowledged_by(session->waits->offset));
        session->waits.reset();
        wire_.reply(whom, answer_);
        receive(whom, {}, now);
    }
}

void server::role(call& c) {
    if (!life_.is_replica()) {
        c.out.array(3);
        c.out.bulk("master");
        c.out.integer(log_.offset());
        c.out.array(standing_.replicas.size());
        for (const auto& each : standing_.replicas) {
            c.out.array(3);
            c.out.bulk(each.host);
            c.out.bulk(std::to_string(each.port));
            c.out.bulk(std::to_string(std::max<std::int64_t>(each.acknowledged, 0)));
        }
        return;
    }
    c.out.array(5);
    c.out.bulk("slave");
    c.out.bulk(standing_.master_host);
    c.out.integer(standing_.master_port);
    c.out.bulk(life_.is_connected() ? "connected" : "connect");
    c.out.integer(life_.is_connected() ? log_.offset() : -1);
}

const replication_standing& server::standing() {
    standing_.offset = log_.offset();
    standing_.kept = static_cast<std::int64_t>(log_.kept());
    return standing_;
}

}  // namespace holdfast::sim
