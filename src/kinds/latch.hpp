#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "core/time.hpp"
#include "net/failure.hpp"
#include "resp/view.hpp"

/// A latch: no lock, since nobody holds it, and so no kind of one. It is a hash at the user's key,
/// and a string beside it that tells those who wait: src/scripts/latch/find.lua.
namespace holdfast::kinds {

/// Whether it is open, for those who wait to be told.
std::string latch_key(std::string_view name);
/// The latch whose such key this is; empty: it is none.
std::string_view latch_of(std::string_view key);

/// What every request is about.
struct latch_claim {
    std::string_view name;  // with the client's prefix
    std::uint64_t count = 0;
    core::duration ttl{};
    std::string_view
        set_by;  // an id of whoever sets it where it is not there; empty: it is not set
};

/// By text: seldom enough.
void look_at_latch(std::string& out, const latch_claim& which);
/// In the name of `who`, for whom it counts once. REQUIRES: set_by.
void count_down(std::string& out, const latch_claim& which, std::string_view who);

struct latch_found {
    std::uint64_t left = 0;  // 0: it is open
    core::duration remaining{};
    std::string_view set_by;
};
struct latch_missing {};
struct latch_of_another_count {
    std::uint64_t count = 0;
};
using latch_answer = std::variant<latch_found, latch_missing, latch_of_another_count, net::failure>;

/// Of either. The views are parts of the reply.
latch_answer read_latch(resp::view reply);

/// The fields of the hash that are not of somebody who counted down.
inline constexpr std::string_view count_field = "latch";
inline constexpr std::size_t fields_of_its_own = 2;

}  // namespace holdfast::kinds
