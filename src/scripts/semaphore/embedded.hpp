#pragma once

#include "scripts/script.hpp"

/// What it takes to hold one of several permits.
namespace holdfast::scripts::semaphore {

extern const script acquire;
extern const script extend;
extern const script force;
extern const script release;
extern const script set_limit;

}  // namespace holdfast::scripts::semaphore
