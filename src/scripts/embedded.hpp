#pragma once

#include "scripts/election/embedded.hpp"
#include "scripts/exclusive/embedded.hpp"
#include "scripts/latch/embedded.hpp"
#include "scripts/script.hpp"
#include "scripts/semaphore/embedded.hpp"
#include "scripts/several/embedded.hpp"
#include "scripts/shared/embedded.hpp"

/// The Lua files of this directory, embedded at build time: those of a kind of lock in a folder of
/// its own, and here what concerns a server as a whole.
namespace holdfast::scripts {

extern const script enlist;

}  // namespace holdfast::scripts
