#include <future>
#include <memory>
#include <thread>

#include "holdfast/operate.hpp"
#include "integration/library.hpp"
#include "integration/server_kinds.hpp"
#include "support/certificates.hpp"
#include "support/sentinel_group.hpp"

// A master, two replicas and three Sentinels, all real: what a fail-over does to locks.

namespace holdfast::test {
namespace {

constexpr auto max_ttl = 2s;
/// For how long a server that took another's place is asked for no votes: options::max_ttl, and
/// what clocks may differ by.
constexpr auto quarantine = 2s + 22ms;

options watched(const sentinel_group& by) {
    auto settings = settings_for(by.url());
    settings.max_ttl = max_ttl;
    settings.patience = surely;
    return settings;
}

/// New servers have forgotten nothing.
void vouch(const options& settings) {
    client operators(settings);
    for (const auto left : enlist(operators, true)) ASSERT_EQ(left, 0ms);
}

class sentinel : public testing::Test {
  protected:
    void SetUp() override {
        if (major_version() < 7) GTEST_SKIP() << "a sentinel has no users";
        group_ = std::make_unique<sentinel_group>();
        settings_ = watched(*group_);
        vouch(settings_);
    }

    [[nodiscard]] sentinel_group& group() { return *group_; }
    [[nodiscard]] redis_server& master() { return group_->server(0); }

    /// Longer than the Sentinels need: a replica that they promote hears of no renewal any more,
    /// and about a second passes until they look at it and name it.
    void allow_long_leases() {
        settings_.max_ttl = 10s;
        vouch(settings_);
    }

    /// So that whichever of them is promoted knows what the master knows.
    void replicate_all() {
        group_->wait_until_synchronous(1, 0);
        group_->wait_until_synchronous(2, 0);
    }

    struct granted_lease {
        lease what;
        milliseconds after;
    };
    static std::future<granted_lease> acquire_in_background(client& through,
                                                            const stopwatch& since) {
        return std::async(std::launch::async, [&] {
            auto made = through.acquire("k", with_ttl(1s));
            return granted_lease{std::move(made), since.elapsed()};
        });
    }

    /// While it is made one, its clients are hung up on.
    static bool is_replica_in_step(const redis_server& which) {
        try {
            return contains(which.command({"INFO", "replication"}), "master_link_status:up");
        } catch (const std::runtime_error&) {
            return false;
        }
    }

    /// The replicas lose a key that the master has: as if it had not reached them.
    void make_replicas_forget(const std::string& key) {
        for (const std::size_t n : {1U, 2U}) {
            group_->server(n).command({"CONFIG", "SET", "replica-read-only", "no"});
            group_->server(n).command({"DEL", key});
        }
    }

    std::unique_ptr<sentinel_group> group_;
    options settings_;
};

TEST_F(sentinel, a_lock_is_taken_at_the_master_that_they_name) {
    client through(settings_);
    mutex key(through, "k", with_ttl(1s));
    {
        const std::lock_guard lock(key);
        EXPECT_TRUE(master().exists("k"));
    }
    EXPECT_FALSE(master().exists("k"));
    client another(settings_);
    const auto lease = another.acquire("k", with_ttl(1s));
    EXPECT_FALSE(key.try_acquire(with_ttl(1s)));
}

TEST_F(sentinel, fair_locks_are_allowed_since_a_group_is_one_voter) {
    client through(settings_);
    EXPECT_TRUE(mutex(through, "k", {.ttl = 1s, .fair = true}).try_acquire());
}

TEST_F(sentinel, the_next_lock_is_granted_soon_after_a_master_was_killed) {
    client through(settings_);
    { const auto before = through.acquire("k", with_ttl(1s)); }
    const stopwatch since_kill;
    master().kill_hard();
    auto waits = acquire_in_background(through, since_kill);
    const auto next = group().wait_for_another(0);
    const auto named = since_kill.elapsed();
    const auto [lease, granted] = waits.get();
    EXPECT_TRUE(group().server(next).exists("k"));
    test::record("sentinels_took", named);
    test::record("granted_after", granted);
    test::record("above_sentinels_and_quarantine", granted - named - quarantine);
    EXPECT_LT(granted - named - quarantine, 1s * slowness);
    EXPECT_GE(granted, quarantine) << "it is another life";
}

TEST_F(sentinel, a_master_that_stands_still_is_left_and_is_not_gone_back_to) {
    client through(settings_);
    { const auto before = through.acquire("k", with_ttl(1s)); }
    const stopwatch since_stop;
    master().pause();
    auto waits = acquire_in_background(through, since_stop);
    const auto next = group().wait_for_another(0);
    const auto named = since_stop.elapsed();
    const auto [lease, granted] = waits.get();
    test::record("above_sentinels_and_quarantine", granted - named - quarantine);
    EXPECT_LT(granted - named - quarantine, 1s * slowness);
    master().resume();
    ASSERT_TRUE(eventually(surely, [&] { return is_replica_in_step(master()); }));
    EXPECT_TRUE(lease.verify());
    EXPECT_GT(group().server(next).pttl("k"), 0);
}

TEST_F(sentinel, a_lease_goes_on_through_a_fail_over_where_the_new_master_knows_it) {
    allow_long_leases();
    client through(settings_);
    const auto lease = through.acquire("k", with_ttl(8s));
    replicate_all();
    group().fail_over();
    const auto next = group().wait_for_another(0);
    const auto renewed_until = lease.valid_until() + 3s;
    EXPECT_TRUE(eventually(
        surely, [&] { return lease.lost() || clock::now() + lease.remaining() > renewed_until; }));
    EXPECT_FALSE(lease.lost());
    EXPECT_GT(group().server(next).pttl("k"), 0);
    EXPECT_TRUE(lease.verify());
}

TEST_F(sentinel, a_leader_leads_on_through_a_fail_over_and_its_observers_hear_of_no_other) {
    allow_long_leases();
    client through(settings_);
    client another(settings_);
    election candidate(through, "k", "value", with_ttl(8s));
    election_observer observer(another, "k");
    const auto lease = candidate.campaign();
    EXPECT_EQ(observer.next().term, lease.token());
    replicate_all();
    group().fail_over();
    const auto next = group().wait_for_another(0);
    EXPECT_TRUE(eventually(surely, [&] {
        std::error_code error;
        return candidate.leader(error).term == lease.token();
    }));
    EXPECT_TRUE(group().server(next).exists("holdfast:{k}:leader"));
    EXPECT_FALSE(observer.try_next_for(1s)) << "nobody else leads";
    EXPECT_TRUE(candidate.is_leader());
    EXPECT_EQ(candidate.resign(), release_result::released);
    EXPECT_FALSE(observer.next());
}

TEST_F(sentinel, a_latch_keeps_who_counted_down_through_a_fail_over) {
    client through(settings_);
    client another(settings_);
    latch here(through, "l", 2);
    latch there(another, "l", 2);
    here.count_down();
    auto waits = std::async(std::launch::async, [&] { return there.try_wait_for(surely); });
    group().fail_over();
    (void)group().wait_for_another(0);
    here.count_down();
    EXPECT_TRUE(waits.get());
}

TEST_F(sentinel, a_lease_goes_on_while_the_old_master_stands_still) {
    allow_long_leases();
    client through(settings_);
    const auto lease = through.acquire("k", with_ttl(8s));
    replicate_all();
    master().pause();
    const auto next = group().wait_for_another(0);
    const auto renewed_until = lease.valid_until() + 3s;
    EXPECT_TRUE(eventually(
        surely, [&] { return lease.lost() || clock::now() + lease.remaining() > renewed_until; }));
    EXPECT_FALSE(lease.lost());
    EXPECT_GT(group().server(next).pttl("k"), 0);
    master().resume();
}

TEST_F(sentinel, a_lease_that_the_new_master_does_not_know_is_lost_in_time_and_guarded_until_then) {
    client through(settings_);
    client another(settings_);
    mutex rival(another, "k", with_ttl(1s));
    ASSERT_TRUE(mutex(another, "other").try_acquire(with_ttl(1s)));
    const auto lease = through.acquire("k", with_ttl(1500ms));
    std::promise<clock::time_point> lost;
    const std::stop_callback announced(lease.stop_token(), [&] { lost.set_value(clock::now()); });
    replicate_all();
    make_replicas_forget("k");
    auto last_deadline = lease.valid_until();
    group().fail_over();
    auto announcement = lost.get_future();
    while (announcement.wait_for(1ms) != std::future_status::ready) {
        last_deadline = std::max(last_deadline, lease.valid_until());
        ASSERT_LT(clock::now(), last_deadline) << "its end was not announced";
        std::error_code error;
        ASSERT_FALSE(rival.try_acquire(with_ttl(1s), error)) << "two hold it";
    }
    last_deadline = std::max(last_deadline, lease.valid_until());
    EXPECT_LT(announcement.get(), last_deadline);
    rival.lock();
    EXPECT_GE(clock::now(), last_deadline);
    rival.unlock();
}

TEST_F(sentinel, any_one_of_them_is_enough_and_they_come_and_go) {
    client through(settings_);
    mutex key(through, "k", with_ttl(1s));
    for (const std::size_t alive : {0U, 1U, 2U}) {
        for (const std::size_t n : {0U, 1U, 2U}) {
            if (n != alive) group().sentinel(n).kill_hard();
        }
        client fresh(settings_);
        EXPECT_TRUE(mutex(fresh, "fresh", with_ttl(1s)).try_acquire()) << alive;
        EXPECT_TRUE(key.try_lock()) << alive;
        key.unlock();
        for (const std::size_t n : {0U, 1U, 2U}) group().sentinel(n).start();
    }
}

TEST_F(sentinel, a_client_outlives_all_of_them_as_long_as_its_master_is_there) {
    client through(settings_);
    const auto lease = through.acquire("k", with_ttl(1s));
    for (const std::size_t n : {0U, 1U, 2U}) group().sentinel(n).kill_hard();
    const auto renewed_until = lease.valid_until() + 2s;
    EXPECT_TRUE(eventually(
        surely, [&] { return lease.lost() || clock::now() + lease.remaining() > renewed_until; }));
    EXPECT_FALSE(lease.lost());
    EXPECT_TRUE(mutex(through, "another", with_ttl(1s)).try_acquire());
    settings_.patience = 0ms;
    client fresh(settings_);
    const auto error = error_of([&] { mutex(fresh, "x", with_ttl(1s)).lock(); });
    EXPECT_EQ(error.code, errc::unreachable) << error.what;
    EXPECT_TRUE(contains(error.what, "no Sentinel names the master")) << error.what;
    for (const std::size_t n : {0U, 1U, 2U}) {
        EXPECT_TRUE(contains(error.what, "127.0.0.1:" + std::to_string(group().sentinel(n).port()) +
                                             ": Connection refused"))
            << error.what;
    }
}

TEST_F(sentinel, sentinels_that_stand_still_do_not_hold_a_client_up_for_long) {
    group().sentinel(0).pause();
    group().sentinel(1).pause();
    client through(settings_);
    const stopwatch watch;
    EXPECT_TRUE(mutex(through, "k", with_ttl(1s)).try_acquire());
    EXPECT_LT(watch.elapsed(), 1s * slowness);
    group().sentinel(0).resume();
    group().sentinel(1).resume();
}

TEST_F(sentinel, the_operators_commands_work_on_a_group) {
    client through(settings_);
    const auto lease = through.acquire("k", with_ttl(1s));
    const auto reports = examine(through);
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].node, "main at 127.0.0.1:" + std::to_string(master().port()));
    EXPECT_EQ(reports[0].role, "master");
    EXPECT_TRUE(reports[0].unsupported.empty()) << reports[0].unsupported;
}

TEST(sentinel_quorum, three_groups_vote_and_one_fails_over_without_anybody_noticing) {
    if (major_version() < 7) GTEST_SKIP() << "a sentinel has no users";
    std::vector<std::unique_ptr<sentinel_group>> groups;
    options settings;
    for (int n = 0; n < 3; ++n) {
        groups.push_back(std::make_unique<sentinel_group>(
            sentinel_group_options{.replicas = 1, .sentinels = 1}));
        settings.urls.push_back(groups.back()->url());
    }
    settings.max_ttl = max_ttl;
    settings.replica_acks = replicas::none();  // two have no majority where one of them is gone
    vouch(settings);
    client through(settings);
    const auto lease = through.acquire("k", with_ttl(1500ms));
    groups[0]->server(0).kill_hard();
    mutex other(through, "other", with_ttl(1s));
    other.lock();
    other.unlock();
    groups[0]->wait_for_another(0);
    const auto renewed_until = lease.valid_until() + 2s;
    EXPECT_TRUE(eventually(
        surely, [&] { return lease.lost() || clock::now() + lease.remaining() > renewed_until; }));
    EXPECT_FALSE(lease.lost());
    groups[1]->server(0).kill_hard();
    // The first group's new master is needed for a majority now, after its quarantine.
    EXPECT_TRUE(eventually(surely, [&] {
        std::error_code error;
        return other.try_acquire(with_ttl(1s), error).has_value();
    }));
}

TEST(sentinel_tls, is_spoken_to_servers_and_sentinels) {
    if (major_version() < 7) GTEST_SKIP() << "a sentinel has no users";
    const scratch_directory directory{"tls"};
    certificate_authority authority{directory.path()};
    const auto files = authority.issue_server("good", {"localhost", "127.0.0.1"});
    const sentinel_group group(
        {.replicas = 1,
         .sentinels = 1,
         .tls = tls_files{
             .certificate = files.certificate, .key = files.key, .authority = authority.file()}});
    auto settings = watched(group);
    settings.connect_timeout = surely / 2;
    settings.tls.ca_file = authority.file();
    vouch(settings);
    client through(settings);
    EXPECT_TRUE(mutex(through, "k", with_ttl(1s)).try_acquire());

    settings.tls.ca_file.clear();
    client distrustful(settings);
    const auto error = error_of([&] { mutex(distrustful, "k", with_ttl(1s)).lock(); });
    EXPECT_EQ(error.code, errc::untrusted) << error.what;
    EXPECT_TRUE(contains(error.what, "no Sentinel names the master")) << error.what;
}

}  // namespace
}  // namespace holdfast::test
