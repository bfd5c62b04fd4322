#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "api/access.hpp"
#include "holdfast/detail/async.hpp"
#include "runtime/operations/watching.hpp"

/// To wait for what the servers have to become something: blocking, or not.
namespace holdfast::detail {

/// The wish as it stands now: without time to wait there is one look.
runtime::watching::request look_until(std::shared_ptr<runtime::watched> what,
                                      clock::time_point give_up_at);

/// Blocks until it is over. True: it is what was waited for; false: the time was over. Throws what
/// went wrong.
bool watch(const shared_client& through, runtime::watching::request what,
           std::stop_token stop) HOLDFAST_UNLOCKED;

/// The same, for `done` to be told. As the functions of holdfast/detail/async.hpp.
using watch_done = std::function<void(std::exception_ptr, bool)>;
std::shared_ptr<pending> start_watch(const shared_client& through, runtime::watching::request what,
                                     watch_done done) HOLDFAST_UNLOCKED;

}  // namespace holdfast::detail
