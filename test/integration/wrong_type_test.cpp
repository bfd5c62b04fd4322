#include <future>

#include "holdfast/operate.hpp"
#include "integration/library.hpp"

/// Keys that are there and are no locks.
namespace holdfast::test {
namespace {

class wrong_type : public testing::Test {
  protected:
    static acquire_options unfenced() {
        acquire_options how;
        how.fencing = false;
        return how;
    }

    redis_server server_;
    client client_{server_.url()};
};

TEST_F(wrong_type, a_key_of_another_type_is_an_error_at_once) {
    server_.command({"LPUSH", "list", "element"});
    server_.command({"HSET", "hash", "field", "value"});
    for (const auto& key : {"list", "hash"}) {
        for (const auto& how : {acquire_options{}, unfenced()}) {
            const stopwatch watch;
            const auto error = error_of([&] { mutex(client_, key, how).lock(); });
            EXPECT_LT(watch.elapsed(), 2s * slowness);
            EXPECT_EQ(error.code, errc::wrong_type) << error.what;
            EXPECT_TRUE(contains(error.what, "127.0.0.1:")) << error.what;
        }
    }
    EXPECT_EQ(server_.command({"LLEN", "list"}), "1");
}

TEST_F(wrong_type, a_string_that_is_no_lock_is_somebody_elses_lock) {
    server_.command({"SET", "k", "just a value"});
    const auto mine = mutex(client_, "k").try_acquire();
    EXPECT_FALSE(mine);
    ASSERT_TRUE(mine.held_by().has_value());
    EXPECT_TRUE(mine.held_by()->foreign());
}

TEST_F(wrong_type, a_huge_string_is_somebody_elses_lock_of_which_the_beginning_is_read) {
    server_.command({"SETRANGE", "k", std::to_string(20 * 1024 * 1024), "x"});
    for (const auto& how : {acquire_options{}, unfenced()}) {
        const auto mine = mutex(client_, "k", how).try_acquire();
        EXPECT_FALSE(mine);
        ASSERT_TRUE(mine.held_by().has_value());
        EXPECT_TRUE(mine.held_by()->foreign());
        EXPECT_EQ(mine.held_by()->owner.size(), max_owner_bytes);
    }
    EXPECT_FALSE(mutex(client_, "k").try_acquire_for(1s)) << "who waits";
    EXPECT_EQ(client_.statistics().connected, 1U);
}

TEST_F(wrong_type, a_fencing_counter_of_another_type_leaves_no_lock_behind) {
    server_.command({"LPUSH", "holdfast:{k}:fence", "element"});
    EXPECT_EQ(error_of([&] { (void)mutex(client_, "k").try_acquire(); }).code, errc::wrong_type);
    EXPECT_FALSE(server_.exists("k"));
    EXPECT_EQ(server_.command({"LLEN", "holdfast:{k}:fence"}), "1");
}

TEST_F(wrong_type, a_fencing_counter_that_is_no_number_leaves_no_lock_behind) {
    server_.command({"SET", "holdfast:{k}:fence", "many"});
    EXPECT_EQ(error_of([&] { (void)mutex(client_, "k").try_acquire(); }).code, errc::wrong_type);
    EXPECT_FALSE(server_.exists("k"));
    EXPECT_EQ(server_.command({"GET", "holdfast:{k}:fence"}), "many");
}

TEST_F(wrong_type, a_fencing_counter_of_another_type_passes_the_lock_on_to_the_next_in_line) {
    auto held = mutex(client_, "k").acquire();
    client other(server_.url());
    auto fails =
        std::async(std::launch::async, [&] { return error_of([&] { mutex(other, "k").lock(); }); });
    const auto queue = "holdfast:{k}:queue";
    EXPECT_TRUE(eventually(surely, [&] { return server_.command({"LLEN", queue}) == "1"; }));
    server_.command({"RPUSH", queue, "- 0 next"});
    server_.command({"DEL", "holdfast:{k}:fence"});
    server_.command({"LPUSH", "holdfast:{k}:fence", "element"});
    held.release();
    EXPECT_EQ(fails.get().code, errc::wrong_type);
    EXPECT_EQ(server_.command({"GET", "k"}), "next") << "and it need not look first";
    EXPECT_FALSE(server_.exists(queue));
}

TEST_F(wrong_type, a_held_key_that_becomes_a_list_is_lost_and_left_alone) {
    auto held = mutex(client_, "k", with_ttl(300ms * slowness)).acquire();
    server_.command({"DEL", "k"});
    server_.command({"LPUSH", "k", "element"});
    EXPECT_TRUE(eventually(surely, [&] { return held.lost(); }));
    EXPECT_EQ(held.release(), release_result::already_lost);
    EXPECT_EQ(server_.command({"LLEN", "k"}), "1");
}

}  // namespace
}  // namespace holdfast::test
