// How the nemesis does what it has chosen.

#include <csignal>
#include <filesystem>
#include <sstream>

#include "storm/nemesis.hpp"

namespace holdfast::storm {
namespace {

using test::direction;

std::filesystem::path data_of(const test::redis_server& server) {
    return server.directory() / "appendonlydir";
}

std::filesystem::path earlier_data_of(const test::redis_server& server) {
    return server.directory() / "earlier";
}

void keep_a_copy(const test::redis_server& server) {
    std::filesystem::copy(data_of(server), earlier_data_of(server),
                          std::filesystem::copy_options::recursive);
}

/// Back to the copy, as a server that lost its last writes. It reads a log that ends in the middle
/// of a command.
void rewind(test::redis_server& server) {
    server.kill_hard();
    std::filesystem::remove_all(data_of(server));
    std::filesystem::rename(earlier_data_of(server), data_of(server));
    server.start();
}

}  // namespace

void nemesis::begin_at_server(const strike& chosen, std::size_t n) {
    test::redis_server& server = scene_.server(n);
    switch (chosen.kind) {
        case fault_kind::kill_and_lose:
        case fault_kind::kill_and_keep: return server.kill_hard();
        case fault_kind::kill_and_rewind: return keep_a_copy(server);
        case fault_kind::stop_server: return server.pause();
        case fault_kind::clock_forwards:
        case fault_kind::clock_backwards: return scene_.clock_of(n).jump(chosen.amount);
        default: return;
    }
}

void nemesis::begin_in_network(const strike& chosen, std::size_t n) {
    test::fault_proxy& network = scene_.proxy(n);
    switch (chosen.kind) {
        case fault_kind::silence: return network.silence();
        case fault_kind::silence_requests: return network.silence(direction::to_server);
        case fault_kind::silence_replies: return network.silence(direction::to_client);
        case fault_kind::split: return network.split(true);
        case fault_kind::delay:
            network.delay(direction::to_server, chosen.amount, chosen.amount / 2);
            if (chosen.harsh) network.delay(direction::to_client, chosen.amount);
            return;
        case fault_kind::reset:
            network.reset_connections();
            // And once more, in the middle of whatever passes then.
            if (chosen.harsh) {
                network.cut_after(
                    chance(50) ? direction::to_server : direction::to_client,
                    static_cast<std::size_t>(between(milliseconds(0), milliseconds(3000)).count()));
            }
            return;
        default: return;
    }
}

void nemesis::begin_by_command(const strike& chosen, std::size_t n) {
    const test::redis_server& server = scene_.server(n);
    switch (chosen.kind) {
        case fault_kind::flush_all: server.command({"FLUSHALL"}); return;
        case fault_kind::flush_scripts: server.command({"SCRIPT", "FLUSH"}); return;
        case fault_kind::delete_lock: server.command({"DEL", std::string(popular_key)}); return;
        case fault_kind::kill_clients:
            // Who has subscribed to a channel is of another type.
            for (const auto* type : {"normal", "pubsub"}) {
                server.command({"CLIENT", "KILL", "TYPE", type});
            }
            return;
        case fault_kind::kill_waiter: return kill_waiter(n);
        case fault_kind::out_of_memory: server.command({"CONFIG", "SET", "maxmemory", "1"}); return;
        case fault_kind::pause_clients:
            server.command({"CLIENT", "PAUSE", std::to_string(chosen.lasts.count()),
                            chosen.harsh ? "ALL" : "WRITE"});
            return;
        default: return;
    }
}

/// Its connections have its name.
void nemesis::kill_waiter(std::size_t n) {
    const auto first = first_in_line();
    if (!first) return;
    const test::redis_server& server = scene_.server(n);
    std::istringstream clients(server.command({"CLIENT", "LIST"}));
    for (std::string line; std::getline(clients, line);) {
        if (line.find(" name=" + scene_.name_of_worker(*first) + ' ') == std::string::npos)
            continue;
        const auto begin = line.find('=') + 1;
        const std::string id = line.substr(begin, line.find(' ') - begin);
        (void)server.query({"CLIENT", "KILL", "ID", id});  // may be gone by now
    }
}

void nemesis::begin_at_worker(const strike& chosen, std::size_t n) {
    test::process& worker = scene_.worker(n);
    if (chosen.kind == fault_kind::stop_worker) return worker.pause();
    const auto process = static_cast<std::uint64_t>(worker.id());
    worker.kill(SIGKILL);
    worker.wait(std::chrono::seconds(20));
    notes_.note({.what = happening::ended, .hold = process, .subject = scene_.name_of_worker(n)});
}

void nemesis::end_at(const strike& chosen, std::size_t n) {
    switch (chosen.kind) {
        case fault_kind::kill_and_lose: return scene_.server(n).restart(test::data::lost);
        case fault_kind::kill_and_keep: return scene_.server(n).start();
        case fault_kind::kill_and_rewind: return rewind(scene_.server(n));
        case fault_kind::stop_server: return scene_.server(n).resume();
        case fault_kind::out_of_memory:
            scene_.server(n).command({"CONFIG", "SET", "maxmemory", "0"});
            return;
        case fault_kind::silence:
        case fault_kind::silence_requests:
        case fault_kind::silence_replies:
            // What was held back arrives late, or never.
            if (chosen.harsh) scene_.proxy(n).reset_connections();
            return scene_.proxy(n).heal();
        case fault_kind::delay:
        case fault_kind::split:
        case fault_kind::reset: return scene_.proxy(n).heal();
        case fault_kind::stop_worker: return scene_.worker(n).resume();
        case fault_kind::kill_worker: return scene_.replace_worker(n);
        default: break;  // it was over at once, or ends by itself
    }
    if (scene_.clustered()) {
        end_in_cluster(chosen, n);
    } else {
        end_in_group(chosen, n);
    }
}

}  // namespace holdfast::storm
