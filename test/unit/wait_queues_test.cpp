#include "runtime/waiting/wait_queues.hpp"

#include <gtest/gtest.h>

#include <utility>

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

    [[nodiscard]] bool gone() const { return gone_; }

  private:
    [[nodiscard]] core::local_id id() const override { return id_; }
    [[nodiscard]] core::sharing sharing() const override { return core::alone; }
    void turn(const core::yield_policy::gap&, core::time_point) noexcept override {
        if (!std::exchange(stays_, false)) leave();
    }
    void notified(core::node_index, core::time_point) noexcept override { leave(); }
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
    bool gone_ = false;
};

TEST(wait_queue, tells_nobody_who_has_left_meanwhile) {
    wait_queues all;
    auto& here = all.open(for_key("a"));
    const guest first(here, 1, true);
    const guest second(here, 2, false);
    all.notified("a", core::node_index{0}, {});
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
    all.abort_all();
    EXPECT_TRUE(first.gone() && second.gone() && third.gone());
}

}  // namespace
}  // namespace holdfast::runtime
