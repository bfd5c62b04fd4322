#include <regex>

#include "integration/library.hpp"

/// What stands in Redis, and that it excludes whoever uses the plain recipe of every other library.
namespace holdfast::test {
namespace {

class layout_interop : public testing::Test {
  protected:
    redis_server server_;
    client client_{server_.url()};
    raw_client plain_ = raw_client::connect_tcp(server_.port());
};

TEST_F(layout_interop, plain_set_nx_px_cannot_take_what_we_hold) {
    auto held = mutex(client_, "k").acquire();
    EXPECT_TRUE(plain_.command({"SET", "k", "theirs", "NX", "PX", "10000"}).is_nil());
    EXPECT_EQ(server_.get("k"), held.owner());
    held.release();
    EXPECT_EQ(plain_.command({"SET", "k", "theirs", "NX", "PX", "10000"}).text, "OK");
}

TEST_F(layout_interop, we_cannot_take_what_plain_set_nx_px_holds) {
    ASSERT_EQ(plain_.command({"SET", "k", "theirs", "NX", "PX", "10000"}).text, "OK");
    acquire_options unfenced;
    unfenced.fencing = false;
    for (const auto& how : {acquire_options{}, unfenced}) {
        const auto mine = mutex(client_, "k").try_acquire(how);
        EXPECT_FALSE(mine);
        ASSERT_TRUE(mine.held_by().has_value());
        EXPECT_EQ(mine.held_by()->owner, "theirs");
        EXPECT_TRUE(mine.held_by()->foreign());
        EXPECT_GT(mine.held_by()->remaining.value_or(0ms), 5s);
    }
    EXPECT_EQ(server_.get("k"), "theirs");
    plain_.command({"DEL", "k"});
    EXPECT_TRUE(mutex(client_, "k").try_acquire());
}

TEST_F(layout_interop, a_foreign_lock_without_expiry_has_no_remaining_time) {
    plain_.command({"SETNX", "k", "theirs"});
    const auto mine = mutex(client_, "k").try_acquire();
    ASSERT_TRUE(mine.held_by().has_value());
    EXPECT_FALSE(mine.held_by()->remaining.has_value());
}

TEST_F(layout_interop, the_usual_release_script_of_others_does_not_touch_ours) {
    const auto held = mutex(client_, "k").acquire();
    const std::string script =
        "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 "
        "end";
    EXPECT_EQ(plain_.command({"EVAL", script, "1", "k", "theirs"}).integer, 0);
    EXPECT_EQ(plain_.command({"EVAL", script, "1", "k", held.owner()}).integer, 1);
    EXPECT_FALSE(held.verify());
}

TEST_F(layout_interop, the_lock_is_a_string_at_the_very_key_with_a_readable_unguessable_owner) {
    auto settings = settings_for(server_.url());
    settings.label = "job 7";
    client labelled(settings);
    const auto held = mutex(labelled, "orders:42", with_ttl(10s)).acquire();
    EXPECT_EQ(server_.command({"TYPE", "orders:42"}), "string");
    const std::regex shape("hf1:[0-9a-f]{40}:[^:@]+@[^:]+:" + std::to_string(::getpid()) +
                           ":job 7");
    EXPECT_TRUE(std::regex_match(held.owner(), shape)) << held.owner();
    EXPECT_LE(server_.pttl("orders:42"), 10'000);
    const auto again = mutex(labelled, "other").acquire();
    EXPECT_NE(held.owner().substr(0, 44), again.owner().substr(0, 44));
}

TEST_F(layout_interop, everything_else_carries_our_prefix_and_the_hash_tag_of_the_key) {
    const auto one = mutex(client_, "orders:42").acquire();
    const auto two = mutex(client_, "{user1}:cart").acquire();
    EXPECT_TRUE(server_.exists("holdfast:{orders:42}:fence"));
    EXPECT_TRUE(server_.exists("holdfast:fence:{user1}:cart"));
    EXPECT_TRUE(server_.exists("holdfast:record")) << "one per server";
    EXPECT_TRUE(server_.exists("holdfast:life")) << "the same for version 0.1";
    EXPECT_EQ(server_.command({"DBSIZE"}), "6");
    for (const auto& aux : {"holdfast:{orders:42}:fence", "holdfast:fence:{user1}:cart"}) {
        EXPECT_GT(server_.pttl(aux), 0) << aux << " must not stay for ever";
    }
}

TEST_F(layout_interop, a_label_cannot_forge_the_fields_of_the_owner) {
    acquire_options how;
    how.label = "a:b\nc\x7f";
    const auto held = mutex(client_, "k", how).acquire();
    const auto parsed = parse_owner(held.owner());
    EXPECT_EQ(parsed.label, "a_b_c_");
    EXPECT_EQ(parsed.pid, static_cast<std::uint64_t>(::getpid()));
}

}  // namespace
}  // namespace holdfast::test
