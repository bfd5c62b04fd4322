// What clients do to each other while all servers are well.

#include <utility>
#include <vector>

#include "lab/hazards/overlap.hpp"

namespace holdfast::lab {
namespace {

using namespace std::chrono_literals;

struct remains {
    std::string key;
    std::string cause;
};

constexpr std::size_t most_commands = 20;  // of one acquire

/// Lets one client after the other die, each one command later than the last.
std::vector<remains> kill_at_every_command(stage& scene) {
    std::vector<remains> left;
    bool complete = false;
    for (std::size_t commands = 1; !complete && commands <= most_commands; ++commands) {
        const std::string key = std::string(stage::key) + ":" + std::to_string(commands);
        actor& victim = scene.enter();
        victim.network().let_pass(commands);
        victim.begin_acquire(key, short_ttl);
        complete = victim.settle();
        const std::string cause =
            victim.name() + " dies " +
            (complete ? "holding the lock"
                      : "after command " + std::to_string(commands) + " of its acquire");
        scene.say(cause);
        victim.crash();
        left.push_back({key, cause});
    }
    return left;
}

}  // namespace

verdict crash_between_commands(stage& scene) {
    const std::vector<remains> left = kill_at_every_command(scene);
    const milliseconds wait = short_ttl + 500ms;
    scene.pass(wait);
    scene.say("the ttl is long over");
    actor& heir = scene.enter();
    for (const remains& each : left) {
        if (scene.try_for(heir, short_ttl, 500ms, each.key).held()) continue;
        return broken(each.cause + "; " + std::to_string(wait.count()) +
                      " ms later, with a ttl of " + std::to_string(short_ttl.count()) +
                      " ms, the lock is still there (PTTL " +
                      std::to_string(scene.server(0).pttl(each.key)) + ") and nobody gets it");
    }
    return safe("whenever the holder dies, the next one gets the lock after the ttl");
}

verdict check_then_set(stage& scene) {
    actor& first = scene.enter();
    actor& second = scene.enter();
    for (actor* each : {&first, &second}) {
        each->network().let_pass(1);
        each->begin_acquire(stage::key, long_ttl);
        each->settle();
    }
    scene.say("both have sent their first command; now both go on");
    for (actor* each : {&first, &second}) each->network().open();
    const outcome one = first.finish();
    const outcome two = second.finish();
    if (one.held()) return judge_overlap({first, one}, {second, two});
    return safe("of two that ask at once, not both get the lock");
}

verdict skewed_client(stage& scene) {
    test::shifted_clock ahead;
    ahead.jump(1h);
    actor& first = scene.enter();
    auto environment = ahead.environment();
    // Else a client that was built with it refuses to start behind another preloaded library.
    environment["ASAN_OPTIONS"] = "verify_asan_link_order=0";
    actor& second = scene.enter(environment);
    scene.say("the wall clock of client 2 is an hour ahead");
    const outcome one = scene.must_acquire(first, long_ttl);
    return judge_overlap({first, one}, {second, second.acquire(stage::key, long_ttl)});
}

verdict loser_changes_lock(stage& scene) {
    actor& dead = scene.enter();
    scene.must_acquire(dead, short_ttl);
    dead.crash();
    scene.pass(short_ttl + 200ms);
    scene.say("client 1 has died, and its lock is over; two ask for it at once");

    constexpr milliseconds longer = 6 * long_ttl;
    actor& winner = scene.enter();
    actor& loser = scene.enter();
    const auto begin = [](actor& who, milliseconds ttl) {
        who.network().let_pass(2);
        who.begin_acquire(stage::key, ttl);
        who.settle();
    };
    begin(winner, long_ttl);
    begin(loser, longer);
    winner.network().open();
    outcome won = winner.finish();
    std::string before = scene.values_stored();
    loser.network().open();
    const outcome lost = loser.finish();
    if (lost.held()) return judge_overlap({loser, lost}, {winner, won});
    if (!won.held()) {  // their votes were split, and neither got it
        won = scene.must_acquire(winner, long_ttl);
        before = scene.values_stored();
    }
    loser.acquire(stage::key, longer);
    const std::string after = scene.values_stored();
    if (before == after && scene.longest_ttl() <= long_ttl) {
        return safe(loser.name() + " is turned away and changes nothing");
    }
    return broken(winner.name() + " holds, but " + loser.name() +
                  ", which was turned away, has overwritten its lock: " + before + " became " +
                  after);
}

verdict released_by_stranger(stage& scene) {
    actor& holder = scene.enter();
    actor& stranger = scene.enter();
    actor& third = scene.enter();
    const outcome held = scene.must_acquire(holder, long_ttl);
    stranger.acquire(stage::key, long_ttl);
    scene.say("client 2 releases the lock that it did not get, as finally { unlock(); } does");
    stranger.release(stage::key);
    return judge_overlap({holder, held}, {third, third.acquire(stage::key, long_ttl)});
}

verdict release_races_expiry(stage& scene) {
    actor& first = scene.enter();
    actor& second = scene.enter();
    actor& third = scene.enter();
    scene.must_acquire(first, short_ttl);
    first.network().let_pass(1);
    first.begin_release(stage::key);
    scene.say(first.settle() ? "client 1 releases in one step"
                             : "client 1 releases, and is held up after its first command");
    const outcome held = scene.must_acquire(second, long_ttl);
    scene.say("what is left of the release of client 1 goes on");
    first.network().open();
    first.finish_release();
    return judge_overlap({second, held}, {third, third.acquire(stage::key, long_ttl)});
}

}  // namespace holdfast::lab
