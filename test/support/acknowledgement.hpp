#pragma once

#include <cstddef>
#include <string>

#include "support/redis_server.hpp"

namespace holdfast::test {

/// Waits until so many replicas acknowledge what this server writes: one that is said to be online
/// may not be sent anything for up to a second more. `password`: of the default user.
/// Throws std::runtime_error where they do not get there.
void await_acknowledgement(const redis_server& by, std::size_t replicas,
                           const std::string& password = {});

}  // namespace holdfast::test
