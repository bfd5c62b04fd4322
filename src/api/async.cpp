#include <system_error>
#include <utility>

#include "api/operation.hpp"
#include "api/release.hpp"

namespace holdfast::detail {
namespace {

class pending_acquire final : public operation {
  public:
    pending_acquire(runtime::engine_pointer through, runtime::acquiring::request what,
                    acquire_done done)
        : operation(std::move(through)),
          done_(std::move(done)),
          what_(new runtime::acquiring(engine(), std::move(what),
                                       [this](runtime::acquiring& over) HOLDFAST_LOCKED {
                                           result_ = over.take_result();
                                           end();
                                       })) {}

    void start(std::shared_ptr<operation> self, clock::time_point now) noexcept HOLDFAST_LOCKED {
        begin(std::move(self));
        what_->start(now);
    }

    void cancel() noexcept override HOLDFAST_UNLOCKED {
        const auto lock = engine()->lock();
        what_->cancel(engine()->now());
        engine()->submit();
    }

  private:
    void complete() override HOLDFAST_UNLOCKED {
        acquisition made;
        auto why = look_at_result(made);
        done_(std::move(why), std::move(made));
    }
    std::exception_ptr look_at_result(acquisition& made) noexcept {
        if (result_.thrown) return std::move(result_.thrown);
        if (result_.failed) return exception_for(*result_.failed);
        try {
            made = access::make(std::move(result_));
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }

    acquire_done done_;
    boost::intrusive_ptr<runtime::acquiring> what_;
    runtime::acquiring::result result_;
};

class pending_release final : public operation {
  public:
    pending_release(const runtime::hold& which, release_done done)
        : operation(which.shared_engine()), done_(std::move(done)) {}

    void start(runtime::hold& which, std::shared_ptr<operation> self) noexcept HOLDFAST_LOCKED {
        begin(std::move(self));
        const auto how = which.release([this](const runtime::releasing& over) HOLDFAST_LOCKED {
            outcome_ = to_public(over.outcome());
            end();
        });
        if (how == runtime::release_path::sent) return;
        outcome_ = to_public(how);
        end();
    }

  private:
    void complete() override HOLDFAST_UNLOCKED { done_(nullptr, outcome_); }

    release_done done_;
    release_result outcome_ = release_result::unknown;
};

class pending_renewal final : public operation {
  public:
    pending_renewal(std::shared_ptr<runtime::hold> which, renew_done done)
        : operation(which->shared_engine()), hold_(std::move(which)), done_(std::move(done)) {}

    /// Throws std::bad_alloc before anything was begun.
    void start(std::chrono::milliseconds ttl, std::shared_ptr<operation> self) HOLDFAST_LOCKED {
        begin(std::move(self));
        try {
            runtime::renewal::start(hold_, ttl, engine()->now(),
                                    [this](const runtime::renewal& over) HOLDFAST_LOCKED {
                                        look_at(over);
                                        end();
                                    });
        } catch (...) {
            forget();
            throw;
        }
    }

  private:
    void look_at(const runtime::renewal& over) noexcept HOLDFAST_LOCKED {
        try {
            check_renewed(*hold_, over);
        } catch (...) {
            why_ = std::current_exception();
        }
    }
    void complete() override HOLDFAST_UNLOCKED { done_(why_); }

    std::shared_ptr<runtime::hold> hold_;
    renew_done done_;
    std::exception_ptr why_;
};

}  // namespace

std::shared_ptr<pending> start_acquire(lockable& which, const acquire_options& how,
                                       clock::time_point give_up_at, acquire_done done) {
    const auto& shared = access::shared(which);
    shared->check_process();
    const auto& engine = shared->engine();
    const wish what{.what = plan_for(which, how), .give_up_at = give_up_at};
    const auto lock = engine->lock();
    check_open(*engine);
    const auto now = engine->now();
    const auto made =
        std::make_shared<pending_acquire>(engine, request_for(what, now), std::move(done));
    made->start(made, now);
    engine->submit();
    engine->driving().attend_by(engine->now());
    return made;
}

std::shared_ptr<pending> start_release(lease& which, release_done done) {
    const auto hold = access::hold_of(which);
    auto& engine = hold->through();
    check_usable(engine);
    const auto lock = engine.lock();
    check_open(engine);
    const auto made = std::make_shared<pending_release>(*hold, std::move(done));
    made->start(*hold, made);
    engine.driving().attend_by(engine.now());
    return made;
}

std::shared_ptr<pending> start_renew(lease& which, std::chrono::milliseconds ttl, renew_done done) {
    const auto hold = access::hold_of(which);
    check_extension(*hold, ttl);
    auto& engine = hold->through();
    const auto lock = engine.lock();
    check_open(engine);
    check_not_ended(*hold);
    const auto made = std::make_shared<pending_renewal>(hold, std::move(done));
    made->start(ttl, made);
    engine.submit();
    engine.driving().attend_by(engine.now());
    return made;
}

}  // namespace holdfast::detail
