#include "runtime/operations/hold.hpp"

#include <gtest/gtest.h>

#include <stop_token>

#include "api/release.hpp"
#include "unit/support/client_in_memory.hpp"
#include "unit/support/stub_server.hpp"

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;
using testing::client_in_memory;
using testing::stub_server;

constexpr auto ttl = 9s;
constexpr auto guard = 92ms;  // 9 s times one per cent, and two milliseconds
constexpr auto notice = 1500ms;

/// A lease of one client, at one server.
class holding {
  public:
    explicit holding(acquire_options how = {.ttl = ttl}) {
        begin = here.now();
        lease = std::move(client.acquire("key", how)->made);
        EXPECT_TRUE(lease);
        announced = std::make_unique<callback>(lease->stop_token(), [this] {
            announced_at = here.now();
            lost_when_announced = lease->lost();
        });
    }
    ~holding() { announced.reset(); }
    holding(const holding&) = delete;
    holding& operator=(const holding&) = delete;

    [[nodiscard]] core::duration valid_for() const { return lease->valid_until() - begin; }
    [[nodiscard]] core::duration announced_after() const { return announced_at - begin; }
    [[nodiscard]] statistics counted() const { return client.engine->counters(); }

    using callback = std::stop_callback<std::function<void()>>;

    testing::world here;
    stub_server server{here, "redis:6379"};
    client_in_memory client{here, testing::at({"redis://redis"})};
    core::time_point begin;
    holdfast::acquisition lease;
    core::time_point announced_at = core::never;
    bool lost_when_announced = false;
    std::unique_ptr<callback> announced;
};

TEST(hold, is_believed_for_its_ttl_less_the_guard) {
    holding with;
    EXPECT_EQ(with.valid_for(), ttl - guard);
}

TEST(hold, is_renewed_every_third_of_its_ttl_and_believed_from_when_that_was_asked) {
    holding with;
    with.here.run_for(2990ms);
    EXPECT_EQ(with.server.count("extend"), 0);
    with.here.run_for(20ms);
    EXPECT_EQ(with.server.count("extend"), 1);
    EXPECT_GE(with.valid_for(), 2990ms + ttl - guard);
    EXPECT_LE(with.valid_for(), 3010ms + ttl - guard);
    with.here.run_for(1min);
    EXPECT_FALSE(with.lease->lost());
    EXPECT_EQ(with.announced_at, core::never);
    EXPECT_EQ(with.server.count("extend"), 21);
    EXPECT_EQ(with.counted().renewed, 21U);
}

TEST(hold, whose_renewal_is_due_when_it_is_granted_is_given_to_its_holder_first) {
    testing::world here;
    stub_server server{here, "redis:6379"};
    client_in_memory client{here, testing::at({"redis://redis"})};
    EXPECT_TRUE(client.acquire("another")->made);
    server.answer_once("queue_acquire", "");
    const auto& engine = client.engine;
    std::optional<bool> renewed;
    std::shared_ptr<hold> won;
    {
        const auto lock = engine->lock();
        engine->begin_unattended();
        const boost::intrusive_ptr<acquiring> operation(
            new acquiring(engine, {.what = make_plan(engine->settings(), "key", {.ttl = 500ms})},
                          [&](acquiring& over) {
                              engine->end_unattended();
                              won = over.take_result().won;
                              renewed = !won->gained().unchanged;
                          }));
        operation->start(engine->now());
        engine->submit();
    }
    here.run_for(190ms);
    client.around->streams().back()->say("*2\r\n:1\r\n:7\r\n");
    here.settle();
    EXPECT_EQ(renewed, false);
    EXPECT_EQ(server.count("extend"), 1);
    ASSERT_TRUE(won);
    detail::detach(*won);
}

TEST(hold, is_renewed_also_after_the_caller_that_waited_for_it_has_gone) {
    testing::world here;
    stub_server server(here, "redis:6379");
    client_in_memory client(here, testing::at({"redis://redis"}));
    const auto lease = client.acquire_blocking("key", {.ttl = ttl});
    ASSERT_TRUE(lease);
    here.run_for(1min);
    EXPECT_FALSE(lease->lost());
    EXPECT_GT(server.count("extend"), 18);
}

TEST(hold, that_another_has_is_lost_as_soon_as_a_renewal_finds_that) {
    holding with;
    with.server.put("key", "somebody", 1h);
    with.here.run_for(3010ms);
    EXPECT_TRUE(with.lease->lost());
    EXPECT_TRUE(with.lost_when_announced);
    EXPECT_LE(with.announced_after(), 3010ms);
    EXPECT_EQ(with.counted().lost, 1U);
    with.here.run_for(1min);
    EXPECT_EQ(with.server.count("extend"), 1) << "and is not asked for again";
    EXPECT_EQ(with.server.owner_of("key"), "somebody");
}

TEST(hold, that_is_not_renewed_is_announced_before_its_deadline_and_lost_at_it) {
    holding with({.ttl = ttl, .renew = false});
    with.here.run_until(with.begin + ttl - guard - notice - 1ns);
    EXPECT_EQ(with.announced_at, core::never);
    with.here.run_for(1ns);
    EXPECT_EQ(with.announced_after(), ttl - guard - notice);
    EXPECT_FALSE(with.lost_when_announced);
    with.here.run_until(with.begin + ttl - guard - 1ns);
    EXPECT_FALSE(with.lease->lost());
    EXPECT_EQ(with.counted().lost, 0U);
    with.here.run_for(1ns);
    EXPECT_TRUE(with.lease->lost());
    EXPECT_EQ(with.counted().lost, 1U);
    EXPECT_EQ(with.server.count("extend"), 0);
}

TEST(hold, whose_renewals_are_not_answered_is_announced_in_time) {
    holding with;
    with.server.answer("extend", "");
    with.here.run_for(1min);
    EXPECT_EQ(with.announced_after(), ttl - guard - notice);
    EXPECT_FALSE(with.lost_when_announced);
    EXPECT_TRUE(with.lease->lost());
    EXPECT_EQ(with.valid_for(), ttl - guard);
    EXPECT_GT(with.server.count("extend"), 1) << "it was tried again";
}

TEST(hold, whose_renewals_are_refused_is_announced_in_time) {
    for (const auto* refusal : {"-LOADING Redis is loading\r\n", "-OOM command not allowed\r\n",
                                "-BUSY Redis is busy\r\n", "-MISCONF Redis is configured\r\n",
                                "-NOPERM no permissions\r\n", "+OK\r\n"}) {
        holding with;
        with.server.answer("extend", refusal);
        with.here.run_for(1min);
        EXPECT_EQ(with.announced_after(), ttl - guard - notice) << refusal;
        EXPECT_FALSE(with.lost_when_announced) << refusal;
        EXPECT_TRUE(with.lease->lost()) << refusal;
    }
}

TEST(hold, is_kept_where_a_renewal_succeeds_at_last) {
    holding with;
    with.server.answer("extend", "-BUSY Redis is busy\r\n");
    with.here.run_for(6s);
    with.server.answer_as_usual("extend");
    with.here.run_for(1min);
    EXPECT_FALSE(with.lease->lost());
    EXPECT_EQ(with.announced_at, core::never);
}

TEST(hold, is_kept_where_the_connection_breaks_and_is_made_again) {
    holding with;
    for (int n = 0; n < 30; ++n) {
        with.server.kill_connections();
        with.here.run_for(1s);
    }
    EXPECT_FALSE(with.lease->lost());
    EXPECT_EQ(with.announced_at, core::never);
}

TEST(hold, is_lost_where_the_server_stays_away_and_its_release_is_not_waited_for) {
    holding with;
    with.server.stop();
    with.here.run_for(1min);
    EXPECT_EQ(with.announced_after(), ttl - guard - notice);
    EXPECT_TRUE(with.lease->lost());
    const auto before = with.here.now();
    with.lease.reset();
    EXPECT_EQ(with.here.now(), before);
}

TEST(hold, a_renewal_that_is_answered_after_the_deadline_does_not_count) {
    holding with({.ttl = 500ms, .loss_notice = 10ms});
    with.server.answer("extend", "");
    with.here.run_for(494ms);
    EXPECT_TRUE(with.lease->lost());
    with.server.connections()[0]->say(":1\r\n");
    with.here.run_for(100ms);
    EXPECT_TRUE(with.lease->lost());
    EXPECT_EQ(with.counted().renewed, 0U);
}

TEST(hold, an_announcement_is_final) {
    holding with;
    with.server.answer("extend", "-BUSY Redis is busy\r\n");
    with.here.run_until(with.begin + ttl - guard - notice);
    ASSERT_NE(with.announced_at, core::never);
    with.server.answer_as_usual("extend");
    const auto valid_until = with.lease->valid_until();
    with.here.run_for(1min);
    EXPECT_EQ(with.lease->valid_until(), valid_until);
    EXPECT_TRUE(with.lease->lost());
}

TEST(hold, is_not_renewed_beyond_the_longest_hold) {
    holding with({.ttl = ttl, .max_hold = 20s});
    with.here.run_for(1min);
    EXPECT_TRUE(with.lease->lost());
    EXPECT_LE(with.valid_for(), 20s);
    EXPECT_GT(with.valid_for(), 15s);
    EXPECT_LE(with.announced_after(), with.valid_for() - notice);
}

TEST(hold, that_is_released_is_renewed_no_more_and_announces_nothing) {
    holding with;
    EXPECT_EQ(with.lease->release(), release_result::released);
    EXPECT_FALSE(with.server.owner_of("key"));
    with.here.run_for(1min);
    EXPECT_EQ(with.server.count("extend"), 0);
    EXPECT_EQ(with.announced_at, core::never);
    EXPECT_EQ(with.lease->release(), release_result::already_lost);
}

TEST(hold, that_was_another_s_by_then_is_released_as_lost) {
    holding with;
    with.server.put("key", "somebody", 1h);
    EXPECT_EQ(with.lease->release(), release_result::already_lost);
    EXPECT_EQ(with.server.owner_of("key"), "somebody");
}

TEST(hold, whose_release_is_not_answered_is_unknown_and_owed) {
    holding with;
    with.server.answer_once("queue_release", "");
    EXPECT_EQ(with.lease->release(), release_result::unknown);
    EXPECT_EQ(with.here.now(), with.begin + 1s) << "the time for one answer";
    with.server.connections()[0]->say(":1\r\n");
    with.here.run_for(1s);
    EXPECT_GE(with.server.count("queue_release"), 2);
}

TEST(hold, whose_release_nobody_awaits_is_owed_all_the_same_where_it_is_not_answered) {
    holding with({.ttl = ttl, .await_release = false});
    with.server.answer_once("queue_release", "");
    with.lease.reset();
    EXPECT_EQ(with.here.now(), with.begin) << "nobody has waited";
    with.here.run_for(900ms);
    EXPECT_EQ(with.server.count("queue_release"), 1);
    with.server.connections()[0]->say(":1\r\n");
    with.here.run_for(5s);
    EXPECT_EQ(with.server.count("queue_release"), 1) << "it was answered in time";

    holding late({.ttl = ttl, .await_release = false});
    late.server.answer_once("queue_release", "");
    late.lease.reset();
    late.here.run_for(1s);
    late.server.connections()[0]->say(":1\r\n");
    late.here.run_for(5s);
    EXPECT_GE(late.server.count("queue_release"), 2);
}

// The server has carried out a renewal whose answer nobody has heard: its key lives longer than the
// lease was believed.
TEST(hold, whose_renewal_was_carried_out_unheard_is_owed_its_release_for_as_long_as_the_key_lives) {
    holding with;
    with.server.answer("extend", "");
    with.here.run_for(8s);
    with.server.put("key", *with.server.owner_of("key"), ttl);
    with.server.stop();
    with.here.run_for(1s);
    ASSERT_TRUE(with.lease->lost());
    EXPECT_EQ(with.lease->release(), release_result::unknown);
    with.here.run_for(2s);
    with.server.start();
    with.here.run_for(3s);
    EXPECT_FALSE(with.server.owner_of("key")) << "it was left to its ttl";
}

TEST(hold, that_was_emptied_at_the_server_is_found_lost_by_its_renewal) {
    holding with;
    with.server.flush_all();
    with.here.run_for(4s);
    EXPECT_TRUE(with.lease->lost());
    EXPECT_FALSE(with.server.owner_of("key")) << "a key that is gone is never made again";
}

TEST(hold, is_lost_when_its_client_is_closed_and_announces_that) {
    holding with;
    with.client.engine->close();
    EXPECT_TRUE(with.lease->lost());
    EXPECT_EQ(with.announced_after(), 0s);
    EXPECT_TRUE(with.server.owner_of("key")) << "it runs out, as after a crash";
}

// Whoever asks whether it is lost and is stopped before it says that it goes on reading.
TEST(hold, that_runs_out_while_it_becomes_a_reader_keeps_nobody_of_its_process_out) {
    holding with;
    const auto writer = detail::access::hold_of(*with.lease);
    {
        const auto lock = with.client.engine->lock();
        const auto reader = writer->become_reader([](const renewal&) {}, writer->valid_until());
        EXPECT_TRUE(reader->lost(with.here.now()));
        reader->release({});
        with.client.engine->submit();
    }
    const auto next = with.client.start("key", {.ttl = ttl});
    with.here.run_for(2 * ttl);
    EXPECT_TRUE(next->made);
}

TEST(hold, is_handed_to_who_stood_in_line_when_it_was_asked_for_without_a_word_to_the_server) {
    testing::world here;
    stub_server server(here, "redis:6379");
    client_in_memory client(here, testing::at({"redis://redis"}));
    const auto first = client.start("key", {.ttl = ttl});
    const auto next = client.start("key", {.ttl = ttl});
    here.settle();
    ASSERT_TRUE(first->made);
    ASSERT_FALSE(next->done);
    server.forget_asked();
    EXPECT_EQ(first->made->release(), release_result::released);
    ASSERT_TRUE(next->done);
    ASSERT_TRUE(next->made);
    EXPECT_EQ(server.asked(), std::vector<std::string>{});
    EXPECT_EQ(next->made->token(), first->made->token() + 1);
    EXPECT_EQ(server.owner_of("key"), next->made->owner());
    EXPECT_NE(first->made->owner(), next->made->owner());
}

TEST(hold, is_asked_for_anew_by_who_came_later_behind_its_release) {
    holding with;
    const auto next = with.client.start("key", {.ttl = ttl});
    with.here.settle();
    ASSERT_FALSE(next->done);
    with.server.forget_asked();
    EXPECT_EQ(with.lease->release(), release_result::released);
    with.here.settle();
    ASSERT_TRUE(next->made);
    EXPECT_EQ(with.server.asked(), (std::vector<std::string>{"queue_release", "queue_acquire"}));
    EXPECT_GT(next->made->token(), with.lease->token());
}

}  // namespace
}  // namespace holdfast::runtime
