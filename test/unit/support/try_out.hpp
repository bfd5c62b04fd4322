#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/operations/attempt.hpp"
#include "unit/support/client_in_memory.hpp"
#include "unit/support/stub_server.hpp"

namespace holdfast::testing {

using namespace std::chrono_literals;

/// One attempt of a client, at one server or at three.
class try_out final : private runtime::attempt::listener {
  public:
    using attempt = runtime::attempt;
    using verdict = core::acquire::verdict;

    explicit try_out(std::size_t count = 1, bool guarded = false) {
        options settings;
        for (std::size_t n = 0; n < count; ++n) {
            const auto host = "redis" + std::to_string(n);
            servers.push_back(std::make_unique<stub_server>(here, host + ":6379"));
            settings.urls.push_back("redis://" + host);
        }
        settings.restart_guard = guarded;
        client = std::make_unique<client_in_memory>(here, settings);
    }
    ~try_out() { client->engine->close(); }
    try_out(const try_out&) = delete;
    try_out& operator=(const try_out&) = delete;

    stub_server& server(std::size_t which = 0) { return *servers[which]; }
    runtime::engine& through() { return *client->engine; }

    /// So that nobody has to wait for the others first.
    try_out& connect() {
        EXPECT_TRUE(client->acquire("another")->made);
        for (const auto& each : servers) each->forget_asked();
        return *this;
    }
    attempt& start(const acquire_options& how = {}, attempt::manner manner = {}) {
        const auto lock = through().lock();
        made = new attempt(through(), runtime::make_plan(through().settings(), "key", how), manner,
                           *this, place);
        made->start(here.now());
        through().submit();
        through().driving().attend_by(through().overdue_at());
        return *made;
    }
    /// Within the time for one answer.
    verdict run(const acquire_options& how = {}, attempt::manner manner = {}) {
        start(how, manner);
        here.run_for(1s);
        return outcome;
    }
    /// Denied, and in line: what the next attempt goes on with.
    void stand_in_line(const acquire_options& how = {}) {
        EXPECT_EQ(run(how, {.waits = true}), verdict::contended);
        const auto lock = through().lock();
        place = made->give_place();
        EXPECT_TRUE(place);
    }
    void cancel() {
        const auto lock = through().lock();
        made->cancel(here.now());
        through().submit();
    }

    testing::world here;
    std::vector<std::unique_ptr<stub_server>> servers;
    std::unique_ptr<client_in_memory> client;
    boost::intrusive_ptr<attempt> made;
    std::optional<attempt::place> place;  // for the next
    verdict outcome = verdict::none;
    int decisions = 0;
    core::time_point decided_at{};

  private:
    void decided(const attempt& what, core::time_point now) noexcept override {
        outcome = what.outcome();
        ++decisions;
        decided_at = now;
    }
    [[nodiscard]] core::hand_off_batch batch() const override { return {}; }
};

}  // namespace holdfast::testing
