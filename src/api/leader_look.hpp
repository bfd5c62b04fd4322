#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/election.hpp"
#include "runtime/operations/watching.hpp"

namespace holdfast::detail {

/// Who leads, as a majority has it: the owner of the lock, where that is who was noted. Satisfied
/// by anybody else than is known.
class leader_look final : public runtime::watched {
  public:
    /// `lock` with the client's prefix. nullopt: nothing is known.
    leader_look(std::string lock, std::optional<leader> known);

    [[nodiscard]] const leader& found() const { return found_; }

    [[nodiscard]] const std::string& lock() const override { return lock_; }
    [[nodiscard]] const std::string& key() const override { return note_; }
    [[nodiscard]] std::size_t questions() const override { return 3; }
    void ask(std::size_t question, bool by_text, std::string& out) const override;
    finding judge(runtime::engine& through, const runtime::electorate& of,
                  const answers& all) override HOLDFAST_LOCKED;

  private:
    std::string lock_;
    std::string note_;
    std::optional<leader> known_;
    leader found_;
};

/// Elects from what single voters say of who leads. nullopt: one that said nothing, which may be
/// anything. Empty: so many are silent that it is not known.
std::optional<leader> elect_leader(const std::vector<std::optional<leader>>& said,
                                   const runtime::electorate& of);

/// Who leads by what one voter has at the lock and beside it.
leader leader_noted(std::string_view note, std::string_view lock);

}  // namespace holdfast::detail
