#pragma once

#include "scripts/script.hpp"

/// What it takes to lock several keys at once, all or nothing.
namespace holdfast::scripts::several {

extern const script acquire;        // of several voters
extern const script queue_acquire;  // of one
extern const script commit;
extern const script extend;
extern const script release;
extern const script linger;

}  // namespace holdfast::scripts::several
