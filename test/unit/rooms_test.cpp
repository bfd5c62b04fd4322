#include "runtime/rooms.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace holdfast::runtime {
namespace {

plan_pointer for_key(const std::string& key) {
    auto made = std::make_shared<plan>();
    made->keys.lock = key;
    return made;
}

void use_many_others(rooms& all) {
    for (int n = 0; n < 200; ++n) all.exit(all.enter(for_key(std::to_string(n))));
}

bool remembers_rivals(rooms& all, const std::string& key) {
    auto& here = all.enter(for_key(key));
    const bool known = here.rivals().known;
    all.exit(here);
    return known;
}

TEST(rooms, are_shared_by_all_who_name_the_key) {
    rooms all;
    auto& here = all.enter(for_key("a"));
    EXPECT_EQ(&all.enter(for_key("a")), &here);
    EXPECT_NE(&all.enter(for_key("b")), &here);
}

TEST(rooms, stay_while_somebody_uses_them) {
    rooms all;
    auto& here = all.enter(for_key("a"));
    here.denied();
    all.exit(all.enter(here));
    use_many_others(all);
    EXPECT_EQ(here.key(), "a");
    EXPECT_TRUE(remembers_rivals(all, "a"));
    use_many_others(all);
    EXPECT_EQ(&all.enter(for_key("a")), &here);
}

TEST(rooms, that_were_left_are_remembered_for_a_while) {
    rooms all;
    auto& here = all.enter(for_key("a"));
    here.denied();
    all.exit(here);
    EXPECT_TRUE(remembers_rivals(all, "a"));
    use_many_others(all);
    EXPECT_FALSE(remembers_rivals(all, "a"));
}

/// Leaves as soon as it hears anything, but for its first turn if it `stays` then.
class guest final : public contender {
  public:
    guest(room& where, core::local_id id, bool stays) : where_(where), id_(id), stays_(stays) {
        where.join(*this, {});
    }

    [[nodiscard]] bool gone() const { return gone_; }

  private:
    [[nodiscard]] core::local_id id() const override { return id_; }
    [[nodiscard]] core::sharing sharing() const override { return core::alone; }
    void turn(const core::courtesy::gap&, core::time_point) noexcept override {
        if (!std::exchange(stays_, false)) leave();
    }
    void told(core::node_index, core::time_point) noexcept override { leave(); }
    void abort() noexcept override { leave(); }
    bool inherit(const core::estate&, hold&, core::arrival, core::time_point) noexcept override {
        return false;
    }

    void leave() {
        EXPECT_FALSE(gone_) << "called after it left: it may not exist any more";
        gone_ = true;
        where_.leave(*this, {});
    }

    room& where_;
    core::local_id id_;
    bool stays_;
    bool gone_ = false;
};

TEST(room, tells_nobody_who_has_left_meanwhile) {
    rooms all;
    auto& here = all.enter(for_key("a"));
    const guest first(here, 1, true);
    const guest second(here, 2, false);
    all.told("a", core::node_index{0}, {});
    EXPECT_TRUE(first.gone());
    EXPECT_TRUE(second.gone()) << "it had its turn";
    EXPECT_TRUE(here.waiting().empty());
}

TEST(rooms, abort_everybody_once) {
    rooms all;
    auto& here = all.enter(for_key("a"));
    auto& there = all.enter(for_key("b"));
    const guest first(here, 1, true);
    const guest second(here, 2, false);
    const guest third(there, 3, true);
    all.abort_all();
    EXPECT_TRUE(first.gone() && second.gone() && third.gone());
}

}  // namespace
}  // namespace holdfast::runtime
