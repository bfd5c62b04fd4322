#pragma once

#include <exception>
#include <functional>
#include <memory>

#include "holdfast/election.hpp"
#include "holdfast/latch.hpp"
#include "holdfast/lease.hpp"
#include "holdfast/options.hpp"

/// The seam between the compiled library and the templates of holdfast/asio.hpp. Nothing of Boost
/// crosses it, so a consumer may use another version of Boost than the library was built with.
namespace holdfast::detail {

class lockable;

/// An asynchronous operation under way. May be cancelled from any thread, also when it is over.
class pending {
  public:
    virtual ~pending() = default;
    virtual void cancel() noexcept = 0;
};

using acquire_done = std::function<void(std::exception_ptr, acquisition)>;
using release_done = std::function<void(std::exception_ptr, release_result)>;
using renew_done = std::function<void(std::exception_ptr)>;
using wait_done = std::function<void(std::exception_ptr, bool)>;
using next_done = std::function<void(std::exception_ptr, std::optional<leader>)>;

/// Each calls `done` exactly once, from a thread of the client, or throws and never does.
std::shared_ptr<pending> start_acquire(lockable& which, const acquire_options& how,
                                       clock::time_point give_up_at, acquire_done done);
std::shared_ptr<pending> start_release(lease& which, release_done done);
std::shared_ptr<pending> start_renew(lease& which, std::chrono::milliseconds ttl, renew_done done);
std::shared_ptr<pending> start_next(election_observer& by, clock::time_point give_up_at,
                                    next_done done);
std::shared_ptr<pending> start_count_down(latch& which, renew_done done);
std::shared_ptr<pending> start_wait(const latch& which, clock::time_point give_up_at,
                                    wait_done done);

}  // namespace holdfast::detail
