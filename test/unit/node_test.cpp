#include "net/node.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "kinds/exclusive.hpp"
#include "unit/support/asker.hpp"
#include "unit/support/stub_server.hpp"

namespace holdfast::net {
namespace {

using namespace std::chrono_literals;
using testing::asker;
using testing::asker_pointer;
using words = std::vector<std::string>;

/// One node and its server. Chance is always the smallest, unless said otherwise.
class station final : private node::listener {
  public:
    explicit station(bool patient = true, bool guarded = false) {
        how.patient = patient;
        how.link.policy.restart_guard = guarded;
        server.answer("GET", "+there\r\n");
    }

    node& at() {
        if (!made_) {
            made_ = std::make_unique<node>(around, guard, how, static_cast<node::listener&>(*this));
        }
        return *made_;
    }
    /// Connects, and is ready or has failed.
    station& call() {
        at().call(here.now());
        here.settle();
        return *this;
    }
    void ask(const asker_pointer& who, exchange::tag request = 1, clock::duration patience = 5s) {
        at().send(who, request, here.now() + patience, here.now());
        at().flush();
        here.settle();
    }
    asker_pointer ask_for_vote(bool token = false) {
        const asker_pointer who(new asker);
        who->as_vote(token);
        ask(who);
        return who;
    }
    /// As whoever drives would.
    void pass(clock::duration span) {
        const auto until = here.now() + span;
        while (at().wake_at() <= until) {
            here.run_until(std::max(at().wake_at(), here.now()));
            at().expire(here.now());
            here.settle();
        }
        here.run_until(until);
    }

    testing::world here;
    testing::stub_server server{here, "redis:6379"};
    testing::memory_environment around{here};
    base::client_mutex guard;
    node::settings how{.link = {.where = {.host = "redis"},
                                .client_name = "me",
                                .policy = {.max_ttl = 60s},
                                .loads = kinds::exclusive().loads(kinds::topology::quorum),
                                .connect_timeout = 1s,
                                .silence_limit = 3s}};
    std::uint64_t luck = 0;
    int ready = 0;
    int caught_up = 0;
    std::vector<failure> down;
    std::vector<clock::time_point> down_at;

  private:
    void on_ready(node&) override { ++ready; }
    void on_caught_up(node&) override { ++caught_up; }
    void on_down(node&, const failure& why) noexcept override {
        down.push_back(why);
        down_at.push_back(here.now());
    }
    void on_push(node&, resp::view) override {}
    void on_change(node&) noexcept override {}
    std::uint64_t chance() noexcept override { return luck; }

    std::unique_ptr<node> made_;
};

/// Answers when the test says so.
class slow_resolver final : public resolver {
  public:
    void ask(asker& who) noexcept override {
        ++asked;
        asking = &who;
    }
    void withdraw() noexcept override {
        ++withdrawn;
        asking = nullptr;
    }
    void found(const std::string& host, std::size_t members = 0) {
        std::exchange(asking, nullptr)->on_found({.where = {.host = host}, .members = members});
    }

    asker* asking = nullptr;
    int asked = 0;
    int withdrawn = 0;
};

TEST(node, asks_where_its_server_is_before_every_connect_and_goes_there) {
    station with;
    testing::stub_server other(with.here, "elsewhere:6379");
    const auto book = std::make_shared<slow_resolver>();
    with.how.resolves = book;
    with.call();
    EXPECT_TRUE(with.at().opening());
    EXPECT_EQ(with.server.count("HELLO"), 0) << "nobody knows yet where it is";
    book->found("redis");
    with.here.settle();
    EXPECT_TRUE(with.at().ready());
    with.at().start_over({.message = "moved"});
    with.pass(20ms);
    EXPECT_EQ(book->asked, 2);
    book->found("elsewhere");
    with.here.settle();
    EXPECT_TRUE(with.at().ready());
    EXPECT_EQ(with.at().name(), "elsewhere:6379");
    EXPECT_EQ(other.count("HELLO"), 1);
    with.at().close({.message = "the other server goes first"});
}

TEST(node, what_is_asked_meanwhile_waits_until_its_server_is_found) {
    station with;
    const auto book = std::make_shared<slow_resolver>();
    with.how.resolves = book;
    const asker_pointer who(new asker);
    with.ask(who);
    EXPECT_TRUE(who->heard.empty());
    book->found("redis");
    with.here.settle();
    with.at().flush();
    with.here.settle();
    EXPECT_EQ(who->said(), words{"+there\r\n"});
}

TEST(node, is_down_where_nobody_knows_its_server) {
    station with(false);
    const auto book = std::make_shared<slow_resolver>();
    with.how.resolves = book;
    with.call();
    std::exchange(book->asking, nullptr)->on_not_found({.message = "no master is known"});
    ASSERT_EQ(with.down.size(), 1U);
    EXPECT_EQ(with.down[0].message, "no master is known");
    with.pass(20ms);
    EXPECT_EQ(book->asked, 2) << "it asks again after a pause";
}

TEST(node, waits_for_its_address_no_longer_than_for_its_connection) {
    station with;
    const auto book = std::make_shared<slow_resolver>();
    with.how.resolves = book;
    with.call();
    with.pass(999ms);
    EXPECT_TRUE(with.down.empty());
    with.pass(1ms);
    ASSERT_EQ(with.down.size(), 1U);
    EXPECT_EQ(with.down[0].message, "no address in time");
    EXPECT_EQ(book->withdrawn, 1);
}

TEST(node, withdraws_its_question_when_it_is_closed) {
    station with;
    const auto book = std::make_shared<slow_resolver>();
    with.how.resolves = book;
    with.call();
    with.at().close({.message = "closed"});
    EXPECT_EQ(book->withdrawn, 1);
}

constexpr std::array temporary{"-LOADING Redis is loading the dataset in memory\r\n",
                               "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
                               "-BUSY Redis is busy running a script.\r\n",
                               "-MISCONF Redis is configured to save RDB snapshots\r\n",
                               "-READONLY You can't write against a read only replica.\r\n"};
constexpr auto no_right = "-NOPERM this user has no permissions to run the command\r\n";

TEST(node, a_server_that_refuses_what_must_be_known_is_not_used_until_it_is_mended) {
    for (const bool guarded : {false, true}) {
        for (const auto* step : {"HELLO", "INFO", "enlist"}) {
            for (const auto* refusal : temporary) {
                station with(true, guarded);
                with.server.answer(step, refusal);
                with.call();
                EXPECT_FALSE(with.at().ready()) << step << refusal;
                ASSERT_EQ(with.down.size(), 1U);
                EXPECT_FALSE(with.down[0].hopeless) << step << refusal;
                EXPECT_EQ(with.server.count("GET"), 0);
                with.server.answer_as_usual(step);
                with.pass(20ms);
                EXPECT_TRUE(with.at().ready()) << step << refusal;
                EXPECT_EQ(with.ask_for_vote(true)->said(), words{"+there\r\n"});
            }
        }
    }
}

TEST(node, a_server_that_refuses_what_is_only_useful_is_used) {
    for (const auto* step : {"SETNAME", "SUBSCRIBE", "LOAD"}) {
        for (const auto* refusal : temporary) {
            station with(true, true);
            with.how.link.channel = "holdfast:client:ab";
            with.server.answer(step, refusal);
            with.call();
            EXPECT_TRUE(with.at().ready()) << step << refusal;
            EXPECT_EQ(with.ask_for_vote(true)->said(), words{"+there\r\n"});
        }
        station with(true, true);
        with.server.answer(step, no_right);
        EXPECT_TRUE(with.call().at().ready()) << step;
    }
}

TEST(node, says_whether_it_can_be_called_on_every_connection_anew) {
    station with;
    with.how.link.channel = "holdfast:client:ab";
    with.server.answer("SUBSCRIBE", no_right);
    with.call();
    EXPECT_FALSE(with.at().said().subscribed);
    ASSERT_TRUE(with.at().said().not_subscribed);
    EXPECT_EQ(with.at().said().not_subscribed->code, errc::permission);
    with.server.answer_as_usual("SUBSCRIBE");
    with.at().start_over({.message = "once more"});
    with.pass(20ms);
    ASSERT_TRUE(with.at().ready());
    EXPECT_TRUE(with.at().said().subscribed);
    EXPECT_FALSE(with.at().said().not_subscribed);
}

TEST(node, knows_the_time_by_the_clock_of_its_server_once_it_was_enlisted) {
    station with;
    EXPECT_EQ(with.at().time_at(with.here.now()), 0U);
    with.call();
    EXPECT_EQ(with.at().time_at(with.here.now()), 1'700'000'000'000'000U);
    with.pass(1500ms);
    EXPECT_EQ(with.at().time_at(with.here.now()), 1'700'000'001'500'000U);
    with.at().enlisted({.time = 1'800'000'000'000'000}, with.here.now());
    EXPECT_EQ(with.at().time_at(with.here.now() + 7us), 1'800'000'000'000'007U);
}

TEST(node, a_server_that_does_not_tell_when_it_is_emptied_has_no_vote_where_it_is_guarded) {
    for (const auto* refusal : {temporary[0], no_right, "-ERR unknown subcommand\r\n"}) {
        station plain;
        plain.server.answer("TRACKING", refusal);
        EXPECT_EQ(plain.call().ask_for_vote()->said(), words{"+there\r\n"});

        station guarded(true, true);
        guarded.server.answer("TRACKING", refusal);
        const auto who = guarded.call().ask_for_vote();
        ASSERT_EQ(who->heard.size(), 1U);
        EXPECT_TRUE(who->heard[0].failed);
        EXPECT_EQ(who->heard[0].why.code, errc::unsafe_server);
        EXPECT_EQ(guarded.server.count("GET"), 0);
    }
}

TEST(node, who_has_no_right_to_introduce_itself_is_told_so) {
    station with;
    with.server.answer("HELLO", no_right);
    with.call();
    ASSERT_EQ(with.down.size(), 1U);
    EXPECT_EQ(with.down[0].code, errc::permission);
    EXPECT_TRUE(with.down[0].hopeless);
}

TEST(node, who_has_no_right_to_know_the_life_of_the_server_may_lock_unguarded_only) {
    station plain;
    plain.server.answer("INFO", no_right);
    EXPECT_EQ(plain.call().ask_for_vote(true)->said(), words{"+there\r\n"});
    EXPECT_EQ(plain.server.count("enlist"), 0);

    station guarded(true, true);
    guarded.server.answer("INFO", no_right);
    guarded.call();
    ASSERT_EQ(guarded.down.size(), 1U);
    EXPECT_EQ(guarded.down[0].code, errc::permission);
}

TEST(node, who_has_no_right_to_enlist_draws_no_tokens) {
    station plain;
    plain.server.answer("enlist", no_right);
    plain.call();
    EXPECT_EQ(plain.ask_for_vote(false)->said(), words{"+there\r\n"});
    const auto who = plain.ask_for_vote(true);
    ASSERT_EQ(who->heard.size(), 1U);
    EXPECT_TRUE(who->heard[0].failed);
    EXPECT_EQ(who->heard[0].why.code, errc::permission);

    station guarded(true, true);
    guarded.server.answer("enlist", no_right);
    EXPECT_FALSE(guarded.call().at().ready());
}

TEST(node, answers_with_errors_are_for_who_asked_and_change_nothing) {
    for (const auto* refusal : {temporary[0], temporary[1], temporary[2], temporary[3], no_right}) {
        station with;
        with.call();
        with.server.answer_once("GET", refusal);
        EXPECT_EQ(with.ask_for_vote()->said(), words{refusal});
        EXPECT_TRUE(with.at().ready()) << refusal;
        EXPECT_EQ(with.ask_for_vote()->said(), words{"+there\r\n"});
    }
}

TEST(node, a_master_that_has_become_a_replica_is_met_anew) {
    station with;
    with.call();
    with.server.answer_once("GET", temporary[4]);
    with.server.info = "run_id:abc\r\nrole:slave\r\nmaster_replid:new\r\n";
    EXPECT_EQ(with.ask_for_vote()->said(), words{temporary[4]});
    EXPECT_FALSE(with.at().ready());
    const auto who = with.ask_for_vote();
    ASSERT_EQ(who->heard.size(), 1U);
    EXPECT_EQ(who->heard[0].said,
              "is a replica; give the master's address, or write "
              "redis+sentinel://host:port/<master-name> where Sentinels watch it");
    EXPECT_EQ(with.server.count("enlist"), 1) << "a replica is not enlisted";
}

TEST(node, connects_when_it_is_first_asked_and_sends_what_waits_in_order) {
    station with;
    EXPECT_FALSE(with.at().was_tried());
    EXPECT_EQ(with.at().wake_at(), clock::time_point::max());
    const asker_pointer who(new asker);
    with.server.answer("GET", "");
    with.at().send(who, 1, with.here.now() + 1s, with.here.now());
    with.at().send(who, 2, with.here.now() + 1s, with.here.now());
    EXPECT_TRUE(with.at().opening());
    with.here.settle();
    with.at().flush();
    with.here.settle();
    EXPECT_EQ(with.ready, 1);
    EXPECT_EQ(with.caught_up, 1);
    EXPECT_EQ(with.server.count("GET"), 2);
    with.around.streams().back()->say("+one\r\n+two\r\n");
    with.here.settle();
    EXPECT_EQ(who->heard[0].request, 1U);
    EXPECT_EQ(who->said(), (words{"+one\r\n", "+two\r\n"}));
}

TEST(node, what_is_not_wanted_any_more_when_it_is_connected_is_not_sent) {
    station with;
    const asker_pointer who(new asker);
    who->still_wanted = false;
    with.ask(who);
    EXPECT_EQ(who->said(), words{"failed: not connected in time"});
    EXPECT_EQ(with.server.count("GET"), 0);
}

TEST(node, what_waits_for_a_connection_fails_at_its_own_deadline) {
    station with;
    with.server.answer("HELLO", "");
    const asker_pointer who(new asker);
    with.ask(who, 1, 300ms);
    with.pass(299ms);
    EXPECT_TRUE(who->heard.empty());
    with.pass(1ms);
    EXPECT_EQ(who->said(), words{"failed: not connected in time"});
    EXPECT_TRUE(with.at().opening()) << "for the next one";
}

std::vector<std::chrono::milliseconds> gaps(const station& with) {
    std::vector<std::chrono::milliseconds> all;
    for (std::size_t n = 1; n < with.down_at.size(); ++n) {
        all.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(with.down_at[n] -
                                                                            with.down_at[n - 1]));
    }
    return all;
}

TEST(node, pauses_between_its_tries_grow_to_a_second) {
    station with;
    with.server.stop();
    with.call().pass(2s);
    EXPECT_EQ(gaps(with), (std::vector<std::chrono::milliseconds>{10ms, 20ms, 40ms, 80ms, 160ms,
                                                                  320ms, 500ms, 500ms}))
        << "with the smallest chance, half of each";
}

TEST(node, pauses_between_its_tries_are_left_to_chance_by_half) {
    station with;
    with.luck = 9'999'999;  // nanoseconds, of the first ten milliseconds
    with.server.stop();
    with.call();
    EXPECT_EQ(with.at().wake_at(), with.here.now() + 20ms - 1ns);
}

TEST(node, pauses_are_short_again_after_it_was_connected) {
    station with;
    with.server.stop();
    with.call().pass(1s);
    with.server.start();
    with.pass(1s);
    ASSERT_TRUE(with.at().ready());
    with.server.kill_connections();
    with.here.settle();
    EXPECT_EQ(with.at().wake_at(), with.here.now() + 10ms);
}

TEST(node, a_patient_one_tries_at_once_when_it_is_asked) {
    station with;
    with.server.stop();
    with.call().pass(1s);
    with.server.start();
    ASSERT_FALSE(with.at().ready());
    const auto tries = with.around.streams().size();
    const asker_pointer who(new asker);
    with.ask(who);
    EXPECT_EQ(with.around.streams().size(), tries + 1);
    EXPECT_EQ(who->said(), words{"+there\r\n"});
}

TEST(node, an_impatient_one_that_is_out_fails_at_once_and_tries_in_its_own_time) {
    station with(false);
    with.server.stop();
    with.call();
    const auto tries = with.around.streams().size();
    const asker_pointer who(new asker);
    with.ask(who);
    EXPECT_EQ(who->said(), words{"failed: Connection refused"});
    EXPECT_EQ(with.around.streams().size(), tries);
    with.server.start();
    with.server.answer("HELLO", "");  // it does not get far
    with.pass(20ms);
    EXPECT_EQ(with.around.streams().size(), tries + 1);
    with.ask(who, 2);
    EXPECT_EQ(who->heard.size(), 2U) << "callers do not wait for a probe";
    EXPECT_TRUE(who->heard[1].failed);
}

TEST(node, an_impatient_one_waits_for_its_first_connection) {
    station with(false);
    const asker_pointer who(new asker);
    with.ask(who);
    EXPECT_EQ(who->said(), words{"+there\r\n"});
}

TEST(node, one_that_was_emptied_is_met_anew_at_once_patient_or_not) {
    for (const bool patient : {true, false}) {
        station with(patient);
        with.call();
        with.server.flush_all();
        with.here.settle();
        ASSERT_EQ(with.down.size(), 1U);
        EXPECT_TRUE(with.down[0].emptied);
        const asker_pointer who(new asker);
        with.ask(who);
        EXPECT_EQ(who->said(), words{"+there\r\n"}) << patient;
        EXPECT_EQ(with.server.count("enlist"), 2);
    }
}

TEST(node, one_that_hung_up_while_nobody_looked_costs_a_reconnect_and_no_error) {
    for (const bool patient : {true, false}) {
        station with(patient);
        with.call();
        with.around.streams().back()->stall(true);
        with.server.kill_connections();
        with.here.run_for(10ms);
        EXPECT_TRUE(with.at().ready()) << "nobody has looked";
        const asker_pointer who(new asker);
        with.ask(who);
        EXPECT_EQ(who->said(), words{"+there\r\n"}) << patient;
    }
}

TEST(node, an_impatient_one_that_owes_an_answer_is_asked_for_no_vote) {
    for (const bool patient : {true, false}) {
        station with(patient);
        with.call();
        with.server.answer_once("GET", "");
        const asker_pointer late(new asker);
        with.ask(late, 1, 100ms);
        with.pass(100ms);
        ASSERT_EQ(late->heard.size(), 1U);
        with.ask_for_vote();
        EXPECT_EQ(with.server.count("GET"), patient ? 2 : 1);
    }
}

TEST(node, an_unfit_one_is_looked_at_again_while_somebody_asks) {
    station with;
    with.server.info = "run_id:abc\r\nrole:master\r\nmaxmemory_policy:allkeys-lru\r\n";
    const auto first = with.call().ask_for_vote();
    ASSERT_EQ(first->heard.size(), 1U);
    EXPECT_TRUE(first->heard[0].failed);
    EXPECT_TRUE(first->heard[0].why.hopeless);
    const asker_pointer looks(new asker);
    with.ask(looks);
    EXPECT_EQ(looks->said(), words{"+there\r\n"}) << "it may be looked at all the same";

    with.server.info = "run_id:abc\r\nrole:master\r\nmaxmemory_policy:noeviction\r\n";
    with.pass(499ms);
    EXPECT_TRUE(with.ask_for_vote()->heard[0].failed) << "not so often";
    with.pass(1ms);
    EXPECT_EQ(with.ask_for_vote()->said(), words{"+there\r\n"});
}

TEST(node, one_that_would_not_be_enlisted_is_looked_at_again_while_somebody_asks_for_a_token) {
    station with;
    with.server.answer("enlist", no_right);
    EXPECT_TRUE(with.call().ask_for_vote(true)->heard[0].failed);
    with.server.answer_as_usual("enlist");
    with.pass(500ms);
    EXPECT_EQ(with.ask_for_vote()->said(), words{"+there\r\n"});
    EXPECT_EQ(with.server.count("HELLO"), 1) << "who wants no token needs no record";
    EXPECT_EQ(with.ask_for_vote(true)->said(), words{"+there\r\n"});
    EXPECT_EQ(with.server.count("HELLO"), 2);
}

TEST(node, one_in_quarantine_is_asked_for_no_vote_until_that_is_over) {
    station with(true, true);
    with.server.enlisted = "*5\r\n:1\r\n:3000\r\n:1000\r\n:60000\r\n:1\r\n";
    with.call().pass(1s);
    const auto who = with.ask_for_vote();
    ASSERT_EQ(who->heard.size(), 1U);
    EXPECT_EQ(who->heard[0].why.quarantine, 2s);
    EXPECT_EQ(with.server.count("GET"), 0);
    with.pass(2s);
    EXPECT_EQ(with.ask_for_vote()->said(), words{"+there\r\n"});
}

TEST(node, one_whose_clients_agreed_on_another_max_ttl_has_no_vote) {
    station with(true, true);
    with.server.enlisted = "*5\r\n:2\r\n:0\r\n:0\r\n:600000\r\n:1\r\n";
    const auto who = with.call().ask_for_vote();
    ASSERT_EQ(who->heard.size(), 1U);
    EXPECT_EQ(who->heard[0].why.code, errc::other_max_ttl);
    EXPECT_TRUE(who->heard[0].why.hopeless);
}

TEST(node, one_whose_clients_agreed_on_a_larger_replication_group_has_no_vote) {
    station with(true, true);
    const auto book = std::make_shared<slow_resolver>();
    with.how.resolves = book;
    with.server.enlisted = "*5\r\n:4\r\n:0\r\n:5\r\n:60000\r\n:1\r\n";
    with.call();
    book->found("redis", 3);
    with.here.settle();
    const auto who = with.ask_for_vote();
    ASSERT_EQ(who->heard.size(), 1U);
    EXPECT_EQ(who->heard[0].why.code, errc::unsafe_server);
    EXPECT_EQ(
        who->heard[0].why.message,
        "its clients agreed on a replication group of 5 servers, and a Sentinel knows 3; if "
        "replicas were taken out for good, stop all programs that lock here, and 'holdfast enlist "
        "--fresh' notes it");
    EXPECT_FALSE(who->heard[0].why.hopeless) << "Sentinels find replicas by and by";
    with.at().close({.message = "done"});
}

TEST(node, asks_a_majority_of_a_group_whose_size_it_is_told) {
    const std::vector<std::pair<std::size_t, std::string>> groups{{2, "1"}, {3, "1"}, {5, "2"}};
    for (const auto& [members, needed] : groups) {
        station with(true, true);
        const auto book = std::make_shared<slow_resolver>();
        with.how.resolves = book;
        with.call();
        book->found("redis", members);
        with.here.settle();
        ASSERT_TRUE(with.at().ready());
        EXPECT_TRUE(with.at().acknowledges());
        const auto& asked = with.server.latest("enlist");
        const words group{asked.end() - 3, asked.end()};
        EXPECT_EQ(group, (words{std::to_string(members), needed, "0"}));
        EXPECT_EQ(with.server.connections().size(), 2U);
        with.at().close({.message = "done"});
    }
}

TEST(node, one_without_replicas_is_asked_by_one_connection) {
    station with(true, true);
    const auto book = std::make_shared<slow_resolver>();
    with.how.resolves = book;
    with.call();
    book->found("redis", 1);
    with.here.settle();
    EXPECT_TRUE(with.at().ready());
    EXPECT_FALSE(with.at().acknowledges());
    EXPECT_EQ(with.server.connections().size(), 1U);
    with.at().close({.message = "done"});
}

TEST(node, one_in_a_group_of_unknown_size_has_no_majority_to_ask) {
    station with;
    with.how.replica_acks = replicas::majority();
    with.call();
    ASSERT_EQ(with.down.size(), 1U);
    EXPECT_EQ(with.down[0].code, errc::invalid_option);
    EXPECT_TRUE(with.down[0].hopeless);
}

TEST(node, one_that_is_barred_has_no_vote_and_answers_all_else) {
    station with;
    with.call();
    with.at().bar(failure{.message = "it is another's replica"});
    EXPECT_EQ(with.ask_for_vote()->said(), words{"failed: it is another's replica"});
    const asker_pointer who(new asker);
    with.ask(who);
    EXPECT_EQ(who->said(), words{"+there\r\n"});
    with.at().bar(std::nullopt);
    EXPECT_EQ(with.ask_for_vote()->said(), words{"+there\r\n"});
}

// Between the first request and the answer that its script is not known a clock may be seen to
// jump.
TEST(node, one_that_lost_its_vote_meanwhile_is_not_asked_for_it_again_by_text) {
    station with;
    with.call();
    with.server.flush_scripts();
    const asker_pointer who(new asker);
    who->as_script().as_vote();
    who->on_encode = [&] { with.at().bar(failure{.message = "its clock jumped"}); };
    with.ask(who);
    EXPECT_EQ(who->said(), words{"failed: its clock jumped"});
    EXPECT_EQ(with.server.count("release"), 1);
}

TEST(node, that_is_closed_fails_everything_once_and_connects_no_more) {
    station with;
    with.call();
    with.server.answer("GET", "");
    const asker_pointer who(new asker);
    with.ask(who);
    with.at().close(no_answer("closed"));
    EXPECT_EQ(who->said(), words{"failed: closed"});
    with.ask(who, 2);
    EXPECT_EQ(who->heard.size(), 2U);
    with.pass(10s);
    EXPECT_EQ(with.around.streams().size(), 1U);
    EXPECT_EQ(who->heard.size(), 2U);
}

}  // namespace
}  // namespace holdfast::net
