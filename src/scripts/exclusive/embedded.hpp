#pragma once

#include "scripts/script.hpp"

/// What an exclusive lock consists of at a server.
namespace holdfast::scripts::exclusive {

extern const script acquire;        // of several voters, as release
extern const script queue_acquire;  // of one, as queue_release
extern const script commit;
extern const script extend;
extern const script release;
extern const script queue_release;
extern const script force;
extern const script linger;

}  // namespace holdfast::scripts::exclusive
