#pragma once

#include <exception>
#include <memory>
#include <system_error>
#include <utility>

#include "api/access.hpp"
#include "holdfast/detail/async.hpp"
#include "runtime/operations/failures.hpp"

/// What all asynchronous operations have in common.
namespace holdfast::detail {

/// Or std::bad_alloc, where there is no memory for it.
inline std::exception_ptr exception_for(const net::failure& why) noexcept {
    try {
        throw std::system_error(why.code, why.message);
    } catch (...) {
        return std::current_exception();
    }
}

/// A closed client has no thread that could complete anything.
inline void check_open(runtime::engine& through) HOLDFAST_LOCKED {
    if (through.closed()) throw std::system_error(errc::closed);
    through.driving().require_background();
}

/// An operation under way. It is made before anything is begun, keeps itself until it is over, and
/// then runs its handler in the background thread: no memory is needed to end it.
class operation : public pending, protected runtime::callback {
  public:
    explicit operation(runtime::engine_pointer through) : engine_(std::move(through)) {}

    /// What has been sent cannot be unsent.
    void cancel() noexcept override HOLDFAST_UNLOCKED {}

  protected:
    void begin(std::shared_ptr<operation> self) noexcept HOLDFAST_LOCKED {
        self_ = std::move(self);
        engine_->begin_unattended();
    }
    void end() noexcept HOLDFAST_LOCKED {
        engine_->end_unattended();
        engine_->driving().call_back(*this);
    }
    void forget() noexcept HOLDFAST_LOCKED {
        engine_->end_unattended();
        self_.reset();
    }

    [[nodiscard]] const runtime::engine_pointer& engine() const { return engine_; }

  private:
    void run() final HOLDFAST_UNLOCKED {
        const auto alive = std::move(self_);
        complete();
    }
    virtual void complete() HOLDFAST_UNLOCKED = 0;

    runtime::engine_pointer engine_;
    std::shared_ptr<operation> self_;
};

}  // namespace holdfast::detail
