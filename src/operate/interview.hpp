#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/locks.hpp"
#include "runtime/engine.hpp"
#include "runtime/operations/query.hpp"

namespace holdfast::detail {

/// A node is called after the address at which it was last looked for: that takes the lock.
inline std::string name_of(runtime::engine& through, core::node_index node) HOLDFAST_UNLOCKED {
    const auto lock = through.lock();
    return through.voter(node).name();
}

/// `name` is a whole key, with the client's prefix.
inline runtime::electorate voters_of(runtime::engine& through,
                                     std::string_view name) HOLDFAST_UNLOCKED {
    const auto lock = through.lock();
    return through.voters_of(name);
}

/// Those that keep locks, as of runtime::engine.
inline std::vector<core::node_index> servers_of(runtime::engine& through) HOLDFAST_UNLOCKED {
    auto lock = through.lock();
    return through.servers(lock);
}

/// Asks one node questions, one after the other. Holds the engine's lock while it lives.
class HOLDFAST_SCOPED interview {
  public:
    interview(runtime::engine& through, core::node_index whom)
        HOLDFAST_ACQUIRES(base::client_locked)
        : engine_(through), lock_(through.lock()), whom_(whom) {}

    ~interview() HOLDFAST_RELEASES() = default;

    interview(const interview&) = delete;
    interview& operator=(const interview&) = delete;

    /// The reply as a frame, or nullopt; failure() says why.
    std::optional<std::string> ask(const std::vector<std::string>& command) HOLDFAST_LOCKED {
        return take(runtime::query::run_on(engine_, lock_, whom_, command));
    }
    std::optional<std::string> ask(runtime::query::writer write) HOLDFAST_LOCKED {
        return take(runtime::query::run_on(engine_, lock_, whom_, std::move(write)));
    }

    [[nodiscard]] const net::failure& failure() const { return failure_; }
    [[nodiscard]] net::node& node() const { return engine_.node(whom_); }
    [[nodiscard]] runtime::engine& engine() const { return engine_; }

  private:
    std::optional<std::string> take(runtime::query::answer answer) {
        if (auto* why = std::get_if<net::failure>(&answer)) {
            failure_ = *why;
            return std::nullopt;
        }
        return std::get<std::string>(std::move(answer));
    }

    runtime::engine& engine_;
    base::client_lock lock_;
    core::node_index whom_;
    net::failure failure_;
};

}  // namespace holdfast::detail
