#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "storm/faults.hpp"
#include "storm/history.hpp"

namespace holdfast::storm {

/// Who acts: a thread of a worker. Threads of one worker share a client, and stand still together.
struct actor {
    std::string worker;
    std::size_t thread = 0;

    auto operator<=>(const actor&) const = default;
};

inline constexpr std::size_t threads_per_worker = 3;
constexpr std::size_t thread_of(std::uint64_t hold) { return hold % threads_per_worker; }

std::string to_string(const actor& who);

/// One lease, from the wish for it to its end.
struct hold {
    actor who{};
    std::uint64_t number = 0;
    std::string key{};
    bool fair = false;
    instant began{};     // the caller asked
    instant asked{};     // the attempt that won was sent; perhaps by another, who handed it off
    instant acquired{};  // the caller had it
    std::uint64_t token = 0;
    instant deadline{};                   // the last that the holder saw
    std::optional<instant> let_go{};      // release was called; or nothing
    std::optional<instant> answered{};    // release had returned
    std::string outcome{};                // what it said
    std::optional<instant> warned{};      // the loss was announced
    std::optional<instant> found_lost{};  // and seen
    bool left = false;
    bool handed_off = false;           // by an earlier holder of the same process
    bool handed_on = false;            // to a later one
    std::vector<std::string> shown{};  // what owner() returned, whenever it was asked

    /// T2 counts from here: a token is drawn after its holder asked, and for all who were in line
    /// when the attempt was sent.
    [[nodiscard]] instant ordered_from() const { return std::max(began, asked); }

    /// Validity, as doc/guarantees.md has it: it ends with the deadline or the call of release.
    [[nodiscard]] instant valid_to() const {
        return let_go && *let_go < deadline ? *let_go : deadline;
    }
};

enum class write_state : std::uint8_t { accepted, refused, unknown };  // unknown: killed meanwhile

struct write {
    std::size_t hold = 0;  // index into account::holds
    std::string where{};   // the register
    std::string base{};    // the version that the writer had read
    std::string version{};
    instant intended{};
    instant done{};
    write_state state = write_state::unknown;
};

struct fault {
    fault_kind kind{};
    std::string targets{};
    instant begin{};
    instant end{};
    instant amount{};  // of a jump

    /// Whether this worker, "wN", is among the targets, "workers:N+M".
    [[nodiscard]] bool strikes(const std::string& worker) const;
};

struct phase {
    std::string kind{};
    instant begin{};
    instant end{};
};

enum class wait_end : std::uint8_t { acquired, denied, failed, cancelled, never };

/// A wish for a lock, until it was granted, denied or had failed; `never`: until the end of it all.
struct wait {
    actor who{};
    std::string key{};
    instant began{};
    instant ended{};
    wait_end how = wait_end::never;
    bool fair = false;
};

/// One process of a worker.
struct life {
    std::string worker{};
    std::uint64_t process = 0;
    instant begin{};
    instant end = instant::max();  // it is gone at the latest then
};

/// An owner token: the label and the process that it names, and what makes it its own.
struct claimant {
    std::string worker{};  // empty: nobody
    std::uint64_t process = 0;
    std::string nonce{};
    bool callable = true;  // in line: somebody listens to its channel

    [[nodiscard]] bool nobody() const { return worker.empty(); }
    /// Of the same attempt.
    [[nodiscard]] bool same(const claimant& other) const {
        return worker == other.worker && process == other.process && nonce == other.nonce;
    }
};

/// "worker:process:nonce", with a `!` behind it if nobody listens; "-" for nobody.
std::string to_word(const claimant& who);
claimant claimant_from(std::string word);

/// Who owned a lock and who stood in line for it, in order, whenever the server was asked from
/// `begin` to `end`; two looks are no more than `longest_between_looks` apart.
struct sight {
    std::string key{};
    instant begin{};  // before the first look
    instant end{};    // after the last
    claimant owner{};
    std::vector<claimant> line{};

    [[nodiscard]] const claimant* find(const claimant& who) const;
};

inline constexpr std::chrono::milliseconds longest_between_looks{250};

struct stall {
    std::string worker{};
    instant begin{};
    instant end{};
};

/// What happened, put together from what each process noted.
struct account {
    std::vector<hold> holds{};  // in the order of their acquisition
    std::vector<write> writes{};
    std::vector<fault> faults{};
    std::vector<phase> phases{};
    std::vector<stall> stalls{};
    std::vector<wait> waits{};
    std::vector<life> lives{};
    std::vector<sight> sights{};                          // by time
    std::map<std::string, std::vector<instant>> links{};  // when each worker got or lost one
    std::vector<std::string> remained{};                  // keys, after the end
    std::set<actor> actors{};                             // all who ever wished for a lock
    std::map<happening, std::size_t> counts{};
    instant begin{};
    instant end{};
};

account reconstruct(const std::vector<history>& histories);

}  // namespace holdfast::storm
