#include <algorithm>
#include <array>

#include "lab/scheme.hpp"

namespace holdfast::lab {

std::span<const scheme_entry> schemes() {
    constexpr bool yes = true;
    constexpr bool no = false;
    // name, summary, nodes, expires, checks owner, vouch, watched, make
    static constexpr std::array<scheme_entry, 14> ladder{{
        {"exists-set", "EXISTS, SET; DEL", 1, no, no, no, no, unsafe::exists_then_set},
        {"setnx-expire", "SETNX, EXPIRE; DEL", 1, yes, no, no, no, unsafe::setnx_then_expire},
        {"getset", "SETNX with the expiry time as value, GETSET; DEL", 1, yes, no, no, no,
         unsafe::expiry_in_value},
        {"lua-setnx", "SETNX and EXPIRE in one script; DEL", 1, yes, no, no, no,
         unsafe::setnx_expire_in_lua},
        {"set-nx", "SET EX NX; DEL", 1, yes, no, no, no, unsafe::set_then_delete},
        {"get-del", "SET NX PX with a unique value; GET, compare, DEL", 1, yes, yes, no, no,
         unsafe::get_then_delete},
        {"lua-del", "SET NX PX with a unique value; compare and DEL in one script", 1, yes, yes, no,
         no, unsafe::delete_in_lua},
        {"renewal", "the same, with a bounded renewal thread and re-entry", 1, yes, yes, no, no,
         unsafe::renewed},
        {"redlock", "Redlock on five servers, in its five steps", 5, yes, yes, no, no,
         unsafe::redlock},
        {"holdfast", "Holdfast on one server", 1, yes, yes, no, no, holdfast_plain},
        {"holdfast-guarded", "Holdfast on one server, with the restart guard", 1, yes, yes, yes, no,
         holdfast_guarded},
        {"holdfast-quorum", "Holdfast on a quorum of five servers", 5, yes, yes, yes, no,
         holdfast_plain},
        {"holdfast-sentinel", "Holdfast on a master with two replicas, behind three Sentinels", 1,
         yes, yes, yes, yes, holdfast_watched},
        {"holdfast-unacked", "the same, without acknowledgement by replicas", 1, yes, yes, yes, yes,
         holdfast_unacknowledged},
    }};
    return ladder;
}

const scheme_entry* find_scheme(std::string_view name) {
    const auto found = std::find_if(schemes().begin(), schemes().end(),
                                    [&](const scheme_entry& each) { return each.name == name; });
    return found == schemes().end() ? nullptr : &*found;
}

}  // namespace holdfast::lab
