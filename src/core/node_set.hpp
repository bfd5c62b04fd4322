#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>

namespace holdfast::core {

inline constexpr std::size_t max_nodes = 15;

/// The position of a node in the list that the client was given, or that of a voter among those
/// of a key. In a Cluster it is the slot, and behind the slots are its servers.
struct node_index {
    std::uint16_t value = 0;
    friend constexpr auto operator<=>(node_index, node_index) = default;
};

constexpr std::size_t majority(std::size_t nodes) { return nodes / 2 + 1; }

/// A set of nodes as a value: what the machines count with, and what their actions name. Of the
/// first `max_nodes`: the voters of a key.
class node_set {
  public:
    constexpr node_set() = default;

    static constexpr node_set first(std::size_t count) {
        return node_set{static_cast<std::uint16_t>((1U << count) - 1U)};
    }
    static constexpr node_set of(node_index node) {
        return node_set{static_cast<std::uint16_t>(1U << node.value)};
    }

    [[nodiscard]] constexpr std::size_t size() const {
        return static_cast<std::size_t>(std::popcount(bits_));
    }
    [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
    [[nodiscard]] constexpr bool contains(node_index node) const {
        return (bits_ >> node.value & 1U) != 0;
    }

    constexpr void insert(node_index node) { *this = *this | of(node); }
    constexpr void erase(node_index node) { *this = *this - of(node); }

    friend constexpr node_set operator|(node_set a, node_set b) {
        return node_set{static_cast<std::uint16_t>(a.bits_ | b.bits_)};
    }
    friend constexpr node_set operator-(node_set a, node_set b) {
        return node_set{static_cast<std::uint16_t>(a.bits_ & ~b.bits_)};
    }
    friend constexpr bool operator==(node_set, node_set) = default;

    /// For `for (const auto node : set)`: the members, lowest first. It goes over what was in the
    /// set when it began.
    class iterator {
      public:
        constexpr explicit iterator(unsigned rest) : rest_(rest) {}
        constexpr node_index operator*() const {
            return {static_cast<std::uint16_t>(std::countr_zero(rest_))};
        }
        constexpr iterator& operator++() {
            rest_ &= rest_ - 1U;
            return *this;
        }
        friend constexpr bool operator==(iterator, iterator) = default;

      private:
        unsigned rest_;
    };
    [[nodiscard]] constexpr iterator begin() const { return iterator(bits_); }
    [[nodiscard]] static constexpr iterator end() { return iterator(0); }

    /// Calls `visit(node_index)` for each of them.
    template <typename Visitor>
    constexpr void for_each(Visitor&& visit) const {
        for (const auto node : *this) visit(node);
    }

  private:
    constexpr explicit node_set(std::uint16_t bits) : bits_(bits) {}

    std::uint16_t bits_ = 0;
};

}  // namespace holdfast::core
