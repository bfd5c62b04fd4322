#include <atomic>
#include <boost/asio/use_future.hpp>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "holdfast/asio.hpp"
#include "holdfast/operate.hpp"
#include "integration/library.hpp"
#include "support/lock_process.hpp"

/// Many read, or one writes, on one real server. Who is next: shared_line_test.cpp.
namespace holdfast::test {
namespace {

constexpr auto readers_of_k = "holdfast:{k}:readers";

class shared : public testing::Test {
  protected:
    /// How many the server has as readers beside the lock.
    [[nodiscard]] std::size_t listed() const {
        return std::stoul(server_.command({"ZCARD", readers_of_k}));
    }

    redis_server server_;
    client client_{server_.url()};
    client other_{server_.url()};
    shared_mutex here_{client_, "k"};
    shared_mutex there_{other_, "k"};
};

TEST_F(shared, readers_share_the_lock_within_a_client_and_between_clients) {
    const auto one = here_.acquire_shared();
    const auto two = here_.try_acquire_shared();
    const auto three = there_.try_acquire_shared();
    ASSERT_TRUE(two);
    ASSERT_TRUE(three);
    EXPECT_TRUE(one.verify());
    EXPECT_TRUE(two->verify());
    EXPECT_TRUE(three->verify());
    EXPECT_EQ(listed(), 4U) << "three, and which time of reading it is";
}

TEST_F(shared, readers_keep_writers_out_and_writers_keep_readers_out) {
    auto reads = there_.acquire_shared();
    EXPECT_FALSE(here_.try_acquire());
    reads.release();
    auto writes = here_.try_acquire();
    ASSERT_TRUE(writes);
    const auto denied = there_.try_acquire_shared();
    EXPECT_FALSE(denied);
    ASSERT_TRUE(denied.held_by());
    EXPECT_EQ(denied.held_by()->owner, writes->owner());
    EXPECT_FALSE(here_.try_acquire_shared()) << "of the same client";
}

TEST_F(shared, who_is_kept_out_by_readers_is_told_so) {
    const auto reads = there_.shared().acquire({.label = "report"});
    const auto denied = here_.try_acquire();
    ASSERT_TRUE(denied.held_by());
    EXPECT_TRUE(denied.held_by()->reads);
    EXPECT_EQ(denied.held_by()->label, "report");
    EXPECT_GT(denied.held_by()->remaining.value_or(0ms), 25s);
}

TEST_F(shared, plain_mutexes_and_other_libraries_are_kept_out_by_readers) {
    auto one = here_.acquire_shared();
    auto two = there_.acquire_shared();
    EXPECT_FALSE(mutex(other_, "k").try_acquire());
    EXPECT_FALSE(mutex(other_, "k", {.fencing = false}).try_acquire());
    EXPECT_TRUE(server_.query({"SET", "k", "x", "NX", "PX", "1000"}).is_nil());
    EXPECT_EQ(one.release(), release_result::released);
    EXPECT_TRUE(server_.query({"SET", "k", "x", "NX", "PX", "1000"}).is_nil());
    EXPECT_EQ(two.release(), release_result::released);
    EXPECT_FALSE(server_.query({"SET", "k", "x", "NX", "PX", "1000"}).is_nil());
}

TEST_F(shared, readers_are_kept_out_by_plain_mutexes_and_other_libraries) {
    const auto plain = mutex(other_, "k").acquire();
    EXPECT_FALSE(here_.try_acquire_shared());
    server_.command({"SET", "k2", "theirs", "PX", "30000"});
    shared_mutex foreign(client_, "k2");
    const auto denied = foreign.try_acquire_shared();
    EXPECT_FALSE(denied);
    ASSERT_TRUE(denied.held_by());
    EXPECT_TRUE(denied.held_by()->foreign());
    EXPECT_EQ(server_.get("k2"), "theirs");
}

TEST_F(shared, the_last_reader_leaves_nothing_behind) {
    auto one = here_.acquire_shared();
    auto two = there_.acquire_shared();
    auto three = there_.acquire_shared();
    EXPECT_EQ(one.release(), release_result::released) << "the first to come";
    EXPECT_TRUE(two.verify());
    EXPECT_TRUE(three.verify());
    EXPECT_EQ(three.release(), release_result::released);
    EXPECT_TRUE(two.verify());
    EXPECT_EQ(two.release(), release_result::released);
    EXPECT_FALSE(server_.exists("k"));
    EXPECT_FALSE(server_.exists(readers_of_k));
    EXPECT_TRUE(here_.try_acquire());
}

TEST_F(shared, one_that_reads_alone_leaves_no_list) {
    auto one = here_.acquire_shared();
    EXPECT_FALSE(server_.exists(readers_of_k));
    one.extend(40s);
    EXPECT_GT(server_.pttl("k"), 35'000);
    EXPECT_FALSE(server_.exists(readers_of_k));
    EXPECT_EQ(one.release(), release_result::released);
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(shared, the_lock_lives_as_long_as_the_longest_reader_who_is_left) {
    auto brief = here_.shared().acquire({.ttl = 5s, .renew = false});
    auto lengthy = there_.shared().acquire({.ttl = 50s, .renew = false});
    EXPECT_GT(server_.pttl("k"), 40'000);
    EXPECT_EQ(lengthy.release(), release_result::released);
    EXPECT_LE(server_.pttl("k"), 5'000);
    EXPECT_GT(server_.pttl("k"), 0);
    EXPECT_LE(server_.pttl(readers_of_k), 5'000);
    EXPECT_TRUE(brief.verify());
}

TEST_F(shared, a_reader_whose_time_is_over_blocks_nobody_while_others_read_on) {
    auto brief = here_.shared().acquire({.ttl = 100ms, .renew = false});
    auto lengthy = there_.shared().acquire({.ttl = 30s});
    ASSERT_TRUE(eventually(surely, [&] { return brief.lost(); }));
    EXPECT_FALSE(brief.verify());
    // Whoever joins sweeps. The server ends it a little later than its holder does.
    EXPECT_TRUE(eventually(surely, [&] {
        (void)here_.acquire_shared();
        return listed() == 2U;
    })) << "one reader, and which time of reading it is";
    EXPECT_EQ(brief.release(), release_result::already_lost);
    EXPECT_TRUE(lengthy.verify());
}

TEST_F(shared, a_reader_that_was_killed_blocks_a_writer_for_its_ttl_and_no_longer) {
    constexpr auto ttl = 1500ms * slowness;
    auto brief = here_.shared().acquire({.ttl = 10s});
    auto dead = std::make_unique<lock_process>(server_.url());
    dead->expect("read k " + std::to_string(ttl.count()), "held");
    dead->child().kill(SIGKILL);
    const stopwatch watch;
    brief.release();
    EXPECT_FALSE(there_.try_acquire()) << "its lease is not over";
    const auto writes = there_.try_acquire_for(surely);
    ASSERT_TRUE(writes);
    EXPECT_LT(watch.elapsed(), ttl + 1s + promptly);
}

TEST_F(shared, leases_of_readers_are_renewed_and_outlive_their_ttl) {
    constexpr auto ttl = 600ms * slowness;
    const auto one = here_.shared().acquire({.ttl = ttl});
    const auto two = there_.shared().acquire({.ttl = ttl});
    std::this_thread::sleep_for(3 * ttl);  // what is tested is that time passes
    EXPECT_FALSE(one.lost());
    EXPECT_FALSE(two.lost());
    EXPECT_TRUE(one.verify());
    EXPECT_TRUE(two.verify());
    EXPECT_FALSE(here_.try_acquire());
}

TEST_F(shared, a_reader_learns_that_the_lock_was_taken_away_and_says_so) {
    constexpr auto ttl = 900ms * slowness;
    const auto one = here_.shared().acquire({.ttl = ttl});
    const auto two = there_.shared().acquire({.ttl = ttl});
    const auto stop = one.stop_token();
    server_.command({"SET", "k", "theirs"});
    EXPECT_TRUE(eventually(surely, [&] { return stop.stop_requested(); }));
    EXPECT_TRUE(eventually(surely, [&] { return one.lost() && two.lost(); }));
    EXPECT_EQ(server_.get("k"), "theirs");
}

TEST_F(shared, what_an_ended_time_of_reading_left_behind_means_nothing_to_the_next) {
    auto one = here_.shared().acquire({.renew = false});
    auto two = there_.shared().acquire({.renew = false});
    server_.command({"DEL", "k"});
    const auto three = here_.shared().acquire({.renew = false});
    EXPECT_FALSE(one.verify());
    EXPECT_FALSE(two.verify());
    const auto four = there_.shared().acquire({.renew = false});
    EXPECT_FALSE(two.verify());
    EXPECT_TRUE(three.verify());
    EXPECT_TRUE(four.verify());
    EXPECT_EQ(one.release(), release_result::already_lost);
    EXPECT_EQ(listed(), 3U);
}

TEST_F(shared, by_force_it_is_taken_from_all_who_read) {
    const auto one = here_.shared().acquire({.renew = false});
    const auto two = there_.shared().acquire({.renew = false});
    const auto found = inspect(client_, "k");
    ASSERT_TRUE(found.held_by);
    EXPECT_EQ(force_unlock(client_, "k", found.held_by->owner, "test"), release_result::released);
    EXPECT_FALSE(one.verify());
    EXPECT_FALSE(two.verify());
    EXPECT_TRUE(here_.try_acquire());
}

TEST_F(shared, one_reader_is_released_renewed_and_left_behind_by_its_owner_token) {
    auto one = here_.shared().acquire({.ttl = 5s, .renew = false});
    auto two = there_.shared().acquire({.ttl = 5s, .renew = false});
    EXPECT_TRUE(renew(client_, "k", two.owner(), 40s));
    EXPECT_GT(server_.pttl("k"), 35'000);
    EXPECT_TRUE(linger(client_, "k", two.owner(), 20s));
    EXPECT_LE(server_.pttl("k"), 20'000);
    EXPECT_GT(server_.pttl("k"), 15'000);
    EXPECT_EQ(unlock(client_, "k", two.owner()), release_result::released);
    EXPECT_EQ(unlock(client_, "k", two.owner()), release_result::already_lost);
    EXPECT_TRUE(one.verify());
    EXPECT_FALSE(two.verify());
    EXPECT_LE(server_.pttl("k"), 5'000);
    EXPECT_EQ(unlock(client_, "k", one.owner()), release_result::released);
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(shared, inspect_tells_who_reads_and_for_how_long) {
    const auto one = here_.shared().acquire({.ttl = 30s, .label = "first"});
    auto found = inspect(client_, "k");
    ASSERT_TRUE(found.readers);
    ASSERT_EQ(found.readers->size(), 1U);
    EXPECT_EQ(found.readers->at(0).who.owner, one.owner());
    EXPECT_EQ(found.reading, 1U);
    const auto two = there_.shared().acquire({.ttl = 50s, .label = "second"});
    found = inspect(client_, "k");
    ASSERT_TRUE(found.readers);
    ASSERT_EQ(found.readers->size(), 2U);
    EXPECT_EQ(found.reading, 2U);
    EXPECT_EQ(found.readers->at(0).who.label, "second") << "the longest first";
    EXPECT_EQ(found.readers->at(1).who.label, "first");
    EXPECT_GT(found.readers->at(0).who.remaining.value_or(0ms), 40s);
    EXPECT_TRUE(found.held_by->reads);
    std::size_t seen = 0;
    list(client_, "*", [&](const lock_status& each) {
        ++seen;
        EXPECT_EQ(each.reading, 2U);
    });
    EXPECT_EQ(seen, 1U);
}

TEST_F(shared, tokens_of_writers_and_readers_rise_in_the_order_of_asking) {
    std::vector<std::uint64_t> tokens;
    tokens.push_back(here_.acquire().token());
    auto one = here_.acquire_shared();
    auto two = there_.acquire_shared();
    tokens.push_back(one.token());
    tokens.push_back(two.token());
    one.release();
    two.release();
    tokens.push_back(there_.acquire().token());
    tokens.push_back(mutex(client_, "k").acquire().token());
    for (std::size_t n = 1; n < tokens.size(); ++n) EXPECT_GT(tokens[n], tokens[n - 1]) << n;
}

TEST_F(shared, works_without_fencing) {
    shared_mutex one(client_, "k", {.fencing = false});
    const auto reads = one.acquire_shared();
    const auto too = there_.shared().acquire({.fencing = false});
    EXPECT_EQ(reads.token(), 0U);
    EXPECT_FALSE(one.try_acquire());
    EXPECT_FALSE(server_.exists("holdfast:{k}:fence"));
}

TEST_F(shared, is_a_shared_timed_mutex_of_the_standard) {
    {
        const std::shared_lock reads(here_);
        EXPECT_TRUE(reads.owns_lock());
        ASSERT_NE(here_.current_shared(), nullptr);
        EXPECT_EQ(here_.current(), nullptr);
        const std::shared_lock too(there_, std::try_to_lock);
        EXPECT_TRUE(too.owns_lock());
        const std::unique_lock writes(there_, std::try_to_lock);
        EXPECT_FALSE(writes.owns_lock());
        const std::unique_lock waits(there_, 30ms);
        EXPECT_FALSE(waits.owns_lock());
    }
    const std::unique_lock writes(here_);
    EXPECT_TRUE(writes.owns_lock());
    const std::shared_lock reads(there_, 30ms);
    EXPECT_FALSE(reads.owns_lock());
    const std::shared_lock until(there_, std::chrono::steady_clock::now() + 30ms);
    EXPECT_FALSE(until.owns_lock());
    EXPECT_EQ(here_.current_shared(), nullptr);
}

TEST_F(shared, threads_of_one_client_read_at_the_same_time) {
    constexpr int count = 16;
    std::atomic<int> inside = 0;
    std::atomic<int> most = 0;
    {
        std::vector<std::jthread> threads;
        for (int n = 0; n < count; ++n) {
            threads.emplace_back([&] {
                const std::shared_lock reads(here_);
                const auto now = ++inside;
                for (auto seen = most.load(); now > seen && !most.compare_exchange_weak(seen, now);)
                    ;
                EXPECT_TRUE(eventually(surely, [&] { return most == count; }));
            });
        }
    }
    EXPECT_EQ(most, count);
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(shared, a_reader_that_gives_up_leaves_nothing) {
    auto writes = there_.acquire();
    EXPECT_FALSE(here_.try_acquire_shared_for(50ms));
    std::stop_source stop;
    auto cancelled = std::async(std::launch::async, [&] {
        return error_of([&] { (void)here_.acquire_shared(stop.get_token()); }).code;
    });
    ASSERT_TRUE(eventually(surely, [&] {
        return server_.command({"LLEN", "holdfast:{k}:queue"}) == "1";
    }));
    stop.request_stop();
    EXPECT_EQ(cancelled.get(), errc::cancelled);
    EXPECT_TRUE(eventually(promptly, [&] { return !server_.exists("holdfast:{k}:queue"); }));
    writes.release();
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(shared, is_acquired_without_blocking_too) {
    auto writes = there_.acquire();
    auto waits = here_.async_acquire_shared(boost::asio::use_future);
    EXPECT_EQ(waits.wait_for(50ms), std::future_status::timeout);
    writes.release();
    auto reads = waits.get();
    ASSERT_TRUE(reads);
    EXPECT_TRUE(reads->verify());
    auto too = here_.shared().async_try_acquire_for(surely, {.ttl = 5s}, boost::asio::use_future);
    EXPECT_TRUE(too.get());
    const auto denied = there_.async_try_acquire_for(10ms, boost::asio::use_future).get();
    EXPECT_FALSE(denied);
}

TEST_F(shared, a_writer_goes_on_reading_with_nobody_in_between) {
    auto writes = here_.acquire({.ttl = 20s, .label = "import"});
    const auto token = writes.token();
    auto reads = here_.downgrade(std::move(writes));
    EXPECT_EQ(reads.token(), token);
    EXPECT_TRUE(reads.verify());
    EXPECT_TRUE(reads.owner().starts_with("hr1:"));
    EXPECT_EQ(server_.get("k"), reads.owner());
    EXPECT_FALSE(there_.try_acquire());
    const auto too = there_.try_acquire_shared();
    EXPECT_TRUE(too);
    EXPECT_TRUE(here_.try_acquire_shared()) << "of the same client";
    EXPECT_EQ(reads.release(), release_result::released);
    EXPECT_TRUE(too->verify());
}

TEST_F(shared, a_writers_lease_says_that_it_is_no_more_after_it_went_on_reading) {
    auto writes = here_.acquire();
    const auto owner = writes.owner();
    const auto reads = here_.downgrade(std::move(writes));
    EXPECT_EQ(unlock(client_, "k", owner), release_result::already_lost);
    EXPECT_FALSE(renew(client_, "k", owner, 30s));
    EXPECT_TRUE(reads.verify());
}

TEST_F(shared, a_thread_that_locked_goes_on_reading) {
    EXPECT_EQ(error_of([&] { here_.downgrade(); }).code, errc::not_held);
    here_.lock();
    here_.downgrade();
    EXPECT_EQ(here_.current(), nullptr);
    ASSERT_NE(here_.current_shared(), nullptr);
    EXPECT_TRUE(there_.try_lock_shared());
    there_.unlock_shared();
    here_.unlock_shared();
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(shared, a_lease_that_reads_or_is_of_another_lock_cannot_go_on_reading) {
    EXPECT_EQ(error_of([&] { (void)here_.downgrade(here_.acquire_shared()); }).code,
              errc::invalid_option);
    EXPECT_EQ(error_of([&] { (void)here_.downgrade(mutex(client_, "other").acquire()); }).code,
              errc::invalid_option);
    EXPECT_EQ(error_of([&] { (void)here_.downgrade(there_.acquire()); }).code,
              errc::invalid_option);
    EXPECT_FALSE(server_.exists("k")) << "what was given is released";
    auto lost = here_.acquire({.renew = false});
    server_.command({"DEL", "k"});
    EXPECT_EQ(error_of([&] { (void)here_.downgrade(std::move(lost)); }).code, errc::lost);
    EXPECT_FALSE(server_.exists("k")) << "nothing is created";
}

TEST_F(shared, one_that_goes_on_reading_while_the_server_does_not_answer_tells_it_later) {
    auto settings = settings_for(server_.url());
    settings.node_timeout = 300ms * slowness;
    client patient(settings);
    shared_mutex lock(patient, "k", with_ttl(6s * slowness));
    auto writes = lock.acquire();
    server_.pause();
    const auto reads = lock.downgrade(std::move(writes));
    server_.resume();
    EXPECT_TRUE(eventually(surely, [&] { return server_.get("k").value_or("") == reads.owner(); }));
    EXPECT_FALSE(reads.lost());
    EXPECT_TRUE(there_.try_acquire_shared());
}

TEST_F(shared, a_thousand_readers_cost_a_writer_no_more_than_one) {
    constexpr int count = 1000;
    std::vector<lease> reading;
    reading.reserve(count);
    const auto commands = [&] {
        const auto stats = server_.command({"INFO", "commandstats"});
        const auto ours = {"get", "pttl", "llen", "rpush", "lpos", "zscore", "zrevrange", "zadd"};
        std::int64_t sum = 0;
        for (const std::string name : ours) {
            const auto at = stats.find("cmdstat_" + name + ":calls=");
            if (at != stats.npos) sum += std::stoll(stats.substr(at + name.size() + 15));
        }
        return sum;
    };
    const auto cost_of_a_writer = [&] {
        const auto before = commands();
        EXPECT_FALSE(there_.try_acquire());
        return commands() - before;
    };
    reading.push_back(here_.acquire_shared());
    EXPECT_FALSE(there_.try_acquire());  // connects
    const auto with_one = cost_of_a_writer();
    while (reading.size() < count) reading.push_back(here_.shared().acquire({.renew = false}));
    EXPECT_EQ(cost_of_a_writer(), with_one);
    const auto info = inspect(client_, "k");
    EXPECT_EQ(info.reading, static_cast<std::size_t>(count));
    for (auto& each : reading) EXPECT_EQ(each.release(), release_result::released);
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(shared, a_key_that_is_no_lock_is_an_error_and_stays_as_it_is) {
    server_.command({"HSET", "k", "field", "1"});
    EXPECT_EQ(error_of([&] { here_.lock_shared(); }).code, errc::wrong_type);
    EXPECT_EQ(server_.command({"HGET", "k", "field"}), "1");
}

TEST_F(shared, what_is_no_list_of_readers_is_an_error_and_stays_as_it_is) {
    server_.command({"SET", readers_of_k, "mine"});
    const auto one = here_.acquire_shared();
    const auto error = error_of([&] { there_.lock_shared(); });
    EXPECT_EQ(error.code, errc::wrong_type) << error.what;
    EXPECT_EQ(server_.get(readers_of_k), "mine");
}

TEST_F(shared, what_is_no_counter_is_an_error_and_nothing_is_taken) {
    server_.command({"LPUSH", "holdfast:{k}:fence", "x"});
    EXPECT_EQ(error_of([&] { here_.lock_shared(); }).code, errc::wrong_type);
    EXPECT_FALSE(server_.exists("k"));
    const auto reads = here_.shared().acquire({.fencing = false});
    EXPECT_EQ(error_of([&] { there_.lock_shared(); }).code, errc::wrong_type);
    EXPECT_TRUE(reads.verify());
    EXPECT_EQ(listed(), 2U) << "who reads, and which time of reading it is";
}

TEST_F(shared, a_user_without_the_rights_to_the_readers_is_refused_beside_others) {
    server_.command({"ACL", "SETUSER", "app", "on", ">pw", "~*", "&*", "+@all", "-@sortedset"});
    client app(settings_for("redis://app:pw@127.0.0.1:" + std::to_string(server_.port())));
    const auto reads = here_.acquire_shared();
    const auto error = error_of([&] { shared_mutex(app, "k").lock_shared(); });
    EXPECT_EQ(error.code, errc::permission) << error.what;
    EXPECT_TRUE(reads.verify());
}

}  // namespace
}  // namespace holdfast::test
