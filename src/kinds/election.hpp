#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kinds/kind.hpp"

namespace holdfast::kinds {

/// An exclusive lock whose holder leads. Beside it stands who that is, in which term and with which
/// value: written by the script that grants the lock, deleted by the one that releases it
/// (src/scripts/election/note.lua). Whoever takes the same key as a mutex keeps leaders out, and is
/// kept out by them.
///
/// Its claims have a note: the value. REQUIRES: fenced, since the term is the fencing token.
const kind& election() noexcept;

/// Where it is noted who leads.
std::string leader_key(std::string_view lock);

/// What stands there. It counts while the lock has that owner.
struct leader_note {
    std::uint64_t term = 0;
    std::string_view owner;
    std::string_view value;
};

/// `<term>\n<owner>\n<value>`; nullopt: it is none. The views are parts of `text`.
std::optional<leader_note> read_note(std::string_view text);

/// How much of it is read: no note of ours is longer.
std::size_t most_note_bytes();

/// The longest value of a candidate.
inline constexpr std::size_t most_value_bytes = 4096;

/// Deletes the note of an owner whose lock was taken away. By text.
void forget_leader(std::string& out, std::string_view lock, std::string_view owner);

}  // namespace holdfast::kinds
