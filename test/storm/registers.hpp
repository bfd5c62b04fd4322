#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "support/raw_client.hpp"

namespace holdfast::storm {

/// A key of their server: as long as it is there everybody is after the popular lock.
inline constexpr auto rush_key = "rush";

/// What the locks protect: per key a plain register, which takes whatever is written, and a fenced
/// one, which refuses tokens below the highest that it has seen. A holder that reads shows its
/// token too: otherwise a late write could still slip in between the read and the write of its
/// successor. They live in a server that the nemesis leaves alone.
///
/// Thread safety: one object from one thread at a time.
/// Errors: std::runtime_error; nothing here is expected to fail.
class registers {
  public:
    explicit registers(std::uint16_t port);

    std::string read_plain(const std::string& key);
    void write_plain(const std::string& key, const std::string& version);

    std::optional<std::string> read_fenced(const std::string& key, std::uint64_t token);
    bool write_fenced(const std::string& key, std::uint64_t token, const std::string& version);

    /// Whether everybody is to be after the popular lock all the time.
    bool rush();

  private:
    test::reply ask(const std::vector<std::string>& arguments);

    test::raw_client server_;
};

}  // namespace holdfast::storm
