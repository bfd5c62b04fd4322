#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "resp/view.hpp"
#include "runtime/engine.hpp"
#include "runtime/operations/query.hpp"

namespace holdfast::detail {

/// Questions about one key to one server, which may refuse to answer some of them.
class asking {
  public:
    /// `what`: what should be at the key, for the message where it is not: `no queue`.
    asking(runtime::engine& through, core::node_index whom, std::string key, std::string what);

    /// The reply as a frame, or nullopt: why_not() says why.
    std::optional<std::string> ask(const std::vector<std::string>& command);
    /// Whatever it is.
    runtime::query::answer answer_to(const std::vector<std::string>& command);
    /// Of ZCARD, LLEN and the like. nullopt: as of ask().
    std::optional<std::size_t> count(const std::vector<std::string>& command);

    [[nodiscard]] const std::string& key() const { return key_; }
    [[nodiscard]] runtime::engine& engine() const { return engine_; }
    [[nodiscard]] core::node_index whom() const { return node_; }
    /// Of the first that was refused; empty: none was.
    [[nodiscard]] const std::string& why_not() const { return why_not_; }

  private:
    std::nullopt_t refused(std::string why);

    runtime::engine& engine_;
    core::node_index node_;
    std::string key_;
    std::string what_;
    std::string why_not_;
};

/// The members of a sorted set, as WITHSCORES answers: pairs in RESP3, one list in RESP2; scores
/// are doubles or text.
void for_each_member(resp::view members,
                     const std::function<void(std::string_view, double)>& visit);

}  // namespace holdfast::detail
