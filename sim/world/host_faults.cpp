// What goes wrong on a server's machine: the other half of `sim/world/host.hpp`.

#include <algorithm>
#include <array>

#include "sim/server/refusals.hpp"
#include "sim/world/host.hpp"

namespace holdfast::sim {
namespace {

// What scripts call.
bool is_of_the_queue(std::string_view command) {
    constexpr std::array<std::string_view, 6> all{"publish", "rpush", "lpop",
                                                  "lrem",    "llen",  "lpos"};
    return std::ranges::find(all, command) != all.end();
}

}  // namespace

void host::vouch() {
    server_.data().stamp(last_kept());
    enlist_by_hand(net::enlisting::vouched);
}

void host::crash(server::memory left) {
    server_.crash(left, last_kept());
    if (left == server::memory::partial) checkers_.rolled_back(index_);
    server_.data().forget_history_before(world_.now().count() + 1);
    network_.break_all_of(index_);
    if (watcher_ != nullptr) watcher_->went_down(index_);
}

void host::restart() {
    if (up()) return;
    ++life_;
    server_.restart(world_.faulty(fault::other_settings) ? draw_settings() : server_settings{});
    if (watcher_ != nullptr) watcher_->came_up(index_);
    if (world_.settings().onlookers) enlist_by_hand(net::enlisting::unguarded);
    network_.disturb_server(index_, world_.now());
}

server_settings host::draw_settings() {
    constexpr std::array<std::string_view, 3> policies{"noeviction", "allkeys-lru", "volatile-ttl"};
    server_settings drawn;
    drawn.append_only = chance_.coin();
    drawn.append_fsync = chance_.coin() ? "always" : "everysec";
    drawn.save = chance_.coin() ? "3600 1" : "";
    if (chance_.per_mille(300)) drawn.eviction_policy = policies[chance_.below(policies.size())];
    drawn.tracks = chance_.coin() ? server_settings::script_tracking::read_keys
                                  : server_settings::script_tracking::declared_keys;
    return drawn;
}

void host::heal() {
    recover();
    forbidden_until_ = {};
    server_.refuse_in_scripts({});
    if (watcher_ == nullptr && server_.present_life().is_replica()) promote();
    if (up() && server_.settings().eviction_policy != "noeviction") crash(server::memory::full);
    restart();
}

void host::stand_still(instant until) {
    if (stands_still()) return;  // what waits for its end is in line already
    still_until_ = until;
    // A release that nobody awaits any more is repeated after pauses, which have grown meanwhile.
    const auto grown = std::min<core::duration>(longest_pause, (until - world_.now()) * 2);
    network_.disturb_server(index_, until + grown);
    if (watcher_ != nullptr) watcher_->went_silent(index_);
}

void host::jump(core::duration by) {
    clock_.jump(by);
    checkers_.jumped(index_, by);
}

// Whoever empties a replica is refused.
void host::flush_all() {
    if (!up() || server_.present_life().is_replica()) return;
    keep_time();
    server_.flush_all(wall());
    network_.disturb_server(index_, world_.now());
    send_outboxes();
}

void host::kill_connections() {
    for (std::uint32_t each = 0; each < sessions_.size(); ++each) {
        if (chance_.coin()) server_.kill(each);
    }
    send_outboxes();
}

void host::delete_lock() {
    if (!up()) return;
    keep_time();
    server_.data().execute(std::array<std::string_view, 2>{"DEL", lock_key}, wall());
    send_outboxes();
}

void host::demote(bool in_full, instant until) {
    if (!up() || server_.present_life().is_replica()) return;
    keep_time();
    server_.demote();
    if (in_full) {
        server_.resynchronise_in_full(last_kept());
        server_.data().forget_history_before(world_.now().count() + 1);
        checkers_.rolled_back(index_);
    } else {
        server_.resynchronise_in_part();
    }
    network_.disturb_server(index_, until + longest_pause);
    if (until <= world_.now()) promote();
    send_outboxes();
}

void host::promote() {
    if (!up() || !server_.present_life().is_replica()) return;
    server_.promote();
    if (watcher_ != nullptr) settle();
}

void host::fall_ill(server::condition how, instant until) {
    if (!up()) return;
    server_.be(how);
    network_.disturb_server(index_, until + longest_pause);
}

void host::recover() {
    if (up()) server_.be(server::condition::well);
}

void host::forbid(std::string_view command, instant until) {
    forbidden_ = command;
    forbidden_until_ = until;
    if (is_of_the_queue(command)) {
        server_.refuse_in_scripts([this](const asked_command& what) {
            const bool forbidden = forbids(what.name) && is_of_the_queue(what.name);
            return forbidden ? refusals::not_permitted_in_script : std::string_view{};
        });
        checkers_.line().hinder(until);
    }
    network_.disturb_server(index_, until + longest_pause);
}

}  // namespace holdfast::sim
