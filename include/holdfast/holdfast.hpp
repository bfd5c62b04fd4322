#pragma once

/// Distributed locks on Redis and Valkey. What is promised, and under which assumptions, is in
/// doc/guarantees.md. For Asio's asynchronous operations include holdfast/asio.hpp too.

#include "holdfast/client.hpp"
#include "holdfast/clock.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/error.hpp"
#include "holdfast/label.hpp"
#include "holdfast/lease.hpp"
#include "holdfast/log.hpp"
#include "holdfast/mutex.hpp"
#include "holdfast/options.hpp"
#include "holdfast/recursive_mutex.hpp"
#include "holdfast/statistics.hpp"
#include "holdfast/version.hpp"
