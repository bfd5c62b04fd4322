#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace holdfast::storm {

/// What the nemesis does to servers, to the network before them, and to workers.
enum class fault_kind : std::uint8_t {
    kill_and_lose,     // kill -9; it comes back without its data
    kill_and_keep,     // kill -9; it comes back with what it had written
    kill_and_rewind,   // kill -9; it comes back with the data of a while before
    stop_server,       // SIGSTOP
    silence,           // nothing arrives any more
    silence_requests,  // it speaks and is not spoken to
    silence_replies,   // it hears and is not heard
    delay,
    reset,
    split,  // every byte in a segment of its own
    clock_forwards,
    clock_backwards,
    flush_all,
    flush_scripts,
    kill_clients,
    kill_waiter,  // CLIENT KILL of who stands first in line for the popular lock
    pause_clients,
    out_of_memory,
    delete_lock,  // the popular one, by hand, again and again
    stop_worker,  // SIGSTOP
    kill_worker,  // kill -9, and another takes its place

    // Of a replication group that Sentinels watch:
    fail_over,       // asked of a Sentinel
    stop_master,     // SIGSTOP, long enough for a fail-over; then it goes on as if nothing had been
    kill_master,     // kill -9; it comes back, as a master of its own or as a replica
    cut_off_master,  // Sentinels and new connections do not reach it: its clients keep it, some of
                     // them, who reach no Sentinel, until it is over. In a Cluster: the network
                     // is cut, and some clients, perhaps a replica, too, are left with it
    stop_replicas,   // SIGSTOP: nobody acknowledges anything
    stop_sentinel,   // SIGSTOP

    // Of a Cluster, beside some of those:
    move_slot,  // of a lock, to another shard
};

inline constexpr std::array<std::string_view, 28> fault_names{
    "kill-and-lose",    "kill-and-keep",   "kill-and-rewind", "stop-server",   "silence",
    "silence-requests", "silence-replies", "delay",           "reset",         "split",
    "clock-forwards",   "clock-backwards", "flush-all",       "flush-scripts", "kill-clients",
    "kill-waiter",      "pause-clients",   "out-of-memory",   "delete-lock",   "stop-worker",
    "kill-worker",      "fail-over",       "stop-master",     "kill-master",   "cut-off-master",
    "stop-replicas",    "stop-sentinel",   "move-slot"};

/// Those that strike single servers, networks and workers come before these.
inline constexpr auto first_of_a_group = fault_kind::fail_over;

/// The lock at which most threads meet.
inline constexpr std::string_view popular_key = "apples";

constexpr std::string_view name_of(fault_kind kind) {
    return fault_names[static_cast<std::size_t>(kind)];
}

constexpr bool strikes_workers(fault_kind kind) {
    return kind == fault_kind::stop_worker || kind == fault_kind::kill_worker;
}

constexpr bool strikes_a_group(fault_kind kind) { return kind >= first_of_a_group; }

/// Whether another server may be the master afterwards.
constexpr bool moves_the_master(fault_kind kind) {
    switch (kind) {
        case fault_kind::fail_over:
        case fault_kind::stop_master:
        case fault_kind::kill_master:
        case fault_kind::cut_off_master: return true;
        default: return false;
    }
}

/// Whether who stands in line may be forgotten, too; or was granted the lock, and finds it gone.
constexpr bool forgets_the_line(fault_kind kind) {
    switch (kind) {
        case fault_kind::kill_and_lose:
        case fault_kind::kill_and_keep:
        case fault_kind::kill_and_rewind:
        case fault_kind::flush_all:
        case fault_kind::out_of_memory:
        case fault_kind::delete_lock: return true;
        default: return false;
    }
}

/// Whether locks that the server held may be gone afterwards, with or without a quarantine.
constexpr bool forgets(fault_kind kind) {
    switch (kind) {
        case fault_kind::kill_and_lose:
        case fault_kind::kill_and_keep:
        case fault_kind::kill_and_rewind:
        case fault_kind::flush_all:
        case fault_kind::delete_lock:
        case fault_kind::clock_forwards: return true;
        default: return moves_the_master(kind);
    }
}

}  // namespace holdfast::storm
