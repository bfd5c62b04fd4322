#include "runtime/rooms.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace holdfast::runtime
