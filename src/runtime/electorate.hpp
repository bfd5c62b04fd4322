#pragma once

#include <cstddef>
#include <optional>

#include "core/node_set.hpp"

namespace holdfast::runtime {

/// Who votes on a key: some of the client's nodes, or all of them. The machines of src/core count
/// voters, and know them by their place, from zero on; the client knows its nodes by theirs. This
/// is where the one becomes the other.
///
/// A value. Whoever works on a key asks for it (engine::voters_of()) and keeps it for as long as
/// its requests are under way; who asks later may get another.
class electorate {
  public:
    constexpr explicit electorate(core::node_set members)
        : members_(members), size_(members.size()) {}
    /// One node, whatever its number.
    constexpr explicit electorate(core::node_index only) : only_(only), size_(1) {}

    [[nodiscard]] constexpr std::size_t size() const { return size_; }
    [[nodiscard]] constexpr std::size_t majority() const { return core::majority(size()); }

    /// So many votes decide it.
    [[nodiscard]] constexpr bool carries(std::size_t votes) const { return votes >= majority(); }
    /// Without so many there is no majority.
    [[nodiscard]] constexpr bool prevents(std::size_t votes) const {
        return votes > size() - majority();
    }

    /// All of them, as the machines number them.
    [[nodiscard]] constexpr core::node_set voters() const { return core::node_set::first(size()); }
    /// REQUIRES: one of voters().
    [[nodiscard]] constexpr core::node_index node_of(core::node_index voter) const {
        auto found = only_;
        std::uint16_t place = 0;
        members_.for_each([&](core::node_index node) {
            if (place++ == voter.value) found = node;
        });
        return found;
    }

    /// nullopt: that node has no vote here.
    [[nodiscard]] constexpr std::optional<core::node_index> voter_at(core::node_index node) const {
        core::node_index voter;
        if (members_.empty()) return node == only_ ? std::optional(voter) : std::nullopt;
        if (!members_.contains(node)) return std::nullopt;
        members_.for_each([&](core::node_index each) {
            if (each < node) ++voter.value;
        });
        return voter;
    }

    friend constexpr bool operator==(electorate, electorate) = default;

  private:
    core::node_set members_;  // empty: only_
    core::node_index only_{};
    std::size_t size_;
};

}  // namespace holdfast::runtime
