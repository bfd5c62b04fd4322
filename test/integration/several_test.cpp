#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <thread>

#include "holdfast/operate.hpp"
#include "integration/library.hpp"
#include "support/lock_process.hpp"

/// Several keys at once, on one server.
namespace holdfast::test {
namespace {

class several : public testing::Test {
  protected:
    [[nodiscard]] std::size_t length(const std::string& key) const {
        return std::stoul(server_.command({"LLEN", "holdfast:{" + key + "}:queue"}));
    }
    [[nodiscard]] std::string counter(const std::string& key) const {
        return server_.get("holdfast:{" + key + "}:fence").value_or("");
    }

    redis_server server_;
    client client_{server_.url()};
    client other_{server_.url()};
    multi_mutex ab_{client_, {"a", "b"}};
};

TEST_F(several, are_locked_and_released_together_with_one_lease) {
    auto held = ab_.acquire();
    EXPECT_EQ(held.key(), "a, b");
    EXPECT_EQ(server_.get("a"), held.owner());
    EXPECT_EQ(server_.get("b"), held.owner());
    EXPECT_TRUE(held.owner().starts_with("hm1:"));
    EXPECT_GT(server_.pttl("a"), 29'000);
    EXPECT_GT(server_.pttl("b"), 29'000);
    EXPECT_TRUE(held.verify());
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_FALSE(server_.exists("a"));
    EXPECT_FALSE(server_.exists("b"));
}

TEST_F(several, take_one_round_trip_each_way) {
    ab_.acquire().release();
    const auto calls = [&] {
        const auto text = server_.command({"INFO", "commandstats"});
        const auto at = text.find("cmdstat_evalsha:calls=");
        return at == text.npos ? 0 : std::stoi(text.substr(at + 22));
    };
    const auto before = calls();
    ab_.acquire().release();
    EXPECT_EQ(calls() - before, 2);
}

TEST_F(several, work_as_a_mutex_of_the_standard_library_does) {
    {
        const std::scoped_lock held(ab_);
        EXPECT_NE(ab_.current(), nullptr);
        EXPECT_TRUE(server_.exists("b"));
    }
    EXPECT_FALSE(server_.exists("b"));
    std::unique_lock timed(ab_, 1s);
    EXPECT_TRUE(timed.owns_lock());
}

TEST_F(several, are_all_or_nothing) {
    auto one = mutex(other_, "b").acquire();
    const auto denied = ab_.try_acquire();
    EXPECT_FALSE(denied);
    ASSERT_TRUE(denied.held_by());
    EXPECT_EQ(denied.held_by()->owner, one.owner());
    EXPECT_FALSE(server_.exists("a")) << "nothing";
    EXPECT_EQ(counter("a"), "");
    one.release();
    EXPECT_TRUE(ab_.try_acquire());
}

TEST_F(several, exclude_whoever_locks_one_of_them_alone) {
    auto held = ab_.acquire();
    for (const std::string key : {"a", "b"}) {
        EXPECT_FALSE(mutex(other_, key).try_acquire()) << key;
        EXPECT_FALSE(mutex(client_, key).try_acquire()) << key << ", of the same client";
        EXPECT_FALSE(shared_mutex(other_, key).try_acquire_shared()) << key;
        EXPECT_FALSE(shared_mutex(client_, key).try_acquire_shared()) << key;
        EXPECT_EQ(server_.command({"SET", key, "another library", "NX", "PX", "1000"}), "(nil)");
    }
    EXPECT_FALSE(multi_mutex(other_, {"b", "c"}).try_acquire());
    EXPECT_FALSE(server_.exists("c"));
    held.release();
    EXPECT_TRUE(mutex(other_, "a").try_acquire());
}

TEST_F(several, are_excluded_by_whoever_has_one_of_them) {
    auto reads = shared_mutex(other_, "a").acquire_shared();
    EXPECT_FALSE(ab_.try_acquire());
    reads.release();
    server_.command({"SET", "b", "another library", "PX", "60000"});
    EXPECT_FALSE(ab_.try_acquire());
    const auto met = ab_.try_acquire_for(100ms).held_by();
    ASSERT_TRUE(met);
    EXPECT_TRUE(met->foreign());
    EXPECT_FALSE(server_.exists("a")) << "and leave nothing behind when they give up";
    server_.command({"DEL", "b"});
    auto mine = mutex(client_, "b").acquire();
    EXPECT_FALSE(ab_.try_acquire()) << "of the same client";
    mine.release();
    EXPECT_TRUE(ab_.try_acquire());
}

TEST_F(several, have_one_token_above_all_their_counters) {
    std::uint64_t last_of_b = 0;
    for (int n = 0; n < 5; ++n) last_of_b = mutex(other_, "b").acquire().token();
    const auto last_of_a = mutex(other_, "a").acquire().token();
    const auto both = ab_.acquire().token();
    EXPECT_GT(both, last_of_a);
    EXPECT_GT(both, last_of_b);
    EXPECT_EQ(counter("a"), std::to_string(both));
    EXPECT_EQ(counter("b"), std::to_string(both));
    EXPECT_EQ(mutex(other_, "a").acquire().token(), both + 1);
    EXPECT_GT(multi_mutex(other_, {"a", "c"}).acquire().token(), both + 1)
        << "c has no counter, and begins with the time";
    EXPECT_GT(ab_.acquire().token(), both + 1);
}

TEST_F(several, can_do_without_tokens) {
    auto held = ab_.acquire({.fencing = false});
    EXPECT_EQ(held.token(), 0U);
    EXPECT_EQ(counter("a"), "");
    held.extend(40s);
    EXPECT_GT(server_.pttl("b"), 39'000);
    EXPECT_EQ(held.release(), release_result::released);
}

TEST_F(several, leave_everything_as_it_was_where_one_is_no_lock_or_has_no_counter) {
    server_.command({"HSET", "b", "field", "value"});
    EXPECT_EQ(error_of([&] { (void)ab_.acquire(); }).code, errc::wrong_type);
    EXPECT_FALSE(server_.exists("a"));
    server_.command({"SET", "a", "another library", "PX", "60000"});
    EXPECT_EQ(error_of([&] { (void)ab_.try_acquire_for(1s); }).code, errc::wrong_type)
        << "nor is it kept for who waits for others";
    EXPECT_EQ(server_.command({"HGET", "b", "field"}), "value");
    server_.command({"DEL", "a"});
    server_.command({"DEL", "b"});
    server_.command({"HSET", "holdfast:{b}:fence", "field", "value"});
    const auto error = error_of([&] { (void)ab_.acquire(); });
    EXPECT_EQ(error.code, errc::wrong_type);
    EXPECT_TRUE(contains(error.what, "holdfast:{b}:fence")) << error.what;
    EXPECT_FALSE(server_.exists("a"));
    EXPECT_FALSE(server_.exists("b"));
}

TEST_F(several, are_renewed_together) {
    const auto held = ab_.acquire({.ttl = 600ms});
    std::this_thread::sleep_for(1500ms);
    EXPECT_FALSE(held.lost());
    EXPECT_GT(server_.pttl("a"), 100);
    EXPECT_GT(server_.pttl("b"), 100);
}

TEST_F(several, are_lost_with_any_of_them_and_the_rest_is_released) {
    auto held = ab_.acquire({.ttl = 1500ms});
    server_.command({"DEL", "b"});
    ASSERT_TRUE(eventually(surely, [&] { return held.lost(); }));
    EXPECT_TRUE(held.stop_token().stop_requested());
    EXPECT_EQ(held.release(), release_result::already_lost);
    EXPECT_FALSE(server_.exists("a"));
}

TEST_F(several, that_another_has_taken_one_of_are_not_extended) {
    auto held = ab_.acquire({.ttl = 2s, .renew = false});
    server_.command({"SET", "a", "stranger", "PX", "60000"});
    EXPECT_EQ(error_of([&] { held.extend(30s); }).code, errc::lost);
    EXPECT_LE(server_.pttl("b"), 2000);
    EXPECT_FALSE(held.verify());
    held.release();
    EXPECT_EQ(server_.get("a"), "stranger");
    EXPECT_FALSE(server_.exists("b"));
}

TEST_F(several, are_shown_by_who_looks_after_locks) {
    const auto held = ab_.acquire();
    const auto found = inspect(client_, "b");
    ASSERT_TRUE(found.held_by);
    EXPECT_TRUE(found.held_by->several);
    EXPECT_EQ(found.held_by->owner, held.owner());
    EXPECT_TRUE(contains(found.held_by->describe(), "along with other keys"));
    std::vector<std::string> listed;
    list(client_, "*", [&](const lock_status& each) { listed.push_back(each.key); });
    std::sort(listed.begin(), listed.end());
    EXPECT_EQ(listed, (std::vector<std::string>{"a", "b"}));
}

TEST_F(several, one_that_is_taken_away_by_force_takes_the_lease_along) {
    auto held = ab_.acquire({.ttl = 1500ms});
    EXPECT_EQ(force_unlock(other_, "a", held.owner(), "test"), release_result::released);
    EXPECT_TRUE(mutex(other_, "a").try_acquire());
    ASSERT_TRUE(eventually(surely, [&] { return held.lost(); }));
    held.release();
    EXPECT_TRUE(mutex(other_, "b").try_acquire());
}

TEST_F(several, use_the_prefix_of_the_client_for_each) {
    auto settings = settings_for(server_.url());
    settings.prefix = "app:";
    client own(settings);
    multi_mutex lock(own, {"y", "x", "y"});
    EXPECT_EQ(lock.keys(), (std::vector<std::string>{"x", "y"}));
    const auto held = lock.acquire();
    EXPECT_EQ(server_.get("app:x"), held.owner());
    EXPECT_EQ(server_.get("app:y"), held.owner());
}

TEST_F(several, of_one_key_are_a_mutex) {
    const auto held = multi_mutex(client_, {"a", "a"}).acquire();
    EXPECT_TRUE(held.owner().starts_with("hf1:"));
    EXPECT_FALSE(mutex(other_, "a").try_acquire());
}

TEST_F(several, as_many_as_are_allowed) {
    std::vector<std::string> keys;
    for (std::size_t n = 0; n < max_keys; ++n) keys.push_back("k" + std::to_string(n));
    auto held = multi_mutex(client_, keys).acquire();
    EXPECT_EQ(server_.get("k15"), held.owner());
    auto waits = std::async(std::launch::async,
                            [&] { return multi_mutex(other_, keys).try_acquire_for(surely); });
    ASSERT_TRUE(eventually(surely, [&] { return length("k7") == 1; }));
    held.release();
    EXPECT_TRUE(waits.get());
}

}  // namespace
}  // namespace holdfast::test
