#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The ladder: every way to lock with Redis that the lab puts on trial, from EXISTS and SET to a
/// quorum. All but Holdfast's own are here to be broken. They are UNSAFE, are no part of the
/// library, and are written as articles and answers on the web write them: small, idiomatic, and
/// without the repairs that would spoil the lesson.
namespace holdfast::lab {

using std::chrono::milliseconds;

struct grant {
    std::optional<std::uint64_t> token{};  // for the resource; only Holdfast draws one
};

/// One client of one scheme. It runs in a process of its own and knows nothing of the trial.
/// Errors: whatever the connection throws.
class scheme {
  public:
    scheme() = default;
    scheme(const scheme&) = delete;
    scheme& operator=(const scheme&) = delete;
    virtual ~scheme() = default;

    virtual void connect() = 0;
    /// One attempt, no waiting.
    virtual std::optional<grant> acquire(const std::string& key, milliseconds ttl) = 0;
    /// As `finally { unlock(); }` would: also by somebody who does not hold it.
    virtual void release(const std::string& key) = 0;
    /// Whether this client thinks that it holds the lock it was granted. Those who cannot know do.
    virtual bool believes() { return true; }
};

using ports = std::vector<std::uint16_t>;

struct scheme_entry {
    std::string_view name;
    std::string_view summary;
    std::size_t nodes;  // independent servers
    bool expires;       // the lock of a dead holder ends by itself
    bool checks_owner;  // a release looks at who holds the lock
    bool vouch;         // an operator has to say that the servers are new
    bool watched;  // the server has two replicas, and three Sentinels, which clients ask for it
    std::unique_ptr<scheme> (*make)(const ports& servers);  // or Sentinels
};

/// The longest lease of Holdfast's clients, and so the quarantine of a server that may have
/// forgotten some.
inline constexpr milliseconds max_ttl{10'000};
/// What the Sentinels call the master.
inline constexpr auto master_name = "main";

/// In the order of the ladder.
std::span<const scheme_entry> schemes();
const scheme_entry* find_scheme(std::string_view name);

namespace unsafe {
std::unique_ptr<scheme> exists_then_set(const ports& servers);
std::unique_ptr<scheme> setnx_then_expire(const ports& servers);
std::unique_ptr<scheme> expiry_in_value(const ports& servers);
std::unique_ptr<scheme> setnx_expire_in_lua(const ports& servers);
std::unique_ptr<scheme> set_then_delete(const ports& servers);
std::unique_ptr<scheme> get_then_delete(const ports& servers);
std::unique_ptr<scheme> delete_in_lua(const ports& servers);
std::unique_ptr<scheme> renewed(const ports& servers);
std::unique_ptr<scheme> redlock(const ports& servers);
}  // namespace unsafe

std::unique_ptr<scheme> holdfast_plain(const ports& servers);
std::unique_ptr<scheme> holdfast_guarded(const ports& servers);
std::unique_ptr<scheme> holdfast_watched(const ports& sentinels);
std::unique_ptr<scheme> holdfast_unacknowledged(const ports& sentinels);

}  // namespace holdfast::lab
