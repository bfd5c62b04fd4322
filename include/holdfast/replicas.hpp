#pragma once

#include <cstddef>
#include <cstdint>

#include "holdfast/detail/language.hpp"

namespace holdfast {

/// How many replicas of a server have to acknowledge a grant before it counts: see
/// options::replica_acks. A plain value.
///
///   none()       no replica is asked
///   majority()   so many that they and the master are a majority of the group
///   all()        every replica of the group
///   exactly(n)   n replicas, however many there are. Where that is a majority of a group that has
///                grown, it may take more: doc/guarantees.md
///
/// The group is a master and its replicas, those that are down included. A majority of it, or all
/// of it, can be asked for only where its size is known: not at the address of a single server.
class replicas {
  public:
    enum class kind : std::uint8_t { none, majority, all, exactly };

    [[nodiscard]] static constexpr replicas none() { return {kind::none, 0}; }
    [[nodiscard]] static constexpr replicas majority() { return {kind::majority, 0}; }
    [[nodiscard]] static constexpr replicas all() { return {kind::all, 0}; }
    /// REQUIRES: up to max_replica_acks. Of 0 it is none().
    [[nodiscard]] static constexpr replicas exactly(std::size_t count) {
        return {count == 0 ? kind::none : kind::exactly, count};
    }

    [[nodiscard]] constexpr kind how() const { return kind_; }
    /// Of exactly().
    [[nodiscard]] constexpr std::size_t count() const { return count_; }
    /// Whether the size of the group has to be known.
    [[nodiscard]] constexpr bool needs_group() const {
        return kind_ == kind::majority || kind_ == kind::all;
    }

    friend constexpr bool operator==(const replicas&, const replicas&) = default;

  private:
    constexpr replicas(kind how, std::size_t count) : kind_(how), count_(count) {}

    kind kind_;
    std::size_t count_;
};

}  // namespace holdfast
