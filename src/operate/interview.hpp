#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/engine.hpp"
#include "runtime/operations/query.hpp"

namespace holdfast::detail {

/// A node is called after the address at which it was last looked for: that takes the lock.
inline std::string name_of(runtime::engine& through, core::node_index node) {
    const auto lock = through.lock();
    return through.node(node).name();
}

/// Asks one node questions, one after the other. Holds the engine's lock while it lives.
class interview {
  public:
    interview(runtime::engine& through, core::node_index whom)
        : engine_(through), lock_(through.lock()), whom_(whom) {}

    /// The reply as a frame, or nullopt; failure() says why.
    std::optional<std::string> ask(const std::vector<std::string>& command) {
        return take(runtime::query::run_on(engine_, lock_, whom_, command));
    }
    std::optional<std::string> ask(runtime::query::writer write) {
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
    std::unique_lock<std::mutex> lock_;
    core::node_index whom_;
    net::failure failure_;
};

}  // namespace holdfast::detail
