#include <atomic>
#include <thread>

#include "core/judge.hpp"
#include "holdfast/operate.hpp"
#include "integration/library.hpp"
#include "scripts/embedded.hpp"
#include "support/fault_proxy.hpp"
#include "support/replication_group.hpp"

// What is granted counts when so many replicas know it that no fail-over can give it away twice.

namespace holdfast::test {
namespace {

options acknowledged_at(const std::string& url, std::size_t acks, milliseconds max_ttl = 20s) {
    auto settings = settings_for(url);
    settings.replica_acks = replicas::exactly(acks);
    settings.max_ttl = max_ttl;
    settings.patience = 0ms;
    return settings;
}

void vouch(const options& settings) {
    client operators(settings);
    for (const auto left : enlist(operators, true)) ASSERT_EQ(left, 0ms);
}

/// A master with two replicas that has been vouched for.
class acknowledgement : public testing::Test {
  protected:
    [[nodiscard]] options settings(std::size_t acks = 1, milliseconds max_ttl = 20s) {
        return acknowledged_at(group.master().url(), acks, max_ttl);
    }

    replication_group group;
};

thrown_error refusal(client& through, const std::string& key) {
    return error_of([&] { (void)through.try_acquire(key, with_ttl(1s)); });
}

TEST_F(acknowledgement, both_replicas_have_the_lock_when_all_were_asked_for) {
    vouch(settings(2));
    client one(settings(2));
    for (int n = 0; n < 100; ++n) {
        const auto key = "k" + std::to_string(n);
        const auto lease = one.acquire(key, with_ttl(10s));
        ASSERT_EQ(group.server(1).get(key), lease.owner());
        ASSERT_EQ(group.server(2).get(key), lease.owner());
    }
}

TEST_F(acknowledgement, one_of_two_replicas_is_a_majority_with_the_master) {
    vouch(settings());
    client one(settings());
    group.server(2).pause();
    EXPECT_NO_THROW((void)one.acquire("k", with_ttl(10s)));
    EXPECT_NO_THROW((void)one.acquire("unfenced", {.ttl = 10s, .fencing = false}));
    group.server(2).resume();
}

TEST_F(acknowledgement, who_asks_for_both_needs_both) {
    vouch(settings(2));
    client one(settings(2));
    one.connect();
    group.server(2).pause();
    const auto error = refusal(one, "k");
    group.server(2).resume();
    EXPECT_EQ(error.code, errc::unreachable);
    EXPECT_TRUE(contains(error.what,
                         "granted, but acknowledged by 1 of the 2 replicas that replica_acks asks "
                         "for"))
        << error.what;
    EXPECT_TRUE(eventually(surely, [&] { return !group.master().exists("k"); }))
        << "it was released";
}

TEST_F(acknowledgement, without_its_replicas_a_master_gives_no_lock_and_keeps_no_key) {
    vouch(settings());
    client one(settings());
    one.connect();
    group.server(1).kill_hard();
    group.server(2).kill_hard();
    for (const bool fencing : {true, false}) {
        const auto error =
            error_of([&] { (void)one.try_acquire("k", {.ttl = 1s, .fencing = fencing}); });
        EXPECT_EQ(error.code, errc::unreachable);
        EXPECT_TRUE(contains(error.what, "granted, but acknowledged by 0 of the 1 replicas"))
            << error.what;
        EXPECT_TRUE(eventually(surely, [&] { return !group.master().exists("k"); }));
    }
}

TEST_F(acknowledgement, a_lease_is_announced_as_lost_when_its_renewals_reach_no_replica) {
    vouch(settings());
    client one(settings());
    const auto lease = one.acquire("k", {.ttl = 2s, .loss_notice = 500ms});
    const auto stop = lease.stop_token();
    group.server(1).pause();
    group.server(2).pause();
    ASSERT_TRUE(eventually(surely, [&] { return stop.stop_requested(); }));
    EXPECT_FALSE(lease.lost()) << "its holder was told before";
    ASSERT_TRUE(eventually(surely, [&] { return lease.lost(); }));
    EXPECT_TRUE(group.master().exists("k")) << "the master alone went on granting it";
    group.server(1).resume();
    group.server(2).resume();
}

TEST_F(acknowledgement, callers_share_what_they_wait_for) {
    vouch(settings());
    client one(settings());
    one.connect();
    const auto waits = [&] {
        const auto said = group.master().command({"INFO", "commandstats"});
        const auto at = said.find("cmdstat_wait:calls=");
        return at == said.npos ? 0 : std::stoi(said.substr(at + 19));
    };
    const int before = waits();
    std::vector<std::thread> callers;
    for (int n = 0; n < 16; ++n) {
        callers.emplace_back([&, n] {
            for (int round = 0; round < 25; ++round) {
                (void)one.acquire("k" + std::to_string(n), with_ttl(10s)).release();
            }
        });
    }
    for (auto& each : callers) each.join();
    RecordProperty("rounds_for_400_grants", waits() - before);
    EXPECT_LT(waits() - before, 400) << "one WAIT confirms several";
}

TEST_F(acknowledgement, a_grant_is_acknowledged_for_who_was_called_in_the_queue) {
    vouch(settings(2));
    client one(settings(2));
    client two(settings(2));
    auto lease = one.acquire("k", with_ttl(10s));
    std::optional<holdfast::lease> next;
    std::thread waiter([&] { next.emplace(two.acquire("k", with_ttl(10s))); });
    ASSERT_TRUE(eventually(surely, [&] { return group.master().exists("holdfast:{k}:queue"); }));
    (void)lease.release();
    waiter.join();
    EXPECT_EQ(group.server(1).get("k"), next->owner());
    EXPECT_EQ(group.server(2).get("k"), next->owner());
}

// Fail-overs by hand. The leases are short, so that a quarantine is.

constexpr milliseconds short_ttl = 1s;

/// One client holds a lock at the old master, and another one is after it at the new one.
class fail_over : public acknowledgement {
  protected:
    options at(const redis_server& server) { return acknowledged_at(server.url(), 1, short_ttl); }

    /// When the lock was asked for that it got, or nullopt.
    static std::optional<clock::time_point> try_for(client& whom) {
        const auto asked = clock::now();
        std::error_code error;
        auto lease = mutex(whom, "k", with_ttl(short_ttl)).try_acquire(with_ttl(short_ttl), error);
        if (!lease.has_value()) return std::nullopt;
        (void)lease->release();
        return asked;
    }
};

TEST_F(fail_over, an_old_master_that_is_still_followed_gives_nothing_away_with_the_new_one) {
    vouch(at(group.master()));
    client one(at(group.master()));
    const auto lease = one.acquire("k", with_ttl(short_ttl));
    group.promote(1);
    client two(at(group.server(1)));
    const auto error = refusal(two, "k");
    EXPECT_TRUE(contains(error.what, "enlisted, but acknowledged by 0 of the 1 replicas"))
        << error.what;
    // Longer than a quarantine that began with the first try.
    const auto until = clock::now() + 2 * short_ttl;
    while (clock::now() < until) ASSERT_FALSE(try_for(two));
    ASSERT_FALSE(lease.lost()) << "the third server follows the old master, and acknowledges";
    group.follow(2, 1);
    std::optional<clock::time_point> granted;
    ASSERT_TRUE(eventually(surely, [&] { return (granted = try_for(two)).has_value(); }));
    EXPECT_TRUE(lease.lost());
    EXPECT_GT(*granted, lease.valid_until()) << "a lock was valid on both sides";
}

TEST_F(fail_over, an_old_master_that_is_cut_off_with_its_clients_keeps_no_lease_alive) {
    fault_proxy between(group.master().port());
    for (const std::size_t n : {1U, 2U}) group.follow_address(n, between.port());
    group.await_acknowledgement(0, 2);
    vouch(at(group.master()));
    client one(at(group.master()));
    const auto lease = one.acquire("k", with_ttl(short_ttl));
    between.silence();
    group.promote(1);
    group.follow(2, 1);
    client two(at(group.server(1)));
    std::optional<clock::time_point> granted;
    ASSERT_TRUE(eventually(surely, [&] { return (granted = try_for(two)).has_value(); }));
    EXPECT_TRUE(lease.lost());
    EXPECT_GT(*granted, lease.valid_until()) << "a lock was valid on both sides";
    EXPECT_TRUE(group.master().exists("k")) << "the old master knows nothing of it";
    EXPECT_TRUE(contains(refusal(one, "another").what, "acknowledged by 0 of the 1 replicas"));
}

TEST_F(fail_over, tokens_grow_across_it) {
    vouch(at(group.master()));
    client one(at(group.master()));
    const auto before = one.acquire("k", with_ttl(short_ttl)).token();
    group.master().kill_hard();
    group.promote(1);
    group.follow(2, 1);
    client two(at(group.server(1)));
    ASSERT_TRUE(eventually(surely, [&] { return try_for(two).has_value(); }));
    EXPECT_GT(two.acquire("k", with_ttl(short_ttl)).token(), before);
}

TEST_F(fail_over, a_lease_that_the_new_master_knows_goes_on_there) {
    vouch(settings(1, 10s));
    client one(settings(1, 10s));
    const auto lease = one.acquire("k", with_ttl(5s));
    group.promote(1);
    group.follow(2, 1);
    client two(acknowledged_at(group.server(1).url(), 1, 10s));
    // As one does whose address has moved: under the same owner, at the new master.
    const auto renewed = renew(two, "k", lease.owner(), 5s);
    ASSERT_TRUE(renewed) << "a renewal asks for no vote, so the quarantine does not keep it";
    EXPECT_GT(*renewed, clock::now() + 3s);
}

// On connections that stay: the heartbeat would notice within seconds, the acknowledgement does at
// once.
TEST_F(fail_over, a_master_that_was_demoted_and_promoted_again_grants_nothing_that_counts) {
    vouch(settings());
    client one(settings());
    one.connect();
    group.promote(1);
    group.follow(2, 1);
    group.follow(0, 1);
    group.promote(0);
    group.follow(1, 0);
    group.follow(2, 0);
    group.await_acknowledgement(0, 2);
    EXPECT_FALSE(try_for(one)) << "it may have forgotten what it knew";
}

// The record, as the script keeps it on a real server.

class group_record : public testing::Test {
  protected:
    /// Code and third number of the answer.
    std::pair<std::int64_t, std::int64_t> enlist(const std::string& run, const std::string& span,
                                                 const std::string& members,
                                                 const std::string& acks,
                                                 const std::string& acknowledged) {
        const auto said =
            server.query({"EVAL", std::string(scripts::enlist.text), "4",
                          std::string(core::record_key), std::string(core::life_key),
                          std::string(core::marker_key), std::string(core::quarantine_key), run,
                          "id", "0", span, "60000", members, acks, acknowledged});
        const bool refused = said.elements.empty() || said.elements[0].integer == 4;
        EXPECT_EQ(said.elements.size(), refused ? 5U : 6U) << to_string(said);
        if (said.elements.size() < 5) return {-1, 0};
        grown_ = refused ? 0 : said.elements[5].integer;
        return {said.elements[0].integer, said.elements[2].integer};
    }
    std::int64_t grown_ = 0;  // by the last answer
    std::string record() { return server.get(std::string(core::record_key)).value_or(""); }

    redis_server server;
};

TEST_F(group_record, a_quarantine_begins_after_the_acknowledgement_and_then_counts_for_all) {
    EXPECT_EQ(enlist("a", "60000", "3", "1", "0").first, 3);
    EXPECT_FALSE(contains(record(), "until=")) << record();
    EXPECT_TRUE(contains(record(), "run=a")) << "that is what the replicas have to know";
    EXPECT_EQ(enlist("a", "60000", "3", "1", "1").first, 1);
    EXPECT_TRUE(contains(record(), "acks=1 group=3")) << record();
    EXPECT_EQ(enlist("a", "60000", "3", "1", "0").first, 0) << "it can be relied on";
    EXPECT_EQ(enlist("a", "60000", "3", "2", "0").first, 3) << "by who asks for more it cannot";
    EXPECT_EQ(enlist("b", "60000", "3", "1", "0").first, 3) << "nor in another life";
    EXPECT_FALSE(contains(record(), "acks=")) << record();
}

TEST_F(group_record, a_quarantine_that_nobody_acknowledged_does_not_count_for_who_asks_for_it) {
    EXPECT_EQ(enlist("a", "60000", "0", "0", "1").first, 1);
    EXPECT_EQ(enlist("a", "60000", "0", "0", "1").first, 0);
    EXPECT_EQ(enlist("a", "60000", "0", "1", "0").first, 3);
    EXPECT_EQ(enlist("a", "60000", "0", "1", "1").first, 1);
}

TEST_F(group_record, keeps_the_size_of_the_group_and_refuses_a_smaller_one) {
    EXPECT_EQ(enlist("a", "60000", "0", "0", "1").first, 1);
    EXPECT_FALSE(contains(record(), "group=")) << "not known is not noted";
    EXPECT_EQ(enlist("a", "", "3", "1", "1").first, 0) << "a record without it takes it";
    EXPECT_TRUE(contains(record(), "group=3")) << record();
    const auto before = record();
    EXPECT_EQ(enlist("a", "60000", "2", "1", "1"), (std::pair<std::int64_t, std::int64_t>{4, 3}));
    EXPECT_EQ(enlist("b", "", "1", "0", "1").first, 4) << "in another life, too";
    EXPECT_EQ(record(), before) << "nothing was changed";
    EXPECT_EQ(enlist("a", "60000", "0", "0", "1").first, 0) << "who does not know it may come";
    EXPECT_EQ(enlist("a", "0", "2", "1", "1").first, 1) << "an operator sets it anew";
    EXPECT_TRUE(contains(record(), "group=2")) << record();
}

TEST_F(group_record, goes_on_saying_what_a_group_that_has_grown_was) {
    EXPECT_EQ(enlist("a", "60000", "3", "1", "1").first, 1);
    EXPECT_EQ(grown_, 0);
    EXPECT_EQ(enlist("a", "60000", "5", "3", "0").first, 0) << "its quarantine can be relied on";
    EXPECT_EQ(grown_, 3);
    EXPECT_EQ(enlist("b", "60000", "5", "3", "0").first, 3) << "another life has to be known first";
    EXPECT_EQ(grown_, 3);
    EXPECT_EQ(enlist("b", "60000", "5", "3", "1").first, 1);
    EXPECT_TRUE(contains(record(), "acks=3 group=3")) << record();
    EXPECT_EQ(enlist("b", "60000", "3", "1", "0").first, 0) << "who knows of three goes on";
    EXPECT_EQ(grown_, 0);
    EXPECT_EQ(enlist("b", "0", "5", "2", "1").first, 1) << "an operator notes it";
    EXPECT_TRUE(contains(record(), "group=5")) << record();
}

}  // namespace
}  // namespace holdfast::test
