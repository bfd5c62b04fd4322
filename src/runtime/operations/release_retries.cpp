#include "runtime/operations/release_retries.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "core/tuning.hpp"
#include "kinds/table.hpp"
#include "runtime/engine.hpp"
#include "runtime/operations/cleanup.hpp"

namespace holdfast::runtime {

release_retries::release_retries(engine& through)
    : engine_(through),
      pause_(core::tuning::owed::first_pause, core::tuning::owed::longest_pause) {}

void release_retries::owe(core::node_index to, const plan_pointer& what, const std::string& owner,
                          core::time_point until, std::string_view entry) noexcept {
    if (engine_.closed()) return;
    try {
        owed_.owe(to, {what, owner, until, std::string(entry)}, owner, until);
    } catch (const std::bad_alloc&) {
        return;
    }
    if (engine_.voter(to).ready()) wait_a_while();
}

void release_retries::refused(core::node_index by, const plan_pointer& what,
                              const std::string& owner, core::time_point until,
                              const net::failure& why, std::string_view entry) noexcept {
    if (!waiting_ && !engine_.closed()) {
        engine_.log_of(by, log_level::warning, "release_refused", why.message, what->name());
    }
    owe(by, what, owner, until, entry);
}

void release_retries::settled(core::node_index by, std::string_view owner) noexcept {
    owed_.settled(by, owner);
    if (owed_.empty()) pause_.reset();
}

void release_retries::retry(core::node_index to, core::time_point now) {
    // A slot of a Cluster that is at a replica is not ready.
    const bool replica = engine_.cluster() == nullptr && engine_.node(to).facts().is_replica;
    if (!replica) return send_all(to, now);
    if (owed_.size(to) > 0) wait_a_while();
}

void release_retries::send_all(core::node_index to, core::time_point now) {
    std::vector<release> all;  // sending one may fail at once, and owe it again
    owed_.due(to, now, [&](const release& each) { all.push_back(each); });
    for (auto& each : all) cleanup::start(engine_, to, std::move(each), now);
}

void release_retries::decline(core::node_index by, const kinds::call& grant, core::time_point now) {
    std::optional<release> found;
    owed_.due(by, now, [&](const release& each) {
        if (each == grant.owner) found = each;
    });
    if (!found) {
        auto what = std::make_shared<plan>();
        what->kind = &kinds::of_owner(grant.owner);
        what->keys = {.lock = std::string(grant.lock), .queued = true};
        found = release{std::move(what), std::string(grant.owner), now + kinds::granted_for};
    }
    cleanup::start(engine_, by, std::move(*found), now);
}

// What is refused again comes back, and waits for longer. Only when nothing is owed any more,
// because it was settled or has lapsed, the pauses are short again: one key that we may not write
// must not be asked for at the rate of others. Who owes us answers already is not asked for more.
void release_retries::due(core::time_point now) noexcept {
    waiting_ = false;
    bool owing = false;
    std::vector<core::node_index> all;
    try {
        all = owed_.owing();
    } catch (const std::bad_alloc&) {
        return wait_a_while();
    }
    for (const auto node : all) {
        if (!engine_.voter(node).ready()) continue;
        owing = true;
        if (engine_.voter(node).stalled()) {
            wait_a_while();
            continue;
        }
        try {
            send_all(node, now);
        } catch (const std::bad_alloc&) {
            wait_a_while();
        }
    }
    if (!owing) pause_.reset();
}

void release_retries::wait_a_while() noexcept {
    if (std::exchange(waiting_, true)) return;
    engine_.set(*this, engine_.now() + pause_.next(engine_.chance()));
}

void release_retries::stop() noexcept { engine_.cancel(*this); }

}  // namespace holdfast::runtime
