#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/fencing_token.hpp"
#include "core/sharing.hpp"
#include "core/time.hpp"
#include "kinds/answers.hpp"
#include "kinds/keys.hpp"
#include "resp/view.hpp"
#include "scripts/script.hpp"

namespace holdfast::kinds {

/// Who votes on a lock.
enum class topology : std::uint8_t {
    one_voter,  // its answer is the outcome
    quorum,     // several, which know nothing of each other
};

/// What every request is about: which lock, for whom, and for how long.
struct claim {
    const keys& of;
    std::string_view owner;
    core::duration ttl{};        // of the lock, from when the server reads it
    core::duration retention{};  // of an idle counter
    std::string_view entry{};    // how its entry in the wait queue begins; empty: it has none
    bool in_line = false;        // and may stand there already
    std::string_view note{};     // what a candidate would lead with
};

/// What a vote draws along with the lock. Without fencing it is ignored.
struct drawing {
    std::uint32_t tokens = 1;
    std::uint64_t floor = 0;  // below it no token may be drawn
};

/// What is left behind where a lock is taken away by force.
struct note {
    std::string_view by, held_by, reason;
};

/// What is locked, and how: an exclusive lock is the first kind. It knows the scripts of its folder
/// in src/scripts, writes their calls and reads their answers, and says with whom its holders share
/// a key. What is done with the answers is the same for all kinds: src/core sees granted, denied
/// and unknown.
///
/// Kinds are immutable and live for ever; a plan names its own. Members may be called from any
/// thread, by whoever writes a request or reads its answer: they neither wait nor keep anything.
/// Writers append one whole command, or throw std::bad_alloc. `by_text`: the script as EVAL with
/// its text, since the server does not know it; where it is not a parameter, it always is.
///
/// How to add one: doc/design.md.
class kind {
  public:
    kind(const kind&) = delete;
    kind& operator=(const kind&) = delete;

    /// For messages: `exclusive`.
    [[nodiscard]] virtual std::string_view name() const = 0;

    /// How its owner tokens begin, by which whoever finds one knows the kind: of four bytes, which
    /// no other kind has (src/kinds/owners.hpp).
    [[nodiscard]] virtual std::string_view owner_start() const = 0;

    /// What the connections of a client that uses it load in their handshake, in this order. What
    /// is not among them is called by text.
    [[nodiscard]] virtual std::span<const scripts::script* const> loads(topology where) const = 0;

    /// With which holders of this process it shares a key. Whoever waits asks the servers only
    /// while it is compatible with all of them, and one that does not wait is denied here.
    [[nodiscard]] virtual core::sharing sharing() const = 0;

    [[nodiscard]] virtual bool allowed_on(topology where) const = 0;
    /// Why it is not, where it is not: said to whoever tries.
    [[nodiscard]] virtual std::string_view why_refused() const { return {}; }

    /// The type of what it keeps at the key, as servers call it. Who finds another one there is
    /// refused by the server, with an error.
    [[nodiscard]] virtual std::string_view stored_as() const { return "string"; }

    /// The lock whose waiters are to ask again when a server says that `changed` did; empty: none
    /// of this kind's keys, or whoever lets go calls the next. A part of `changed`.
    [[nodiscard]] virtual std::string_view woken_by(std::string_view changed) const = 0;

    /// Asks for a vote. A denial tells who holds the lock, and has read what wakes its waiters; or
    /// it has put the claimant in line.
    virtual void acquire(std::string& out, bool by_text, const claim& what,
                         const drawing& draws) const = 0;
    [[nodiscard]] virtual vote_answer read_acquire(resp::view reply) const {
        return read_vote(reply);
    }

    /// Whether there is a cheaper way, for who need not be told anything. It passes the queue.
    [[nodiscard]] virtual bool has_shortcut(const keys&) const { return false; }
    /// REQUIRES: has_shortcut(), for both.
    virtual void acquire_by_shortcut(std::string&, const claim&) const {}
    [[nodiscard]] virtual vote_answer read_shortcut(resp::view reply) const {
        return refused(reply);
    }

    /// The rest is for owners alone, and answered by whether they still are.
    [[nodiscard]] virtual ownership_answer read_ownership(resp::view reply) const {
        return kinds::read_ownership(reply);
    }

    /// Brings the counter up to the token that was chosen. REQUIRES: fenced.
    virtual void commit(std::string& out, bool by_text, const claim& what,
                        core::fencing_token token) const = 0;
    /// Never shortens, never creates.
    virtual void extend(std::string& out, bool by_text, const claim& what) const = 0;
    /// Of one voter it goes to the first in line; whose it is not leaves the line.
    virtual void release(std::string& out, bool by_text, const claim& what) const = 0;
    [[nodiscard]] virtual release_answer read_release(resp::view reply) const {
        return kinds::read_release(reply);
    }

    /// Changes nothing, and is answered in its own way.
    virtual void verify(std::string& out, bool by_text, const claim& what) const = 0;
    [[nodiscard]] virtual ownership_answer read_verify(resp::view reply,
                                                       const claim& what) const = 0;

    /// Leaves the lock to its ttl, exactly so long. Hardly anybody ever needs it, or the next.
    virtual void linger(std::string& out, const claim& what) const = 0;
    /// Releases for somebody else, and keeps a note for `kept_for`.
    virtual void force(std::string& out, const claim& what, core::duration kept_for,
                       const note& why) const = 0;

  protected:
    constexpr kind() = default;
    ~kind() = default;
};

}  // namespace holdfast::kinds
