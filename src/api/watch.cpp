#include "api/watch.hpp"

#include <utility>

#include "api/operation.hpp"

namespace holdfast::detail {
namespace {

using runtime::watching;

// As of an acquire: the stop callback takes the engine's lock, and its destructor waits for it.
void wait_for(watching& operation, runtime::engine& engine, runtime::waiter& caller,
              base::client_lock& lock, std::stop_token stop) HOLDFAST_LOCKED {
    if (!stop.stop_possible()) return engine.driving().wait(lock, caller);
    lock.unlock();
    {
        const std::stop_callback give_up(std::move(stop), [&] {
            const auto held = engine.lock();
            operation.cancel();
        });
        lock.lock();
        engine.driving().wait(lock, caller);
        lock.unlock();
    }
    lock.lock();
}

class pending_watch final : public operation {
  public:
    pending_watch(runtime::engine_pointer through, watching::request what, watch_done done)
        : operation(std::move(through)),
          done_(std::move(done)),
          what_(new watching(engine(), std::move(what), [this](watching& over) HOLDFAST_LOCKED {
              result_ = over.take_result();
              end();
          })) {}

    void start(std::shared_ptr<operation> self, clock::time_point now) noexcept HOLDFAST_LOCKED {
        begin(std::move(self));
        what_->start(now);
    }

    void cancel() noexcept override HOLDFAST_UNLOCKED {
        const auto lock = engine()->lock();
        what_->cancel();
    }

  private:
    void complete() override HOLDFAST_UNLOCKED {
        auto why = std::move(result_.thrown);
        if (result_.failed) why = exception_for(*result_.failed);
        done_(std::move(why), result_.how == watching::outcome::satisfied);
    }

    watch_done done_;
    boost::intrusive_ptr<watching> what_;
    watching::result result_;
};

}  // namespace

runtime::watching::request look_until(std::shared_ptr<runtime::watched> what,
                                      clock::time_point give_up_at) {
    const bool waits = give_up_at > clock::now();
    return {.what = std::move(what),
            .waits = waits,
            .give_up_at = waits ? give_up_at : clock::time_point::max()};
}

bool watch(const shared_client& through, watching::request what, std::stop_token stop) {
    through.check_process();
    auto& engine = *through.engine();
    runtime::waiter caller(engine.driving());
    watching::result result;
    {
        boost::intrusive_ptr<watching> operation;
        auto lock = engine.lock();
        engine.driving().require_background();  // who keeps the time
        operation = new watching(through.engine(), std::move(what), [&](watching&) HOLDFAST_LOCKED {
            engine.driving().finished(caller);
        });
        engine.driving().will_wait();
        operation->start(engine.now());
        wait_for(*operation, engine, caller, lock, std::move(stop));
        result = operation->take_result();
        lock.unlock();
    }
    if (result.thrown) std::rethrow_exception(result.thrown);
    if (result.failed) runtime::raise(*result.failed);
    return result.how == watching::outcome::satisfied;
}

std::shared_ptr<pending> start_watch(const shared_client& through, watching::request what,
                                     watch_done done) {
    through.check_process();
    const auto& engine = through.engine();
    const auto lock = engine->lock();
    check_open(*engine);
    const auto made = std::make_shared<pending_watch>(engine, std::move(what), std::move(done));
    made->start(made, engine->now());
    engine->submit();
    engine->driving().attend_by(engine->now());
    return made;
}

}  // namespace holdfast::detail
