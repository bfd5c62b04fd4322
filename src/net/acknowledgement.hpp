#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/clock.hpp"
#include "net/enlisting.hpp"
#include "net/failure.hpp"
#include "resp/view.hpp"

namespace holdfast::net {

/// One question to the replicas of a server: do you know all that it has done so far? Knows no
/// socket: three commands out, three replies in.
///
///   write   SET of a key of our own   always goes to the replicas. WAIT asks for the last write of
///                                     its connection: without one, or behind a PING or a read, it
///                                     would confirm nothing (Redis 7.2, Valkey)
///   count   WAIT                      how many replicas have carried the write out, and with it
///                                     all that the server did before
///   life    INFO replication          whether the server is still the master that it was: one that
///                                     was demoted and promoted again has forgotten what came first
///
/// WAIT counts whoever follows the server. A replica that nobody counts as one of the group is no
/// part of any majority: where more follow than the group has, so many acknowledgements are theirs.
///
/// It covers what was carried out before the write was: whoever has heard of that before the write
/// is sent may rely on it.
class acknowledgement {
  public:
    enum class question : std::uint8_t { write, count, life };
    static constexpr std::array all{question::write, question::count, question::life};

    /// What is written.
    struct place {
        std::string key{};
        bool asking = false;  // its slot is on its way to the server: behind ASKING
    };

    struct terms {
        std::size_t needed = 0;     // replicas
        std::size_t members = 0;    // of the group, the server included; 0: not known
        std::size_t strangers = 0;  // that were seen to follow it, and may answer first
        clock::duration timeout{};  // for them to answer in
        place at{};
    };

    static void append(std::string& out, question what, const terms& of);

    void hear(question what, resp::view reply);

    /// What is missing, if anything. REQUIRES: all three are heard. `of`: the life that is meant.
    /// `done`: what the failure says has happened all the same.
    [[nodiscard]] std::optional<failure> why_not(const terms& under, const core::server_facts& of,
                                                 std::string_view done) const;
    /// It was sent elsewhere: in a Cluster the slot of the key is not there, or on its way.
    [[nodiscard]] bool redirected() const { return redirected_; }
    /// The server lives another life than it was asked about: all that is known of it is void.
    [[nodiscard]] bool another_life(const core::server_facts& of) const;
    /// How many follow the server that are not of its group. Where that is more than were waited
    /// for along with the replicas, another question may bring a better answer.
    [[nodiscard]] std::size_t strangers(const terms& under) const;

  private:
    [[nodiscard]] core::server_facts life_after(const core::server_facts& of) const;

    std::optional<failure> refused_;  // the first error among the answers
    bool redirected_ = false;
    std::int64_t count_ = 0;
    std::string replication_;  // the text of INFO
};

}  // namespace holdfast::net
