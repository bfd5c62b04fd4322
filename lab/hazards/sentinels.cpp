// What happens to a master that Sentinels watch.

#include <stdexcept>

#include "lab/hazards/overlap.hpp"
#include "support/eventually.hpp"

namespace holdfast::lab {
namespace {

using namespace std::chrono_literals;

/// Sentinels look, elect one of them, and that one promotes a replica.
constexpr milliseconds failing_over = 6s;

}  // namespace

verdict watched_master_dies(stage& scene) {
    actor& first = scene.enter();
    actor& second = scene.enter();
    scene.group().cut_off_from_replicas(0);
    scene.say("A has two replicas, and three Sentinels; the links to the replicas break");
    const outcome one = first.acquire(stage::key, long_ttl);
    if (!one.held()) return safe("a lock that no replica knows is given to nobody");
    scene.group().server(0).kill_hard();
    scene.say("A dies (kill -9), and the Sentinels promote a replica");
    scene.group().wait_for_another(0);
    const outcome two = scene.try_for(second, long_ttl, 2s);
    return judge_overlap({first, one}, {second, two});
}

// With a lease that is renewed all the time, and one that outlasts no quarantine.
verdict watched_master_cut_off(stage& scene) {
    actor& first = scene.enter();
    actor& second = scene.enter();
    const outcome one = scene.must_acquire(first, 2 * short_ttl);
    for (std::size_t n = 0; n < scene.group().sentinels(); ++n) first.network().cut_off(n);
    scene.group().cut_off_from_sentinels(0);
    scene.say("A is cut off from the Sentinels with client 1, and they promote a replica");
    scene.group().wait_for_another(0);
    const outcome two = scene.try_for(second, 2 * short_ttl, failing_over + max_ttl + 1s);
    if (!two.held()) throw std::runtime_error("client 2 never gets the lock of the new master");
    return judge_overlap({first, one}, {second, two});
}

}  // namespace holdfast::lab
