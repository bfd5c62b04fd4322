#include "runtime/waiting/wait_queues.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::runtime {
namespace {

plan_pointer for_key(const std::string& key) {
    auto made = std::make_shared<plan>();
    made->keys.lock = key;
    return made;
}

void use_many_others(wait_queues& all) {
    for (int n = 0; n < 200; ++n) all.close(all.open(for_key(std::to_string(n))));
}

bool remembers_rivals(wait_queues& all, const std::string& key) {
    auto& here = all.open(for_key(key));
    const bool known = here.known_contention().known;
    all.close(here);
    return known;
}

TEST(wait_queues, are_shared_by_all_who_name_the_key) {
    wait_queues all;
    auto& here = all.open(for_key("a"));
    EXPECT_EQ(&all.open(for_key("a")), &here);
    EXPECT_NE(&all.open(for_key("b")), &here);
}

TEST(wait_queues, stay_while_somebody_uses_them) {
    wait_queues all;
    auto& here = all.open(for_key("a"));
    here.denied();
    all.close(all.open(here));
    use_many_others(all);
    EXPECT_EQ(here.key(), "a");
    EXPECT_TRUE(remembers_rivals(all, "a"));
    use_many_others(all);
    EXPECT_EQ(&all.open(for_key("a")), &here);
}

TEST(wait_queues, of_several_keys_are_opened_and_closed_together) {
    wait_queues all;
    auto made = std::make_shared<plan>();
    made->keys.lock = "a";
    made->keys.others =
        std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"b", "c"});
    const plan_pointer several = made;
    auto& first = all.open(several);
    std::string seen;
    all.each(*several, first, [&](wait_queue& here) {
        seen += here.key();
        here.denied();
    });
    EXPECT_EQ(seen, "abc");
    all.open(*several, first);
    all.close(*several, first);
    use_many_others(all);
    EXPECT_TRUE(remembers_rivals(all, "c")) << "somebody uses it";
    all.close(*several, first);
    use_many_others(all);
    EXPECT_FALSE(remembers_rivals(all, "c"));
    EXPECT_FALSE(remembers_rivals(all, "a"));
}

TEST(wait_queues, that_were_left_are_remembered_for_a_while) {
    wait_queues all;
    auto& here = all.open(for_key("a"));
    here.denied();
    all.close(here);
    EXPECT_TRUE(remembers_rivals(all, "a"));
    use_many_others(all);
    EXPECT_FALSE(remembers_rivals(all, "a"));
}

/// Leaves as soon as it hears anything, but for its first turn if it `stays` then.
class guest final : public contender {
  public:
    guest(wait_queue& where, core::local_id id, bool stays)
        : where_(where), id_(id), stays_(stays) {
        where.join(*this, {});
    }
    /// Stands in line at the server under that owner; `apart`: as one who wants fairness.
    guest(wait_queue& where, core::local_id id, std::string owner, bool apart)
        : where_(where), id_(id), stays_(true), apart_(apart), owner_(std::move(owner)) {
        apart ? where.join_apart(*this) : where.join(*this, {});
    }
    ~guest() {
        if (!gone_) where_.leave(*this, {});
    }
    guest(const guest&) = delete;
    guest& operator=(const guest&) = delete;

    [[nodiscard]] bool gone() const { return gone_; }

    int turns = 0;
    int notices = 0;
    int calls = 0;
    std::function<void()> on_notice;

  private:
    [[nodiscard]] core::local_id id() const override { return id_; }
    [[nodiscard]] core::sharing sharing() const override { return core::alone; }
    [[nodiscard]] bool apart() const override { return apart_; }
    [[nodiscard]] bool waits_as(std::string_view owner) const override { return owner_ == owner; }
    bool take_place(const plan&, std::string&, const kinds::entry&) override { return false; }
    [[nodiscard]] const plan& what() const override {
        static const plan none;
        return none;
    }
    void called(core::time_point) noexcept override { ++calls; }
    void untracked(core::time_point) noexcept override {}
    void turn(core::duration, core::time_point) noexcept override {
        ++turns;
        if (owner_.empty() && !std::exchange(stays_, false)) leave();
    }
    void notified(core::node_index, core::time_point) noexcept override {
        ++notices;
        if (on_notice) on_notice();
        if (owner_.empty()) leave();
    }
    void abort() noexcept override { leave(); }
    bool take_over(const core::grant&, hold&, core::arrival, core::time_point) noexcept override {
        return false;
    }

    void leave() {
        EXPECT_FALSE(gone_) << "called after it left: it may not exist any more";
        gone_ = true;
        where_.leave(*this, {});
    }

    wait_queue& where_;
    core::local_id id_;
    bool stays_;
    bool apart_ = false;
    std::string owner_{};
    bool gone_ = false;
};

constexpr core::node_index only{0};

TEST(wait_queue, tells_nobody_who_has_left_meanwhile) {
    wait_queues all;
    auto& here = all.open(for_key("a"));
    const guest first(here, 1, true);
    const guest second(here, 2, false);
    all.notified("a", only, {});
    EXPECT_TRUE(first.gone());
    EXPECT_TRUE(second.gone()) << "it had its turn";
    EXPECT_TRUE(here.waiting().empty());
}

TEST(wait_queues, abort_everybody_once) {
    wait_queues all;
    auto& here = all.open(for_key("a"));
    auto& there = all.open(for_key("b"));
    const guest first(here, 1, true);
    const guest second(here, 2, false);
    const guest third(there, 3, true);
    const guest fair(here, 4, "fair", true);
    all.abort_all();
    EXPECT_TRUE(first.gone() && second.gone() && third.gone() && fair.gone());
}

TEST(wait_queues, pass_a_call_to_who_waits_as_that_owner_and_to_nobody_else) {
    wait_queues all;
    auto& here = all.open(for_key("a"));
    auto& there = all.open(for_key("b"));
    const guest first(here, 1, "one", false);
    const guest second(here, 2, "two", true);
    const guest other(there, 3, "two", false);
    all.called({.owner = "two", .lock = "a"}, {});
    EXPECT_EQ(first.calls, 0);
    EXPECT_EQ(second.calls, 1);
    EXPECT_EQ(other.calls, 0) << "it waits for another lock";
}

TEST(wait_queues, take_no_notice_of_a_call_for_nobody) {
    wait_queues all;
    auto& here = all.open(for_key("a"));
    const guest waits(here, 1, "one", false);
    all.called({.owner = "gone", .lock = "a"}, {});
    all.called({.owner = "one", .lock = "unknown"}, {});
    all.called({.owner = "", .lock = ""}, {});
    EXPECT_EQ(waits.calls, 0);
    EXPECT_EQ(waits.notices, 0);
}

TEST(wait_queue, gives_nobody_who_waits_apart_a_turn) {
    wait_queues all;
    auto& here = all.open(for_key("a"));
    const guest fair(here, 1, "fair", true);
    const guest first(here, 2, "one", false);
    EXPECT_EQ(first.turns, 1) << "it stands behind nobody";
    { const guest another(here, 3, "other", true); }
    EXPECT_EQ(first.turns, 1) << "nor does anything change when one of them leaves";
    EXPECT_EQ(fair.turns, 0);
}

TEST(wait_queue, tells_the_first_and_all_who_wait_apart_that_the_key_changed) {
    wait_queues all;
    auto& here = all.open(for_key("a"));
    const guest first(here, 1, "one", false);
    const guest second(here, 2, "two", false);
    const guest fair(here, 3, "three", true);
    const guest fair_as_well(here, 4, "four", true);
    all.notified("a", only, {});
    EXPECT_EQ(first.notices, 1);
    EXPECT_EQ(second.notices, 0) << "it has not asked the server for anything";
    EXPECT_EQ(fair.notices, 1);
    EXPECT_EQ(fair_as_well.notices, 1);
    all.notified_all(only, {});
    EXPECT_EQ(fair.notices, 2);
}

TEST(wait_queue, tells_none_of_those_who_wait_apart_that_left_while_others_were_told) {
    wait_queues all;
    auto& here = all.open(for_key("a"));
    guest first(here, 1, "one", true);
    auto second = std::make_unique<guest>(here, 2, "two", true);
    first.on_notice = [&] { second.reset(); };
    all.notified("a", only, {});
    EXPECT_EQ(first.notices, 1);
    EXPECT_EQ(here.waiting().size(), 1U);
}

TEST(wait_queue,
     tells_all_who_wait_apart_once_and_in_their_order_while_some_leave_and_others_come) {
    wait_queues all;
    auto& here = all.open(for_key("a"));
    std::vector<std::unique_ptr<guest>> guests;
    std::vector<core::local_id> told;
    const auto join = [&](core::local_id id) -> guest& {
        guests.push_back(std::make_unique<guest>(here, id, std::to_string(id), true));
        return *guests.back();
    };
    for (core::local_id id = 0; id < 6; ++id) {
        auto& each = join(id);
        each.on_notice = [&, id] {
            told.push_back(id);
            if (id % 3 == 2) return;
            static_cast<contender&>(each).abort();
            join(id + 10);
        };
    }
    all.notified("a", only, {});
    EXPECT_EQ(told, (std::vector<core::local_id>{0, 1, 2, 3, 4, 5}));
    for (std::size_t n = 6; n < guests.size(); ++n) EXPECT_EQ(guests[n]->notices, 0);
    EXPECT_EQ(here.waiting().size(), 6U);
}

TEST(wait_queue, knows_whether_nobody_stood_in_line_when_it_last_heard) {
    wait_queues all;
    auto& here = all.open(for_key("a"));
    EXPECT_FALSE(here.quiet(core::time_point{})) << "it has not heard yet";
    all.released("a", kinds::release_found::released, {});
    EXPECT_TRUE(here.quiet(core::time_point{}));
    all.released("a", kinds::release_found::passed_on, {});
    EXPECT_FALSE(here.quiet(core::time_point{}));
    all.released("a", kinds::release_found::released, {});
    all.released("a", kinds::release_found::not_ours, {});
    EXPECT_FALSE(here.quiet(core::time_point{})) << "whose it is then is not known";
    all.released("a", kinds::release_found::released, {});
    here.denied();
    EXPECT_FALSE(here.quiet(core::time_point{}));
    all.released("unknown", kinds::release_found::released, {});
}

}  // namespace
}  // namespace holdfast::runtime
