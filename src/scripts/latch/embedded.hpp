#pragma once

#include "scripts/script.hpp"

/// What a latch consists of at a server.
namespace holdfast::scripts::latch {

extern const script look;
extern const script count_down;

}  // namespace holdfast::scripts::latch
