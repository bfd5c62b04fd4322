#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/engine.hpp"

namespace holdfast::runtime {

/// One command to all who vote on a key, and what each answered: for those who look, rather than
/// lock.
class query final : public net::exchange {
  public:
    /// A whole frame for resp::view, or why there is none.
    using answer = std::variant<std::string, net::failure>;
    using writer = std::function<void(std::string& out, bool by_text)>;

    /// Blocks until each has answered or failed; one answer for each. REQUIRES: `lock` held.
    static std::vector<answer> run(engine& through, const electorate& whom, base::client_lock& lock,
                                   writer write) HOLDFAST_LOCKED;

    /// The same, of what counts only when the replicas have acknowledged it, where they have to.
    static std::vector<answer> run_acknowledged(engine& through, const electorate& whom,
                                                base::client_lock& lock,
                                                writer write) HOLDFAST_LOCKED;

    /// The same for a command and its arguments.
    static std::vector<answer> run(engine& through, const electorate& whom, base::client_lock& lock,
                                   const std::vector<std::string>& command) HOLDFAST_LOCKED;

    /// The same for one node.
    static answer run_on(engine& through, base::client_lock& lock, core::node_index node,
                         writer write) HOLDFAST_LOCKED;
    static answer run_on(engine& through, base::client_lock& lock, core::node_index node,
                         const std::vector<std::string>& command) HOLDFAST_LOCKED;

  private:
    query(engine& through, const electorate& whom, writer write);

    void ask(base::client_lock& lock) HOLDFAST_LOCKED;
    void encode(tag, bool by_text, std::string& out) override HOLDFAST_LOCKED {
        write_(out, by_text);
    }
    void answered(tag request, std::string_view reply) override HOLDFAST_LOCKED;
    void failed(tag request, const net::failure& why) noexcept override HOLDFAST_LOCKED;
    void acknowledged(tag request) noexcept override HOLDFAST_LOCKED;
    void settle(tag request, answer what) noexcept HOLDFAST_LOCKED;

    engine& engine_;
    electorate whom_;
    writer write_;
    std::vector<answer> answers_;
    std::size_t missing_ = 0;
    bool counts_ = false;  // what was answered, only when it is acknowledged
    waiter waiter_;
};

}  // namespace holdfast::runtime
