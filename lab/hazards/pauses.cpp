// What becomes of a holder that takes too long, or stands still.

#include "lab/hazards/overlap.hpp"

namespace holdfast::lab {
namespace {

/// A holder is stopped, and somebody else holds the lock when it goes on.
hold next_holder_after_a_pause(stage& scene, actor& paused, actor& next) {
    paused.pause();
    scene.say("client 1 stands still (SIGSTOP), beyond its ttl");
    const outcome got = scene.must_acquire(next, long_ttl);
    return {next, got};
}

}  // namespace

verdict work_outlives_ttl(stage& scene) {
    constexpr milliseconds work = 6 * short_ttl;
    actor& worker = scene.enter();
    actor& other = scene.enter();
    const outcome began = scene.must_acquire(worker, short_ttl);
    scene.say("client 1 works for " + std::to_string(work.count()) + " ms; its ttl is " +
              std::to_string(short_ttl.count()) + " ms");
    const outcome next = scene.try_for(other, long_ttl, work);
    if (!next.held()) {
        return safe("client 1 still holds after " + std::to_string(work / short_ttl) +
                    " ttls: it is renewed");
    }
    return broken("client 1 works under the lock since " + std::to_string(began.at.count()) +
                  " ms, and client 2 holds it since " + std::to_string(next.at.count()) + " ms");
}

verdict paused_holder_deletes(stage& scene) {
    actor& first = scene.enter();
    actor& second = scene.enter();
    actor& third = scene.enter();
    scene.must_acquire(first, short_ttl);
    const hold next = next_holder_after_a_pause(scene, first, second);
    first.resume();
    scene.say("client 1 goes on (SIGCONT), and releases");
    first.release(stage::key);
    return judge_overlap(next, {third, third.acquire(stage::key, long_ttl)});
}

verdict paused_holder_writes(stage& scene) {
    resource database;
    const auto write = [&](const actor& who, const outcome& got) {
        const bool accepted = database.write(got.token);
        scene.say(who.name() + " writes" +
                  (got.token ? " with token " + std::to_string(*got.token) : "") + ": " +
                  (accepted ? "accepted" : "refused, a later token was here"));
        return accepted;
    };
    actor& first = scene.enter();
    actor& second = scene.enter();
    const outcome early = scene.must_acquire(first, short_ttl);
    scene.say("client 1 has made sure that it holds the lock, and is about to write");
    const hold next = next_holder_after_a_pause(scene, first, second);
    write(second, next.got);
    first.resume();
    scene.say("client 1 goes on (SIGCONT)");
    if (write(first, early)) {
        return broken(
            "client 1 lost the lock in its sleep, and its write is taken after that of "
            "client 2");
    }
    return safe("client 1 slept too, but the resource refuses its token " +
                std::to_string(*early.token) + " after " + std::to_string(database.highest()));
}

}  // namespace holdfast::lab
