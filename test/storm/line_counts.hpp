#pragma once

#include "storm/account.hpp"

namespace holdfast::storm {

/// What has happened in and around the wait queues, as far as it was seen.
struct line_counts {
    std::size_t looks = 0;         // states, of all keys
    std::size_t in_line = 0;       // attempts that were seen in line
    std::size_t granted = 0;       // and then as owner
    std::size_t longest = 0;       // line
    std::size_t fair = 0;          // leases of fair callers
    std::size_t timed_out = 0;     // waits
    std::size_t cancelled = 0;     // waits
    std::size_t frozen_first = 0;  // workers that were stopped, and seen first in line meanwhile
    std::size_t killed_first = 0;  // workers that were killed, and seen in line when dead
};

line_counts count_lines(const account& all);

}  // namespace holdfast::storm
