#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/access.hpp"
#include "runtime/engine.hpp"
#include "runtime/operations/acquiring.hpp"
#include "unit/support/world.hpp"

namespace holdfast::testing {

/// What an acquisition came to; nothing of it is there before.
struct pending_result {
    bool done = false;
    acquisition made{};  // a lease, or who has the lock
    std::optional<net::failure> failed{};
    boost::intrusive_ptr<runtime::acquiring> operation{};
};

/// A client as it ships, but for its environment: all that is asynchronous in it, without threads.
class client_in_memory {
  public:
    client_in_memory(world& in, options settings, std::uint64_t seed = 1)
        : world_(in),
          around(std::make_shared<memory_environment>(in, seed)),
          engine(std::make_shared<runtime::engine>(around, std::move(settings))) {}
    ~client_in_memory() { engine->close(); }
    client_in_memory(const client_in_memory&) = delete;
    client_in_memory& operator=(const client_in_memory&) = delete;

    /// Begins; the world has to go on for anything to come of it.
    std::shared_ptr<pending_result> start(const std::string& key, const acquire_options& how = {},
                                          bool waits = true,
                                          core::time_point give_up_at = core::never) {
        auto result = std::make_shared<pending_result>();
        const auto lock = engine->lock();
        engine->driving().require_background();
        engine->begin_unattended();
        const auto now = engine->now();
        result->operation =
            new runtime::acquiring(engine,
                                   {.what = runtime::make_plan(engine->settings(), key, how),
                                    .waits = waits,
                                    .give_up_at = give_up_at},
                                   [this, result](runtime::acquiring& over) {
                                       engine->end_unattended();
                                       // Nobody wants it any more: released with the lock held
                                       // it would wait for itself.
                                       if (result.use_count() == 1) unwanted_.push_back(result);
                                       auto came = over.take_result();
                                       result->failed = came.failed;
                                       result->made = detail::access::make(std::move(came));
                                       result->done = true;
                                   });
        result->operation->start(now);
        engine->submit();
        engine->driving().attend_by(now);
        return result;
    }

    /// Lets the world go on until it is decided.
    std::shared_ptr<pending_result> acquire(const std::string& key, const acquire_options& how = {},
                                            bool waits = true) {
        auto result = start(key, how, waits);
        while (!result->done && world_.step()) {
        }
        return result;
    }

    /// As a thread does that waits, and goes.
    acquisition acquire_blocking(const std::string& key, const acquire_options& how = {}) {
        runtime::waiter caller(engine->driving());
        auto lock = engine->lock();
        engine->driving().require_background();
        const auto now = engine->now();
        const boost::intrusive_ptr<runtime::acquiring> operation(new runtime::acquiring(
            engine, {.what = runtime::make_plan(engine->settings(), key, how)},
            [&](runtime::acquiring&) { engine->driving().finished(caller); }));
        engine->driving().will_wait();
        operation->start(now);
        engine->submit();
        engine->driving().wait(lock, caller);
        return detail::access::make(operation->take_result());
    }

    void cancel(pending_result& which) {
        const auto lock = engine->lock();
        which.operation->cancel(engine->now());
        engine->submit();
    }

  private:
    world& world_;
    std::vector<std::shared_ptr<pending_result>> unwanted_;

  public:
    std::shared_ptr<memory_environment> around;
    runtime::engine_pointer engine;
};

inline options at(std::vector<std::string> urls) {
    options settings;
    settings.urls = std::move(urls);
    return settings;
}

}  // namespace holdfast::testing
