#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "core/fencing_token.hpp"
#include "core/time.hpp"
#include "net/failure.hpp"
#include "resp/view.hpp"

/// What the answers of servers mean, whatever the kind of lock. The numbers that scripts return
/// have their names here.
namespace holdfast::kinds {

struct granted {
    core::fencing_token counter;
    std::uint32_t slot = 0;  // of a semaphore
};
struct denied {
    std::string_view owner;    // empty: not told
    core::duration remaining;  // negative: for ever, or not told
    std::size_t place = 0;     // in line; 0: in none
};
/// Of a request for a vote: granted, denied, or none of these.
using vote_answer = std::variant<granted, denied, net::failure>;

/// `[1, counter]`, `[0, owner, milliseconds left]` or `[0, owner, milliseconds left, place]`.
vote_answer read_vote(resp::view reply);

/// Of all that only the owner may do: done, or not the owner any more.
enum class ownership : std::uint8_t { ours, not_ours };
using ownership_answer = std::variant<ownership, net::failure>;

/// `1` or `0`.
ownership_answer read_ownership(resp::view reply);

/// Of a release.
enum class release_found : std::uint8_t {
    not_ours,
    released,   // nobody stood in line
    passed_on,  // it was granted to the next in line
};
using release_answer = std::variant<release_found, net::failure>;

/// `0`, `1` or `2`.
release_answer read_release(resp::view reply);

/// What an answer means that is no vote: an error, or nothing that a script of ours says.
net::failure refused(resp::view reply);

}  // namespace holdfast::kinds
