#pragma once

#include <memory>

#include "runtime/driving/environment.hpp"

/// The environment that ships: poll, futexes, Asio, OpenSSL, getrandom and CLOCK_BOOTTIME.
namespace holdfast::platform {

/// For one client. A forked child has clients, and so environments, of its own.
std::shared_ptr<runtime::environment> make_environment();

}  // namespace holdfast::platform
