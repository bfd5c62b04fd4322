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
/// It covers what was carried out before the write was: whoever has heard of that before the write
/// is sent may rely on it.
class acknowledgement {
  public:
    enum class question : std::uint8_t { write, count, life };
    static constexpr std::array all{question::write, question::count, question::life};

    struct terms {
        std::size_t needed = 0;     // replicas
        clock::duration timeout{};  // for them to answer in
        std::string key{};          // that is written
    };

    static void append(std::string& out, question what, const terms& of);

    void hear(question what, resp::view reply);

    /// What is missing, if anything. REQUIRES: all three are heard. `of`: the life that is meant.
    /// `done`: what the failure says has happened all the same.
    [[nodiscard]] std::optional<failure> why_not(const terms& under, const core::server_facts& of,
                                                 std::string_view done) const;
    /// The server lives another life than it was asked about: all that is known of it is void.
    [[nodiscard]] bool another_life(const core::server_facts& of) const;

  private:
    [[nodiscard]] core::server_facts life_after(const core::server_facts& of) const;

    std::optional<failure> refused_;  // the first error among the answers
    std::int64_t count_ = 0;
    std::string replication_;  // the text of INFO
};

}  // namespace holdfast::net
