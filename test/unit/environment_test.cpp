#include "runtime/driving/environment.hpp"

#include <gtest/gtest.h>

#include "unit/support/client_in_memory.hpp"
#include "unit/support/stub_server.hpp"

/// The world in memory keeps the contract of driver and environment, and the shipped engine runs in
/// it.
namespace holdfast::testing {
namespace {

using namespace std::chrono_literals;

/// Something to drive: writes down when it is looked at.
class machine final : public runtime::driver::machinery {
  public:
    explicit machine(world& in) : world_(in), drives(around.make_driver(guard, *this)) {}
    ~machine() { drives->stop(); }
    machine(const machine&) = delete;
    machine& operator=(const machine&) = delete;

    [[nodiscard]] std::vector<core::duration> looks(core::time_point since) const {
        std::vector<core::duration> all;
        for (const auto when : fired) all.push_back(when - since);
        return all;
    }

    core::time_point next = core::never;
    bool busy = false;
    std::vector<core::time_point> fired;
    std::function<void()> on_fire;
    base::client_mutex guard;

  private:
    void flush() noexcept override {}
    bool list_sources(std::vector<runtime::driver::source>&) override { return false; }
    void take_in(const runtime::driver::source&) noexcept override {}
    void watch_sources() override {}
    void fire(core::time_point now) noexcept override {
        fired.push_back(now);
        if (now >= next) next = core::never;
        if (on_fire) on_fire();
    }
    [[nodiscard]] core::time_point wake_at() const override { return next; }
    [[nodiscard]] bool unattended() const override { return busy; }
    [[nodiscard]] bool may_spin() const override { return true; }
    [[nodiscard]] std::shared_ptr<void> keep_alive() override { return nullptr; }

    world& world_;

  public:
    memory_environment around{world_};
    std::unique_ptr<runtime::driver> drives;
};

TEST(driver_in_memory, looks_when_it_was_asked_to_and_not_before) {
    world here;
    machine driven(here);
    const auto begin = here.now();
    driven.next = begin + 3s;
    here.run_for(5s);
    EXPECT_TRUE(driven.fired.empty()) << "nobody attends to it";
    driven.next = begin + 8s;
    driven.drives->attend_by(begin + 8s);
    here.run_for(1s);
    EXPECT_TRUE(driven.fired.empty());
    here.run_for(10s);
    EXPECT_EQ(driven.looks(begin), std::vector<core::duration>{8s});
}

TEST(driver_in_memory, looks_at_every_timer_while_something_is_unattended) {
    world here;
    machine driven(here);
    const auto begin = here.now();
    driven.busy = true;
    driven.next = begin + 1s;
    here.run_for(2s);
    driven.next = begin + 3s;
    here.run_for(2s);
    EXPECT_EQ(driven.looks(begin), (std::vector<core::duration>{1s, 3s}));
}

TEST(driver_in_memory, lets_a_caller_wait_until_its_operation_is_finished) {
    world here;
    machine driven(here);
    const auto begin = here.now();
    runtime::waiter caller(*driven.drives);
    driven.next = begin + 2s;
    driven.on_fire = [&] { driven.drives->finished(caller); };
    base::client_lock lock(driven.guard);
    driven.drives->wait(lock, caller);
    EXPECT_TRUE(caller.done);
    EXPECT_NO_THROW(lock.unlock()) << "it is held again";
    EXPECT_EQ(here.now(), begin + 2s);
}

TEST(driver_in_memory, calls_back_in_order_without_the_lock_when_the_world_goes_on) {
    class note final : public runtime::callback {
      public:
        note(machine& by, std::vector<int>& into, int what) : by_(by), into_(into), what_(what) {}

      private:
        void run() override {
            const base::client_lock lock(by_.guard);  // called with it held, it would never return
            into_.push_back(what_);
        }
        machine& by_;
        std::vector<int>& into_;
        int what_;
    };
    world here;
    std::vector<int> ran;
    machine driven(here);
    note first(driven, ran, 1);
    note second(driven, ran, 2);
    note last(driven, ran, 3);
    driven.drives->call_back(first);
    driven.drives->call_back(second);
    EXPECT_TRUE(ran.empty());
    here.settle();
    EXPECT_EQ(ran, (std::vector<int>{1, 2}));
    driven.drives->call_back(last);
    driven.drives->stop();
    EXPECT_EQ(ran, (std::vector<int>{1, 2, 3})) << "none is forgotten";
}

TEST(driver_in_memory, says_where_nobody_can_drive_for_what_nobody_waits_for) {
    world here;
    const stub_server server(here, "redis:6379");
    client_in_memory client(here, at({"redis://redis"}));
    client.around->driver()->refuse_background(true);
    EXPECT_THROW(client.start("key"), std::system_error);
    client.around->driver()->refuse_background(false);
    EXPECT_TRUE(client.acquire("key")->made);
}

TEST(environment_in_memory, draws_other_chance_for_every_client_and_the_same_in_every_run) {
    world here;
    const auto draw = [&](std::uint64_t seed) {
        memory_environment around(here, seed);
        runtime::entropy chance(around);
        return std::pair{chance.bits64(), chance.bits64()};
    };
    EXPECT_EQ(draw(1), draw(1));
    EXPECT_NE(draw(1), draw(2));
    EXPECT_NE(draw(1).first, draw(1).second);
}

/// Two clients as they ship and one server: the first acquires, the other waits, is told, gets it.
std::vector<std::string> hand_over() {
    world here;
    stub_server server(here, "redis:6379");
    client_in_memory first(here, at({"redis://redis"}), 1);
    client_in_memory second(here, at({"redis://redis"}), 2);

    const auto held = first.acquire("key");
    EXPECT_TRUE(held->made);
    EXPECT_EQ(server.owner_of("key"), held->made->owner());

    const auto waits = second.start("key");
    here.run_for(1s);
    EXPECT_FALSE(waits->done);
    EXPECT_EQ(server.connections().size(), 2U);

    const auto before = here.now();
    EXPECT_EQ(held->made->release(), release_result::released);
    here.settle();
    EXPECT_TRUE(waits->done);
    EXPECT_TRUE(waits->made);
    EXPECT_EQ(here.now(), before) << "it was told, and asked at once";
    EXPECT_GT(waits->made->token(), held->made->token());
    EXPECT_EQ(server.owner_of("key"), waits->made->owner());

    auto story = server.asked();
    story.push_back(waits->made->owner());
    waits->made.reset();
    EXPECT_FALSE(server.owner_of("key"));
    return story;
}

TEST(environment_in_memory, lets_shipped_clients_hand_a_lock_over) { hand_over(); }

TEST(environment_in_memory, lets_a_shipped_client_wait_for_what_somebody_deletes_by_hand) {
    world here;
    stub_server server(here, "redis:6379");
    client_in_memory client(here, at({"redis://redis"}));
    server.put("key", "somebody", 1h);
    const auto waits = client.start("key");
    here.run_for(1min);
    EXPECT_FALSE(waits->done);
    server.erase("key");
    here.settle();
    EXPECT_TRUE(waits->made) << "it was told";
}

TEST(environment_in_memory, lets_a_shipped_client_give_up_in_time) {
    world here;
    stub_server server(here, "redis:6379");
    client_in_memory client(here, at({"redis://redis"}));
    server.put("key", "somebody", 1h);
    const auto begin = here.now();
    const auto waits = client.start("key", {}, true, begin + 3s);
    while (!waits->done && here.step()) {
    }
    EXPECT_EQ(here.now(), begin + 3s);
    EXPECT_FALSE(waits->made);
    ASSERT_TRUE(waits->made.held_by());
    const auto cancelled = client.start("key");
    here.run_for(1s);
    client.cancel(*cancelled);
    ASSERT_TRUE(cancelled->failed);
    EXPECT_EQ(cancelled->failed->code, errc::cancelled);
}

TEST(environment_in_memory, tells_the_same_story_every_time) {
    const auto story = hand_over();
    EXPECT_GT(story.size(), 20U);
    EXPECT_EQ(hand_over(), story);
}

}  // namespace
}  // namespace holdfast::testing
