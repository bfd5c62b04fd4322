#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/explore/small_rules.hpp"

/// Steps taken together, so that far fewer states lie between them.
///
/// A node's own steps (a request arrives, a key expires, a quarantine ends) touch that node and its
/// channels alone; nobody knows of them until an answer is read. An answer that makes its client
/// neither send nor decide anything changes that client alone, and the notes it takes do not depend
/// on the order in which it reads. So every schedule can be rearranged, with the same sends and
/// decisions in the same order, until
///
///   - a node does nothing but directly before one of its answers is read;
///   - a client reads nothing but directly before the answer that makes it act, or, as they would
///     be lost, before its connection to the very node breaks or the node crashes.
///
/// What was written to a connection before it broke may arrive afterwards, so nothing need have
/// arrived before, unless its answer was read. Steps that a settled client, which neither waits for
/// anything nor has anything left to send, could not notice are left out too: its connections
/// need not break. All of this holds with one broken connection; REQUIRES: losses <= 1.
namespace holdfast::sim::small {

class leaps {
  public:
    /// `path`: the steps of the leap. The rules' `broken()` and `acquired()` speak of its last.
    using visitor = std::function<void(const state& after, const std::vector<step>& path)>;

    leaps(rules& of, visitor visit) : rules_(of), visit_(std::move(visit)) {}

    void from(const state& s);

  private:
    /// Everything that a node's own steps touch.
    struct place {
        node_state node{};
        std::uint16_t expiries = 0;
        std::array<channel, clients> link{};
        friend bool operator==(const place& a, const place& b) {
            return std::memcmp(&a, &b, sizeof a) == 0;
        }
    };
    struct visit_to {
        place at{};
        std::vector<step> path{};
    };

    static place take(const state& s, std::uint8_t n);
    static void put(state& s, std::uint8_t n, const place& what);

    /// Calls `then(state)` for each way of the node to have an answer for the client.
    template <typename Then>
    void with_answer(const state& s, std::uint8_t c, std::uint8_t n, Then&& then);
    std::vector<visit_to> ways_to_answer(const state& s, std::uint8_t c, std::uint8_t n);

    /// The same, and the client has read it, where that makes it neither send nor decide.
    template <typename Then>
    void read_quietly(const state& s, std::uint8_t c, std::uint8_t n, Then&& then);

    void read_until_acting(const state& s, std::uint8_t c, std::uint8_t least);
    void lose_after_reading(const state& s, std::uint8_t c, std::uint8_t n);
    void crash_after_reading(const state& s, std::uint8_t n);
    void emit(state s, const step& last);

    rules& rules_;
    visitor visit_;
    std::vector<step> path_;
};

}  // namespace holdfast::sim::small
