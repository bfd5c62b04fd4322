#include "core/hash_slot.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "kinds/keys.hpp"
#include "net/enlisting.hpp"

namespace holdfast::core {
namespace {

TEST(hash_slot, is_the_crc16_that_the_cluster_specification_names) {
    EXPECT_EQ(crc16("123456789"), 0x31C3);
    EXPECT_EQ(hash_slot("foo"), 12182);
    EXPECT_EQ(hash_slot("bar"), 5061);
    EXPECT_EQ(hash_slot("somekey"), 11058);
    EXPECT_EQ(hash_slot(""), 0);
}

TEST(hash_slot, is_that_of_the_first_tag_if_there_is_something_in_it) {
    EXPECT_EQ(hash_slot("{user1000}.following"), hash_slot("user1000"));
    EXPECT_EQ(hash_slot("{user1000}.followers"), hash_slot("{user1000}.following"));
    EXPECT_EQ(hash_slot("foo{{bar}}zap"), hash_slot("{bar"));
    EXPECT_EQ(hash_slot("foo{bar}{zap}"), hash_slot("bar"));
    EXPECT_EQ(crc16("foo{}{bar}") % slot_count, hash_slot("foo{}{bar}")) << "the whole key";
    EXPECT_EQ(crc16("}{") % slot_count, hash_slot("}{"));
}

TEST(slot_tag, hashes_to_its_slot_for_each_of_them) {
    std::set<std::string> all;
    for (std::uint16_t slot = 0; slot < slot_count; ++slot) {
        const auto tag = slot_tag(slot);
        ASSERT_EQ(hash_slot(tag), slot);
        ASSERT_EQ(hash_slot(net::slot_record_key(slot)), slot);
        EXPECT_LE(tag.size(), 6U);
        all.insert(tag);
    }
    EXPECT_EQ(all.size(), slot_count);
}

// They are in the servers' data, and clients of all versions have to find them.
TEST(slot_tag, is_the_same_for_ever) {
    EXPECT_EQ(slot_tag(hash_slot("0")), "0");
    EXPECT_EQ(slot_tag(hash_slot("1")), "1");
    EXPECT_EQ(slot_tag(0), "3560");
    EXPECT_EQ(slot_tag(16383), "39296");
}

/// Every word of up to six letters out of "ab{}".
std::vector<std::string> nasty_keys() {
    std::vector<std::string> all{""};
    for (std::size_t n = 0; all[n].size() < 6; ++n) {
        for (const char letter : {'a', 'b', '{', '}'}) all.push_back(all[n] + letter);
    }
    all.erase(all.begin());
    return all;
}

TEST(keys_beside_a_lock, share_its_slot_wherever_it_is_said_that_they_do) {
    std::size_t sharing = 0;
    std::size_t apart = 0;
    for (const auto& lock : nasty_keys()) {
        const auto slot = hash_slot(lock);
        for (const auto& beside :
             {kinds::counter_key(lock), kinds::queue_key(lock), kinds::forced_key(lock)}) {
            const bool same = hash_slot(beside) == slot;
            if (kinds::shares_its_slot(lock)) {
                ASSERT_TRUE(same) << lock << " and " << beside;
                ++sharing;
            } else if (!same) {
                ++apart;
            }
        }
    }
    EXPECT_GT(sharing, 0U);
    EXPECT_GT(apart, 0U) << "they are refused for a reason";
}

TEST(keys_beside_a_lock, are_said_to_be_elsewhere_for_a_brace_outside_a_tag) {
    for (const auto* lock : {"a}b", "{}x", "}", "x{}{y}"}) {
        EXPECT_FALSE(kinds::shares_its_slot(lock)) << lock;
    }
    for (const auto* lock : {"a", "{a}b}", "a{b", "{user}:{x}"}) {
        EXPECT_TRUE(kinds::shares_its_slot(lock)) << lock;
    }
}

}  // namespace
}  // namespace holdfast::core
