#pragma once

#include "scripts/script.hpp"

/// What it takes to read a lock that others may read, too.
namespace holdfast::scripts::shared {

extern const script acquire;        // of several voters
extern const script queue_acquire;  // of one
extern const script commit;
extern const script extend;
extern const script release;
extern const script linger;

}  // namespace holdfast::scripts::shared
