#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "support/file_descriptor.hpp"

/// The storm: workers that lock through the public library on real servers, a nemesis that breaks
/// these, and a checker that reads afterwards what all of them noted down.
namespace holdfast::storm {

using instant = std::chrono::nanoseconds;  // of CLOCK_BOOTTIME, which all processes share

/// What a line of a history says. `hold` numbers the attempts of one worker, or the faults.
enum class happening : std::uint8_t {
    began,      // an attempt: subject is the key, text how it waits
    acquired,   // token, until; since: when the winning attempt was sent
    denied,     // somebody else held it for as long as we waited
    failed,     // text: the error
    cancelled,  // by its stop_token
    extended,   // the deadline was seen to have moved to `until`
    warned,     // the stop token has fired
    lost,       // lost() was found true
    intends,    // about to write: subject is the register, text "base version"
    wrote,      // accepted: text is the version
    refused,    // by the fenced register, to read or to write
    releasing,  // about to: `until` is the deadline at that time
    released,   // text: what release() said
    left,       // let go without releasing: the key stays until its ttl is over
    shown,      // text: what owner() returned, before or after it was let go
    stalled,    // the process did not run from `since` until now
    struck,     // a fault begins: subject is its targets, text its kind, until its amount
    mended,     // and is over
    phase,      // text: minority, anything, calm, waiters, rush, over
    started,    // a worker: hold is its process id
    ended,      // and is gone for certain: subject is its name
    connected,  // to a server, once more or for the first time
    disconnected,
    seen,      // subject: a key; from `since` until now every look found what text says (sight)
    remained,  // subject: a key that is there although all workers have ended
    cleared,   // none is
};

inline constexpr std::array<std::string_view, 26> happening_names{
    "began",     "acquired",     "denied", "failed",   "cancelled", "extended", "warned",
    "lost",      "intends",      "wrote",  "refused",  "releasing", "released", "left",
    "shown",     "stalled",      "struck", "mended",   "phase",     "started",  "ended",
    "connected", "disconnected", "seen",   "remained", "cleared"};

struct event {
    instant at{};
    happening what{};
    std::uint64_t hold = 0;
    std::string subject{};  // one word
    std::uint64_t token = 0;
    instant until{};
    instant since{};
    std::string text{};  // the rest of the line

    bool operator==(const event&) const = default;
};

/// Everything that one process noted, in its order.
struct history {
    std::string who;
    std::vector<event> events;
};

std::string to_line(const event& noted);
/// Throws std::runtime_error on what no to_line() wrote.
event from_line(const std::string& line);

/// Reads what there is. A last line without its end belongs to a writer that was killed: left out.
history read_history(const std::filesystem::path& file);

instant now();

/// Appends to the history of one process. Every line is with the kernel when note() returns, so
/// that a process which is killed next has said all that it did.
///
/// Thread safety: all members from any thread.
class recorder {
  public:
    explicit recorder(const std::filesystem::path& file);

    void note(event noted);

  private:
    std::mutex mutex_;
    test::file_descriptor file_;
};

}  // namespace holdfast::storm
