#include <system_error>
#include <utility>

#include "access.hpp"
#include "holdfast/detail/async.hpp"
#include "release.hpp"
#include "runtime/failures.hpp"

namespace holdfast::detail {
namespace {

std::exception_ptr exception_for(const net::failure& why) {
    return std::make_exception_ptr(std::system_error(why.code, why.message));
}

/// Runs `work` and returns what it throws, if it does.
template <typename Work>
std::exception_ptr thrown_by(Work&& work) {
    try {
        work();
        return nullptr;
    } catch (...) {
        return std::current_exception();
    }
}

/// An acquisition that can be cancelled as long as it is under way. Nobody else has to keep either:
/// until it is concluded, the acquisition's listener keeps this, and this the acquisition.
class pending_acquire final : public pending {
  public:
    explicit pending_acquire(runtime::engine_pointer through) : engine_(std::move(through)) {}

    /// REQUIRES: the lock held. `done` keeps this object.
    void start(runtime::plan_pointer what, runtime::acquisition::listener done) {
        what_ = new runtime::acquisition(engine_, {.what = std::move(what)}, std::move(done));
        what_->start(clock::now());
    }

    void cancel() noexcept override {
        const auto lock = engine_->lock();
        what_->cancel(clock::now());
        engine_->submit();
    }

  private:
    runtime::engine_pointer engine_;
    boost::intrusive_ptr<runtime::acquisition> what_;
};

/// With the lock held: a closed client has no thread that could complete anything.
void check_open(const runtime::engine& through) {
    if (through.closed()) throw std::system_error(errc::closed);
}

/// What has been sent cannot be unsent.
class pending_for_good final : public pending {
    void cancel() noexcept override {}
};

}  // namespace

std::shared_ptr<pending> start_acquire(mutex& which, const acquire_options& how,
                                       acquire_done done) {
    const auto& shared = access::shared(which);
    shared->check_process();
    const auto& engine = shared->engine();
    const auto plan = plan_for(which, how);
    const auto lock = engine->lock();
    check_open(*engine);
    engine->begin_unattended();
    const auto handle = std::make_shared<pending_acquire>(engine);
    handle->start(
        plan, [handle, done = std::move(done), raw = engine.get()](runtime::acquisition& over) {
            raw->end_unattended();
            auto result = std::make_shared<runtime::acquisition::result>(over.take_result());
            raw->driving().call_back([done, result] {
                if (result->failed) return done(exception_for(*result->failed), {});
                done(nullptr, access::make(std::move(*result)));
            });
        });
    engine->submit();
    engine->driving().attend_by(clock::now());
    return handle;
}

std::shared_ptr<pending> start_release(lease& which, release_done done) {
    const auto hold = access::hold_of(which);
    auto& engine = hold->through();
    check_usable(engine);
    const auto lock = engine.lock();
    check_open(engine);
    engine.begin_unattended();
    const auto tell = [&engine, done = std::move(done)](release_result outcome) {
        engine.end_unattended();
        engine.driving().call_back([done, outcome] { done(nullptr, outcome); });
    };
    const auto how = begin_release(
        *hold, [tell](const runtime::releasing& over) { tell(to_public(over.outcome())); });
    if (how != parting::sent) tell(to_public(how));
    engine.driving().attend_by(clock::now());
    return std::make_shared<pending_for_good>();
}

std::shared_ptr<pending> start_renew(lease& which, std::chrono::milliseconds ttl, renew_done done) {
    const auto hold = access::hold_of(which);
    check_extension(*hold, ttl);
    auto& engine = hold->through();
    const auto lock = engine.lock();
    check_open(engine);
    engine.begin_unattended();
    runtime::renewal::start(hold, ttl, clock::now(),
                            [&engine, hold, done = std::move(done)](const runtime::renewal& over) {
                                engine.end_unattended();
                                const auto why = thrown_by([&] { check_renewed(*hold, over); });
                                engine.driving().call_back([done, why] { done(why); });
                            });
    engine.submit();
    engine.driving().attend_by(clock::now());
    return std::make_shared<pending_for_good>();
}

}  // namespace holdfast::detail
