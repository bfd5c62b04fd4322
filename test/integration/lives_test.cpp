#include <future>
#include <thread>

#include "core/judge.hpp"
#include "integration/quorum.hpp"
#include "integration/server_kinds.hpp"
#include "integration/version_0_1.hpp"
#include "scripts/embedded.hpp"

// A server that comes back, is emptied, or becomes another's replica for a while may have forgotten
// locks, and its fencing counters may have gone back. Every such life is enlisted before any vote.

namespace holdfast::test {
namespace {

options guarded(const redis_server& server, milliseconds max_ttl = 20s) {
    auto settings = settings_for(server.url());
    settings.restart_guard = true;
    settings.max_ttl = max_ttl;
    return settings;
}

void vouch(const options& settings) {
    client operators(settings);
    for (const auto left : enlist(operators, true)) ASSERT_EQ(left, 0ms);
}

/// Its replicas need not wait for others that might come.
redis_options prompt() { return {.configuration = {"repl-diskless-sync-delay 0"}}; }

void replicate(const redis_server& replica, const redis_server& master) {
    replica.command({"REPLICAOF", "127.0.0.1", std::to_string(master.port())});
    ASSERT_TRUE(eventually(surely, [&] {
        return contains(replica.command({"INFO", "replication"}), "master_link_status:up");
    }));
}

bool quarantined(client& through, const std::string& key) {
    std::error_code error;  // a server that was emptied this moment is out of reach
    const auto denied = mutex(through, key, with_ttl(1s)).try_acquire(with_ttl(1s), error);
    return !denied.has_value() && denied.held_by() && denied.held_by()->quarantine;
}

// T1.

// An append-only server that has no append-only file yet loads nothing, its snapshot neither: what
// its settings promise for this life says nothing about what it forgot of the last.
TEST(lives, a_majority_that_comes_back_empty_waits_although_it_now_syncs_every_write) {
    quorum nodes(3, {}, 20s);
    auto settings = nodes.settings();
    settings.patience = 0ms;
    client one(settings);
    const auto lease = one.acquire("k", {.ttl = 15s, .renew = false});
    for (const std::size_t n : {0U, 1U}) {
        nodes.server(n).command({"SAVE"});
        nodes.server(n).kill_hard();
        nodes.server(n).configure({"appendonly yes", "appendfsync always"});
        nodes.server(n).start();
        ASSERT_FALSE(nodes.server(n).exists("k")) << "it was to come back empty";
    }
    client two(settings);
    EXPECT_TRUE(eventually(surely, [&] { return quarantined(two, "k"); }));
    EXPECT_FALSE(lease.lost()) << "the first client still believes, and may";
}

/// What makes a server forget, or read its data again, and breaks no connection.
class emptying : public testing::TestWithParam<std::vector<std::string>> {
  protected:
    /// Redis 7 and what followed it do not let everybody debug them.
    static redis_options debuggable() {
        if (major_version() < 7) return {};
        return {.configuration = {"enable-debug-command yes"}};
    }
};

TEST_P(emptying, lets_nobody_be_asked_for_a_vote_on_connections_that_stay) {
    redis_server server(debuggable());
    const auto settings = guarded(server);
    vouch(settings);
    client one(settings);
    client two(settings);
    two.connect();
    for (int round = 0; round < 5; ++round) {
        const auto key = "k" + std::to_string(round);
        const auto lease = one.acquire(key, {.ttl = 15s, .renew = false});
        ASSERT_FALSE(mutex(two, key, with_ttl(1s)).try_acquire().has_value());
        // DEBUG RELOAD brings back what was there: these two were not.
        server.command({"DEL", "holdfast:record", key});
        server.command(GetParam());
        std::error_code error;
        EXPECT_FALSE(mutex(two, key, with_ttl(1s)).try_acquire(with_ttl(1s), error).has_value())
            << round;
        EXPECT_TRUE(eventually(surely, [&] { return quarantined(two, key); }));
        vouch(settings);
        ASSERT_TRUE(eventually(surely, [&] { return !quarantined(one, "free"); }));
        ASSERT_TRUE(eventually(surely, [&] { return !quarantined(two, "free"); }));
    }
}

INSTANTIATE_TEST_SUITE_P(lives, emptying,
                         testing::Values(std::vector<std::string>{"FLUSHALL"},
                                         std::vector<std::string>{"FLUSHDB"},
                                         std::vector<std::string>{"DEBUG", "RELOAD"}),
                         [](const auto& each) { return "by_" + each.param.back(); });

// It keeps its run_id and every connection. The other server knows nothing of the lock, and has the
// record of the life in which this one was enlisted.
TEST(lives, a_master_that_was_demoted_and_promoted_again_is_another_life) {
    redis_server server(prompt());
    redis_server other(prompt());
    const auto settings = guarded(server);
    vouch(settings);
    replicate(other, server);
    other.command({"REPLICAOF", "NO", "ONE"});
    client one(settings);
    client two(settings);
    two.connect();
    const auto lease = one.acquire("k", {.ttl = 15s, .renew = false});
    replicate(server, other);
    ASSERT_FALSE(server.exists("k"));
    server.command({"REPLICAOF", "NO", "ONE"});
    EXPECT_TRUE(eventually(surely, [&] { return quarantined(two, "k"); })) << "idle connection";
    client three(settings);
    EXPECT_TRUE(quarantined(three, "k")) << "new connection";
    EXPECT_FALSE(lease.lost());
}

TEST(lives, a_first_replica_does_not_end_a_life) {
    redis_server server(prompt());
    redis_server replica(prompt());
    const auto settings = guarded(server);
    vouch(settings);
    client one(settings);
    one.connect();
    const auto before = server.command({"INFO", "replication"});
    replicate(replica, server);
    ASSERT_NE(before.substr(before.find("master_replid:"), 54),
              server.command({"INFO", "replication"}).substr(before.find("master_replid:"), 54));
    client two(settings);
    EXPECT_TRUE(mutex(two, "k", with_ttl(1s)).try_acquire().has_value());
    EXPECT_TRUE(mutex(one, "j", with_ttl(1s)).try_acquire().has_value());
}

// Clients that connected before it did have other ids than those that come after.
TEST(lives, a_promoted_server_that_forgets_its_second_replication_id_goes_on_living) {
    auto forgetful = prompt();
    forgetful.configuration.emplace_back("repl-backlog-ttl 1");
    redis_server server(forgetful);
    redis_server other(prompt());
    replicate(server, other);
    server.command({"REPLICAOF", "NO", "ONE"});
    const auto settings = guarded(server);
    vouch(settings);
    client before(settings);
    ASSERT_FALSE(quarantined(before, "k"));
    ASSERT_TRUE(eventually(surely, [&] {
        return contains(server.command({"INFO", "replication"}), "master_replid2:00000000");
    }));
    client after(settings);
    EXPECT_FALSE(
        eventually(3s, [&] { return quarantined(after, "k") || quarantined(before, "k"); }));
}

TEST(lives, a_client_without_the_guard_that_came_first_hides_no_quarantine) {
    redis_server server;
    const auto settings = guarded(server);
    vouch(settings);
    server.restart(data::lost);
    client unguarded(server.url());
    unguarded.connect();
    client careful(settings);
    EXPECT_TRUE(quarantined(careful, "k"));
}

/// Answers come so late that a request is on its way before the word that the server was emptied is
/// here.
class emptied : public testing::Test {
  protected:
    emptied() { network_.delay(direction::to_client, 50ms); }

    [[nodiscard]] options settings() const {
        auto result = settings_for(network_.url());
        result.node_timeout = surely;
        result.connect_timeout = surely;
        return result;
    }

    redis_server server_;
    fault_proxy network_{server_.port()};
};

TEST_F(emptied, while_it_is_asked_it_is_asked_again_by_who_does_not_wait) {
    client through(settings());
    mutex one(through, "k");
    for (int turn = 0; turn < 5; ++turn) {
        EXPECT_EQ(one.acquire().release(), release_result::released);
        server_.command({"FLUSHALL"});
        const auto error = error_of([&] { EXPECT_TRUE(one.try_acquire()) << turn; });
        EXPECT_EQ(error.what, "");
    }
    EXPECT_EQ(through.statistics().connected, 6U) << "the word came before it was asked";
    EXPECT_TRUE(eventually(surely, [&] { return !server_.exists("k"); }));
}

TEST(lives, a_quorum_that_is_emptied_while_it_is_asked_is_asked_again_by_who_does_not_wait) {
    quorum nodes(3);
    auto settings = nodes.settings();
    settings.restart_guard = false;
    client through(settings);
    mutex one(through, "k");
    for (int turn = 0; turn < 5; ++turn) {
        EXPECT_EQ(one.acquire().release(), release_result::released);
        for (std::size_t n = 0; n < 3; ++n) nodes.server(n).command({"FLUSHALL"});
        const auto error = error_of([&] { EXPECT_TRUE(one.try_acquire()) << turn; });
        EXPECT_EQ(error.what, "") << turn;
    }
}

TEST_F(emptied, while_it_is_asked_it_grants_nothing_where_it_is_guarded) {
    auto guarded = settings();
    guarded.restart_guard = true;
    vouch(guarded);
    client through(guarded);
    mutex one(through, "k");
    EXPECT_EQ(one.acquire().release(), release_result::released);
    server_.command({"FLUSHALL"});
    const auto denied = one.try_acquire();
    EXPECT_TRUE(denied.held_by() && denied.held_by()->quarantine);
}

TEST(lives, nobody_votes_who_would_not_tell_that_it_was_emptied) {
    redis_server server;
    server.command(
        {"ACL", "SETUSER", "mute", "on", ">secret", "~*", "+@all", "-client", "+client|setname"});
    auto settings = guarded(server);
    settings.user = "mute";
    settings.password = "secret";
    settings.patience = 0ms;
    client through(settings);
    const auto error = error_of([&] { (void)mutex(through, "k", with_ttl(1s)).try_acquire(); });
    EXPECT_EQ(error.code, errc::unsafe_server);
    EXPECT_TRUE(contains(error.what, "TRACKING")) << error.what;
}

TEST(lives, whoever_waits_hears_that_somebody_vouched) {
    redis_server server;
    const auto settings = guarded(server);
    client through(settings);
    ASSERT_TRUE(quarantined(through, "k"));
    auto waiting = std::async(std::launch::async, [&] {
        const stopwatch since;
        (void)through.acquire("k", with_ttl(1s));
        return since.elapsed();
    });
    vouch(settings);
    EXPECT_LT(waiting.get(), 10s);
}

// Somebody looked for locks, and found none where one was forgotten meanwhile.
TEST(lives, nobody_is_vouched_for_who_has_restarted_since_it_was_looked_at) {
    redis_server server;
    const auto settings = guarded(server);
    client through(settings);
    for (const bool connected : {true, false}) {
        const auto seen = lives(through);
        EXPECT_EQ(vouch_for(through, seen), std::vector{0ms});
        server.restart(data::lost);
        std::optional<client> anew;
        if (!connected) anew.emplace(settings);
        const auto error = error_of([&] { (void)vouch_for(anew ? *anew : through, seen); });
        EXPECT_EQ(error.code, errc::unsafe_server) << error.what;
        EXPECT_TRUE(contains(error.what, "has restarted")) << error.what;
        client later(settings);
        EXPECT_TRUE(quarantined(later, "k"));
    }
}

TEST(lives, of_a_quorum_are_looked_for_locks_on_every_server_or_not_at_all) {
    quorum nodes(3);
    client through(nodes.settings());
    nodes.server(2).command(
        {"SET", "k", "hf1:0123456789012345678901234567890123456789:a@b:1:", "PX", "60000"});
    std::size_t found = 0;
    list_everywhere(through, [&](const lock_status&) { ++found; });
    EXPECT_EQ(found, 1U);
    nodes.server(2).command({"ACL", "SETUSER", "default", "-getrange"});
    const auto error = error_of([&] { list_everywhere(through, [](const lock_status&) {}); });
    EXPECT_EQ(error.code, errc::permission) << "what it has was not seen";
}

// It has the lock, and falls silent when it is asked for how long.
TEST(lives, a_lock_is_not_called_free_because_its_ttl_was_not_told) {
    const hostile_server server(fake_redis([](std::string_view command) -> std::string {
        if (asks(command, "SCAN")) return "*2\r\n$1\r\n0\r\n*1\r\n$1\r\nk\r\n";
        if (asks(command, "GETRANGE")) {
            return command.find("\r\n3\r\n") != command.npos ? "$4\r\nhf1:\r\n"
                                                             : "$8\r\nhf1:some\r\n";
        }
        if (asks(command, "PTTL")) return "";
        return "$-1\r\n";
    }));
    auto settings = settings_for(server.url());
    settings.restart_guard = false;
    settings.node_timeout = 300ms;
    client through(settings);
    EXPECT_EQ(error_of([&] { (void)inspect(through, "k"); }).code, errc::unreachable);
    const auto look = [&] { list_everywhere(through, [](const lock_status&) {}); };
    EXPECT_EQ(error_of(look).code, errc::unreachable);
}

// max_ttl.

TEST(max_ttl, is_agreed_on_by_all_who_guard_against_restarts) {
    redis_server server;
    vouch(guarded(server, 20s));
    auto longer = guarded(server, 600s);
    client other(longer);
    const auto error = error_of([&] { (void)mutex(other, "k", with_ttl(500s)).try_acquire(); });
    EXPECT_EQ(error.code, errc::other_max_ttl);
    for (const auto* part : {"20s", "10m", "max_ttl in the URL"}) {
        EXPECT_TRUE(contains(error.what, part)) << error.what;
    }
    client same(guarded(server, 20s));
    EXPECT_TRUE(mutex(same, "k", with_ttl(1s)).try_acquire().has_value()) << "nothing was changed";
    const auto refused = error_of([&] { (void)enlist(other, false); });
    EXPECT_EQ(refused.code, errc::other_max_ttl);
}

TEST(max_ttl, of_a_lock_cannot_be_exceeded_by_renewing_it_either) {
    redis_server server;
    vouch(guarded(server, 20s));
    client same(guarded(server, 20s));
    const auto lease = same.acquire("k", {.ttl = 10s, .renew = false});
    client other(guarded(server, 600s));
    const auto error = error_of([&] { (void)renew(other, "k", lease.owner(), 500s); });
    EXPECT_EQ(error.code, errc::other_max_ttl);
    EXPECT_LE(server.pttl("k"), 20'000);
}

TEST(max_ttl, that_was_set_anew_bars_those_who_are_connected_with_another) {
    redis_server server;
    vouch(guarded(server, 20s));
    client before(guarded(server, 20s));
    ASSERT_TRUE(mutex(before, "k", with_ttl(1s)).try_acquire().has_value());
    vouch(guarded(server, 600s));
    EXPECT_TRUE(eventually(surely, [&] {
        std::error_code error;
        (void)mutex(before, "k", with_ttl(1s)).try_acquire(with_ttl(1s), error);
        return error == errc::other_max_ttl;
    }));
}

TEST(max_ttl, is_set_anew_by_an_operator) {
    redis_server server;
    vouch(guarded(server, 20s));
    client before(guarded(server, 20s));
    before.connect();
    const auto longer = guarded(server, 600s);
    vouch(longer);
    client after(longer);
    EXPECT_TRUE(mutex(after, "k", with_ttl(500s)).try_acquire().has_value());
}

// T2.

/// A server that has given out more tokens than its snapshot knows of.
struct rolled_back {
    explicit rolled_back(const options& settings = {}) {
        auto how = settings;
        how.urls = {server.url()};
        client through(how);
        (void)through.acquire("k");
        server.command({"CONFIG", "SET", "rdbcompression", "no"});
        server.command(
            {"SET", "ballast", std::string(20'000, 'b')});  // so that it hears us loading
        server.command({"SAVE"});
        for (int n = 0; n < 5; ++n) last = through.acquire("k").token();
        server.kill_hard();
    }
    redis_server server;
    std::uint64_t last = 0;
};

TEST(lives, tokens_do_not_repeat_when_a_client_connects_while_the_server_is_loading) {
    rolled_back before;
    auto& server = before.server;
    server.configure({"key-load-delay 300000", "loading-process-events-interval-bytes 1024"});
    server.start_loading();
    ASSERT_TRUE(eventually(surely, [&] {
        try {
            (void)raw_client::connect_tcp(server.port());
            return true;
        } catch (const std::runtime_error&) {
            return !server.running();
        }
    }));
    if (!server.running()) GTEST_SKIP() << "this server cannot be made to load slowly";
    auto settings = settings_for(server.url());
    settings.patience = 20s;
    client through(settings);
    const auto lease = through.acquire("k");
    EXPECT_GT(lease.token(), before.last);
}

/// Why a server may not be able to note its life for a while, and how it ends.
struct inability {
    const char* name;
    std::vector<std::string> begin;
    std::vector<std::string> end;
};

class unable : public testing::TestWithParam<inability> {};

TEST_P(unable, a_server_gives_out_no_token_before_it_has_noted_its_life) {
    rolled_back before;
    auto& server = before.server;
    server.start();
    server.command(GetParam().begin);
    auto settings = settings_for(server.url());
    settings.patience = 0ms;
    client through(settings);
    // Redis 6 does not mind missing replicas in scripts, and notes it.
    const bool refuses =
        server.query({"EVAL", "return redis.call('SET', KEYS[1], '1')", "1", "probe"}).is_error();
    std::error_code refused;
    auto early = mutex(through, "k").try_acquire(with_ttl(1s), refused);
    EXPECT_EQ(early.has_value(), !refuses) << refused.message();
    if (early.has_value()) {
        EXPECT_GT(early->token(), before.last);
        EXPECT_EQ(early->release(), release_result::released);
    }
    server.command(GetParam().end);
    std::optional<lease> won;
    ASSERT_TRUE(eventually(surely, [&] {
        std::error_code again;
        auto result = mutex(through, "k").try_acquire(with_ttl(1s), again);
        if (!result.has_value()) return false;
        won = std::move(*result);
        return true;
    }));
    EXPECT_GT(won->token(), before.last);
}

INSTANTIATE_TEST_SUITE_P(lives, unable,
                         testing::Values(inability{"out_of_memory",
                                                   {"CONFIG", "SET", "maxmemory", "1"},
                                                   {"CONFIG", "SET", "maxmemory", "0"}},
                                         inability{
                                             "no_replicas",
                                             {"CONFIG", "SET", "min-replicas-to-write", "1"},
                                             {"CONFIG", "SET", "min-replicas-to-write", "0"}}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(lives, tokens_do_not_repeat_after_a_master_was_demoted_and_promoted_again) {
    redis_server server(prompt());
    redis_server other(prompt());
    client through(server.url());
    (void)through.acquire("k");
    replicate(other, server);
    other.command({"REPLICAOF", "NO", "ONE"});
    std::uint64_t last = 0;
    for (int n = 0; n < 5; ++n) last = through.acquire("k").token();
    replicate(server, other);
    server.command({"REPLICAOF", "NO", "ONE"});
    EXPECT_GT(through.acquire("k").token(), last);
}

// Without a replica it forgets its second replication id after repl-backlog-ttl. It then looks like
// a server whose first replica has come.
TEST(lives, tokens_do_not_repeat_when_a_promoted_server_has_forgotten_that_it_was_demoted) {
    auto forgetful = prompt();
    forgetful.configuration.emplace_back("repl-backlog-ttl 1");
    redis_server server(forgetful);
    redis_server other(prompt());
    client through(server.url());
    (void)through.acquire("k");
    replicate(other, server);
    other.command({"REPLICAOF", "NO", "ONE"});
    std::uint64_t last = 0;
    for (int n = 0; n < 50; ++n) last = through.acquire("k").token();
    replicate(server, other);
    server.command({"REPLICAOF", "NO", "ONE"});
    ASSERT_TRUE(eventually(surely, [&] {
        return contains(server.command({"INFO", "replication"}), "master_replid2:00000000");
    }));
    EXPECT_GT(through.acquire("k").token(), last);
}

TEST(lives, a_token_is_drawn_above_the_floor_whatever_the_clock_says) {
    redis_server server;
    const auto draw = [&](const std::string& floor) {
        server.command({"DEL", "k"});
        return server.command({"EVAL", std::string(scripts::exclusive::acquire.text), "2", "k",
                               "counter", "me", "1000", "3600000", "1", floor});
    };
    server.command({"SET", "counter", "5"});
    EXPECT_EQ(draw("9000000000000000"), "1\n9000000000000000");
    EXPECT_EQ(draw("9000000000000000"), "1\n9000000000000001");
    server.command({"DEL", "counter"});
    EXPECT_EQ(draw("9000000000000000"), "1\n9000000000000000");
}

TEST(lives, a_user_who_may_not_enlist_draws_no_token) {
    redis_server server;
    server.command({"ACL", "SETUSER", "narrow", "on", ">secret", "~k", "~holdfast:{k}:*", "+@all"});
    auto settings = settings_for(server.url());
    settings.user = "narrow";
    settings.password = "secret";
    client through(settings);
    const auto error = error_of([&] { (void)mutex(through, "k").try_acquire(); });
    EXPECT_EQ(error.code, errc::permission) << error.what;
    acquire_options unfenced;
    unfenced.fencing = false;
    EXPECT_TRUE(mutex(through, "k", unfenced).try_acquire().has_value());
}

// A server that was unfit.

TEST(lives, a_replica_that_is_promoted_is_used_within_a_second) {
    redis_server master(prompt());
    redis_server replica(prompt());
    replicate(replica, master);
    auto settings = settings_for(replica.url());
    settings.patience = 20s;
    client through(settings);
    auto waiting = std::async(std::launch::async, [&] {
        (void)through.acquire("k");
        return std::chrono::steady_clock::now();
    });
    std::this_thread::sleep_for(2s);  // it has looked in vain for a while
    const auto promoted = std::chrono::steady_clock::now();
    replica.command({"REPLICAOF", "NO", "ONE"});
    EXPECT_LT(waiting.get() - promoted, 1s * slowness);
}

/// A connected master that becomes the replica of a server that hangs: it keeps its data and its
/// connections, so that clients learn of it by its answers alone.
class demoted : public testing::Test {
  protected:
    demoted() { hanging_.pause(); }

    void demote() { server_.command({"REPLICAOF", "127.0.0.1", std::to_string(hanging_.port())}); }
    void promote() { server_.command({"REPLICAOF", "NO", "ONE"}); }

    [[nodiscard]] options patient() const {
        auto settings = settings_for(server_.url());
        settings.patience = 20s;
        return settings;
    }

    static bool met_again(const client& through, std::uint64_t handshakes) {
        return eventually(surely, [&] { return through.statistics().connected >= handshakes; });
    }

    static constexpr auto sentence = "is a replica; give the master's address";
    redis_server server_;
    redis_server hanging_;
};

TEST_F(demoted, a_connected_master_refuses_as_a_replica_and_grants_nothing) {
    client through(server_.url());
    mutex one(through, "k");
    (void)one.acquire();
    demote();
    EXPECT_EQ(error_of([&] { (void)one.try_acquire(); }).code, errc::unsafe_server);
    for (int turn = 0; turn < 3; ++turn) {
        const auto error = error_of([&] { (void)one.try_acquire(); });
        EXPECT_EQ(error.code, errc::unsafe_server);
        EXPECT_TRUE(contains(error.what, sentence)) << error.what;
    }
    EXPECT_GE(through.statistics().connected, 2U) << "it was not met anew";
    EXPECT_EQ(through.statistics().acquired, 1U);
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(demoted, a_connected_master_is_used_within_a_second_after_it_was_promoted_again) {
    client through(patient());
    const auto before = through.acquire("k").token();
    demote();
    auto waiting = std::async(std::launch::async, [&] {
        const auto token = through.acquire("k").token();
        return std::pair(token, std::chrono::steady_clock::now());
    });
    ASSERT_TRUE(met_again(through, 3)) << "it has looked in vain for a while";
    const auto promoted = std::chrono::steady_clock::now();
    promote();
    const auto [token, won] = waiting.get();
    record("until_it_was_used", std::chrono::duration_cast<milliseconds>(won - promoted));
    EXPECT_LT(won - promoted, 1s * slowness);
    EXPECT_GT(token, before);
}

// Nobody asks for a lock: the answer to the renewal is what tells of it.
TEST_F(demoted, a_connected_master_is_met_anew_by_a_renewal_and_the_lease_goes_on) {
    client through(patient());
    auto held = through.acquire("k", with_ttl(6s));
    const auto renewed = [&] { return through.statistics().renewed; };
    demote();
    ASSERT_TRUE(met_again(through, 2)) << "the renewal was refused, and nothing followed";
    const auto before = renewed();
    const auto error = error_of([&] { (void)mutex(through, "other").try_acquire(); });
    EXPECT_TRUE(contains(error.what, sentence)) << error.what;
    promote();
    EXPECT_TRUE(eventually(surely, [&] { return renewed() > before || held.lost(); }));
    EXPECT_FALSE(held.lost());
    const auto token = held.token();
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_GT(through.acquire("k").token(), token);
}

// Where the guard is on, somebody looks: a master that nobody writes to answers no READONLY.
TEST_F(demoted, a_connected_master_is_met_anew_where_only_its_role_tells) {
    vouch(guarded(server_));
    client through(guarded(server_));
    const auto held = through.acquire("k", {.ttl = 19s, .renew = false});
    demote();
    EXPECT_TRUE(met_again(through, 2));
    EXPECT_FALSE(held.lost());
}

// In one step, so that no look finds it a replica. It has lost nothing, which nobody can know.
TEST_F(demoted, a_connected_master_is_met_anew_where_only_its_replication_id_tells) {
    vouch(guarded(server_));
    client through(guarded(server_));
    const auto held = through.acquire("k", {.ttl = 19s, .renew = false});
    auto administrator = raw_client::connect_tcp(server_.port());
    administrator.command({"MULTI"});
    administrator.command({"REPLICAOF", "127.0.0.1", std::to_string(hanging_.port())});
    administrator.command({"REPLICAOF", "NO", "ONE"});
    ASSERT_EQ(administrator.command({"EXEC"}).elements.size(), 2U);
    EXPECT_TRUE(met_again(through, 2));
    EXPECT_TRUE(eventually(surely, [&] { return quarantined(through, "other"); }));
    EXPECT_FALSE(held.lost());
}

// It has the data of another by now, and this connection is not told when a server is emptied.
TEST(lives, tokens_do_not_repeat_when_a_master_was_asked_while_it_was_demoted) {
    auto without_push = prompt();
    without_push.configuration.emplace_back("rename-command HELLO \"\"");
    redis_server server(without_push);
    redis_server other(prompt());
    client through(server.url());
    (void)through.acquire("k");
    replicate(other, server);
    other.command({"REPLICAOF", "NO", "ONE"});
    std::uint64_t last = 0;
    for (int n = 0; n < 5; ++n) last = through.acquire("k").token();
    replicate(server, other);
    ASSERT_EQ(through.statistics().connected, 1U) << "it is to be told by an answer";
    EXPECT_EQ(error_of([&] { (void)mutex(through, "k").try_acquire(); }).code, errc::unsafe_server);
    server.command({"REPLICAOF", "NO", "ONE"});
    EXPECT_GT(through.acquire("k").token(), last);
}

// Version 0.1 beside this one. Its scripts know no record.

TEST(version_0_1, waits_for_a_quarantine_that_this_version_began) {
    redis_server server;
    vouch(guarded(server));
    EXPECT_EQ(version_0_1::acquire(server, "k", "old").code, version_0_1::answer::granted);
    server.restart(data::lost);
    client through(guarded(server));
    through.connect();
    EXPECT_EQ(version_0_1::acquire(server, "k", "old").code, version_0_1::answer::quarantined);
    vouch(guarded(server));
    EXPECT_EQ(version_0_1::acquire(server, "k", "old").code, version_0_1::answer::granted);
}

TEST(version_0_1, that_came_first_hides_no_quarantine) {
    redis_server server;
    vouch(guarded(server));
    server.restart(data::lost);
    version_0_1::enlist(server, 40s);
    client through(guarded(server));
    const auto denied = mutex(through, "k", with_ttl(1s)).try_acquire();
    ASSERT_FALSE(denied.has_value());
    ASSERT_TRUE(denied.held_by().has_value());
    EXPECT_TRUE(denied.held_by()->quarantine);
    EXPECT_GT(*denied.held_by()->remaining, 30s) << "the older version waits for longer leases";
    EXPECT_EQ(version_0_1::acquire(server, "k", "old").code, version_0_1::answer::quarantined);
}

TEST(version_0_1, draws_tokens_in_one_order_with_this_one) {
    redis_server server;
    client through(server.url());
    std::uint64_t last = 0;
    for (int round = 0; round < 3; ++round) {
        const auto ours = through.acquire("k").token();
        EXPECT_GT(ours, last);
        const auto theirs = version_0_1::acquire_unguarded(server, "k", "old");
        ASSERT_EQ(theirs.code, version_0_1::answer::granted);
        EXPECT_GT(theirs.token, ours);
        last = theirs.token;
        server.command({"DEL", "k"});
    }
    server.command({"SAVE"});
    for (int n = 0; n < 5; ++n) last = through.acquire("k").token();
    server.kill_hard();
    server.start();
    through.connect();  // notes the new life, for the older version too
    const auto theirs = version_0_1::acquire_unguarded(server, "k", "old");
    ASSERT_EQ(theirs.code, version_0_1::answer::granted);
    EXPECT_GT(theirs.token, last);
}

}  // namespace
}  // namespace holdfast::test
