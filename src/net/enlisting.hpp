#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "core/judge.hpp"
#include "net/failure.hpp"
#include "resp/view.hpp"

/// Enlisting: a server compares the record of its life with its present life, before any vote is
/// asked of it. See src/scripts/enlist.lua.
namespace holdfast::net {

/// Who asks for it, and what for.
enum class enlisting : std::uint8_t {
    unguarded,  // for the floor of the fencing tokens alone
    guarded,    // and for the quarantine of a server that may have forgotten locks
    vouched,    // an operator says that it has none to forget
};

/// Always by text: it is needed once in the life of a connection. `acknowledged`: as many replicas
/// as `group` asks for know that this life is noted; before, no quarantine begins.
void append_enlist(std::string& out, const core::server_facts& of, enlisting how,
                   const core::judge& by, const core::replication& group = {},
                   bool acknowledged = true);

/// Where a slot of a Cluster keeps its record: `holdfast:record:{<slot tag>}`.
std::string slot_record_key(std::uint16_t slot);

/// The same for one slot of a Cluster; `group` is the shard that serves it.
void append_slot_enlist(std::string& out, bool by_text, std::string_view record,
                        const core::server_facts& of, enlisting how, const core::judge& by,
                        const core::replication& group, bool acknowledged);

std::variant<core::enlistment, failure> read_enlist(resp::view reply);

/// What is at the record was not written by any client: only somebody who knows the server can say
/// what it may have forgotten.
failure no_record();

}  // namespace holdfast::net
