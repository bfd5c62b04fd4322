#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "holdfast/operate.hpp"
#include "runtime/electorate.hpp"
#include "runtime/engine.hpp"

namespace holdfast::detail {

/// How much of a wait queue is read: its length alone, or who stands there as well.
enum class queue_view : std::uint8_t { length, entries };

/// Notes in `status` who stands in line for the lock `name`, a whole key. Throws nothing that has
/// to do with the queue: what cannot be read is not known, and no_waiters says why.
void read_queue(lock_status& status, runtime::engine& engine, const runtime::electorate& whom,
                const std::string& name, queue_view how_much);

/// One entry of a queue: `<channel> <since> <owner>`, with single spaces, since when in
/// microseconds of the server's clock (0: not known), and an owner token of ours. Anything else is
/// somebody without a name.
lock_status::waiter read_entry(std::string_view entry);

}  // namespace holdfast::detail
