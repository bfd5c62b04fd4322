// What servers and networks do.

#include <stdexcept>
#include <string>

#include "lab/hazards/overlap.hpp"
#include "support/eventually.hpp"
#include "support/fault_proxy.hpp"

namespace holdfast::lab {
namespace {

using namespace std::chrono_literals;

/// Time to notice that a connection broke, and to try again on a new one.
constexpr milliseconds reconnecting = 1s;

void replicate(test::redis_server& replica, std::uint16_t master) {
    replica.command({"REPLICAOF", "127.0.0.1", std::to_string(master)});
    if (!test::eventually(20s, [&] {
            return replica.command({"INFO", "replication"}).find("master_link_status:up") !=
                   std::string::npos;
        })) {
        throw std::runtime_error("the replica does not follow its master");
    }
}

/// The wall clock of the weak node jumps by an hour. Newer servers look at it now and then only:
/// returns when this one has.
void jump(stage& scene) {
    const auto time = [&] {
        return std::stoll(scene.server(scene.weak_node()).query({"TIME"}).elements.at(0).text);
    };
    const auto later = time() + 1800;
    scene.server_clock().jump(1h);
    if (!test::eventually(5s, [&] { return time() > later; })) {
        throw std::runtime_error("the server does not see that its clock jumped");
    }
}

verdict clock_jumps(stage& scene, milliseconds ago) {
    actor& first = scene.enter();
    actor& second = scene.enter();
    scene.split(first, second);
    if (ago > 0ms) scene.pass(1500ms);  // who watches clocks has seen this one when it was right
    const outcome one = scene.must_acquire(first, long_ttl);
    jump(scene);
    scene.say("the wall clock of " + scene.name_of(scene.weak_node()) + " jumps ahead by an hour");
    scene.pass(ago);
    return judge_overlap({first, one}, {second, second.acquire(stage::key, long_ttl)});
}

}  // namespace

verdict clock_just_jumped(stage& scene) { return clock_jumps(scene, 0ms); }
verdict clock_jumped_before(stage& scene) { return clock_jumps(scene, 3s); }

verdict master_dies(stage& scene) {
    const std::size_t node = scene.weak_node();
    const std::string name = scene.name_of(node);
    test::redis_server& master = scene.server(node);
    test::redis_server replica;
    test::fault_proxy replication(master.port());
    master.command({"CONFIG", "SET", "repl-diskless-sync-delay", "0"});
    replicate(replica, replication.port());
    actor& first = scene.enter();
    actor& second = scene.enter();
    scene.say(name + " has a replica; the link between them stalls");
    replication.silence(test::direction::to_client);
    const outcome one = scene.must_acquire(first, long_ttl);
    master.kill_hard();
    replication.reset_connections();
    replica.command({"REPLICAOF", "NO", "ONE"});
    for (actor* each : {&first, &second}) each->network().lead_to(node, replica.port());
    scene.say(name + " dies (kill -9), and its replica is promoted: REPLICAOF NO ONE");
    const outcome two = scene.try_for(second, long_ttl, reconnecting);
    return judge_overlap({first, one}, {second, two});
}

// The old master knows nothing of the new one, and neither does client 1.
verdict master_cut_off(stage& scene) {
    const std::size_t node = scene.weak_node();
    const std::string name = scene.name_of(node);
    test::redis_server& master = scene.server(node);
    test::redis_server replica;
    master.command({"CONFIG", "SET", "repl-diskless-sync-delay", "0"});
    replicate(replica, master.port());
    // From then on it is sent what is written; before, a short lock may be over when it comes.
    const auto is_online = [&] {
        return master.command({"INFO", "replication"}).find("state=online") != std::string::npos;
    };
    if (!test::eventually(20s, is_online)) throw std::runtime_error("the replica stays offline");
    actor& first = scene.enter();
    actor& second = scene.enter();
    scene.split(first, second);
    const outcome one = scene.must_acquire(first, short_ttl);
    if (!test::eventually(5s, [&] { return replica.exists(stage::key); })) {
        throw std::runtime_error("the replica does not get the lock");
    }
    replica.command({"REPLICAOF", "NO", "ONE"});
    second.network().lead_to(node, replica.port());
    scene.say(name +
              " is cut off with client 1; its replica, which knows the lock, is promoted, "
              "and client 2 goes there");
    const outcome two = scene.try_for(second, short_ttl, max_ttl + reconnecting + 5s);
    return judge_overlap({first, one}, {second, two});
}

verdict restarts_empty(stage& scene) {
    actor& first = scene.enter();
    actor& second = scene.enter();
    scene.split(first, second);
    const outcome one = scene.must_acquire(first, long_ttl);
    scene.server(scene.weak_node()).restart(test::data::lost);
    scene.say(scene.name_of(scene.weak_node()) + " is killed, and starts again without its data");
    const outcome two = scene.try_for(second, long_ttl, reconnecting);
    return judge_overlap({first, one}, {second, two});
}

verdict answer_lost(stage& scene) {
    constexpr milliseconds bound = 2s;
    actor& first = scene.enter();
    actor& second = scene.enter();
    scene.say("the network loses what a majority of servers answers to client 1");
    first.network().lose_answers(scene.majority());
    if (first.acquire(stage::key, long_ttl).held()) {
        return broken("client 1 thinks that it holds a lock that nobody confirmed");
    }
    first.network().heal();
    scene.say("the network is well again; nobody holds the lock");
    if (scene.try_for(second, long_ttl, bound).held()) {
        return safe("what client 1 left behind was cleaned up, and client 2 gets the lock");
    }
    const std::int64_t left = scene.server(0).pttl(stage::key);
    return broken(
        "nobody holds the lock, and client 2 is turned away: the SET of client 1 landed, " +
        (left < 0 ? std::string("and has no expiry there")
                  : "and stays for another " + std::to_string(left) + " ms"));
}

verdict minority_hangs(stage& scene) {
    actor& first = scene.enter();
    actor& second = scene.enter();
    const std::size_t minority = scene.nodes() - scene.majority();
    for (std::size_t node = 0; node < minority; ++node) scene.server(node).pause();
    scene.say("A and B hang (SIGSTOP)");
    const outcome one = scene.try_for(first, long_ttl, 5s);
    if (!one.held()) return broken("three of five servers answer, and client 1 gets no lock");
    verdict exclusive = judge_overlap({first, one}, {second, second.acquire(stage::key, long_ttl)});
    if (exclusive.value == judgement::broken) return exclusive;
    scene.say("client 1 releases");
    first.release(stage::key);
    const bool passed_on = scene.try_for(second, long_ttl, 5s).held();
    for (std::size_t node = 0; node < minority; ++node) scene.server(node).resume();
    if (!passed_on) return broken("client 1 has released, and client 2 does not get the lock");
    return safe("three of five servers are enough to lock, to exclude and to release");
}

}  // namespace holdfast::lab
