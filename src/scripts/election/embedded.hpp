#pragma once

#include "scripts/script.hpp"

/// What an election has beyond an exclusive lock: the note of who leads.
namespace holdfast::scripts::election {

extern const script acquire;        // of several voters, as commit and release
extern const script queue_acquire;  // of one, as queue_release
extern const script commit;
extern const script release;
extern const script queue_release;
extern const script forget;

}  // namespace holdfast::scripts::election
