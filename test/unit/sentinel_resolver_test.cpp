#include "net/sentinel_resolver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "unit/support/stub_sentinel.hpp"

namespace holdfast::net {
namespace {

using namespace std::chrono_literals;
using names = std::vector<std::string>;

/// Three Sentinels, who ask for `main` together, and somebody who asks them. Chance is always the
/// smallest.
class watch_tower final : private resolver::asker {
  public:
    explicit watch_tower(std::size_t sentinels = 3) {
        endpoint of{.host = "s0", .port = 26379, .user = "app", .password = "of the servers"};
        auto& group = of.sentinels.emplace();
        group.master_name = "main";
        for (std::size_t n = 0; n < sentinels; ++n) {
            group.addresses.push_back({.host = "s" + std::to_string(n)});
        }
        how.of = of;
        for (auto* each : {&first, &second, &third}) each->names({.host = "a"});
    }
    ~watch_tower() { at().close(); }

    sentinel_resolver& at() {
        if (!made_) made_ = std::make_unique<sentinel_resolver>(around, guard, how);
        return *made_;
    }
    void ask() {
        at().ask(*this);
        here.settle();
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
    [[nodiscard]] std::size_t links() const {
        return first.server.connections().size() + second.server.connections().size() +
               third.server.connections().size();
    }

    testing::world here;
    testing::stub_sentinel first{here, "s0:26379"};
    testing::stub_sentinel second{here, "s1:26379"};
    testing::stub_sentinel third{here, "s2:26379"};
    testing::memory_environment around{here};
    base::client_mutex guard;
    sentinel_resolver::settings how{.of = {}, .connect_timeout = 1s};
    std::vector<location> found;
    std::vector<location> moved;
    std::vector<failure> not_found;

    [[nodiscard]] static names addresses(const std::vector<location>& of) {
        names all;
        for (const auto& each : of) all.push_back(each.where.name());
        return all;
    }

  private:
    void on_found(const location& where) noexcept override { found.push_back(where); }
    void on_not_found(const failure& why) noexcept override { not_found.push_back(why); }
    void on_moved(const location& where) noexcept override { moved.push_back(where); }
    void on_change() noexcept override {}
    std::uint64_t chance() noexcept override { return 0; }

    std::unique_ptr<sentinel_resolver> made_;
};

TEST(sentinel_resolver, finds_the_master_and_the_size_of_its_group) {
    watch_tower with;
    with.first.names({.host = "10.0.0.7", .port = 7001, .replicas = 4});
    with.ask();
    ASSERT_EQ(with.found.size(), 1U);
    EXPECT_EQ(with.found[0].where.name(), "10.0.0.7:7001");
    EXPECT_EQ(with.found[0].members, 5U);
    EXPECT_EQ(with.found[0].where.user, "app") << "the server's, not the Sentinel's";
    EXPECT_EQ(with.found[0].where.password, "of the servers");
    EXPECT_FALSE(with.found[0].where.sentinels.has_value());
    EXPECT_EQ(with.second.asked() + with.third.asked(), 0) << "one was enough";
}

TEST(sentinel_resolver, listens_before_it_asks_so_that_no_change_is_missed) {
    watch_tower with;
    with.ask();
    const auto& asked = with.first.server.asked();
    const auto listens = std::find(asked.begin(), asked.end(), "SUBSCRIBE");
    const auto asks = std::find(asked.begin(), asked.end(), "GET-MASTER-ADDR-BY-NAME");
    ASSERT_NE(listens, asked.end());
    EXPECT_LT(listens, asks);
    EXPECT_EQ(with.first.server.latest("SUBSCRIBE")[1], "+switch-master");
}

TEST(sentinel_resolver, a_group_of_unknown_size_is_said_to_be_one) {
    watch_tower with;
    with.first.server.answer("MASTER", "-NOPERM this user has no permissions\r\n");
    with.ask();
    ASSERT_EQ(with.found.size(), 1U);
    EXPECT_EQ(with.found[0].where.name(), "a:6379");
    EXPECT_EQ(with.found[0].members, 0U);
}

TEST(sentinel_resolver, asks_the_next_one_where_one_is_down_or_of_no_use) {
    const auto spoil = [](int how, testing::stub_sentinel& which) {
        switch (how) {
            case 0: return which.server.stop();
            case 1: return which.knows_no_master();
            case 2: return which.server.answer("GET-MASTER-ADDR-BY-NAME", "-ERR no\r\n");
            case 3: return which.server.answer("GET-MASTER-ADDR-BY-NAME", "+what?\r\n");
            case 4: return which.names({.host = "a b"});
            case 5: return which.names({.host = "a", .port = 0});
            case 6: return which.server.answer("HELLO", "-WRONGPASS no\r\n");
            default: return which.server.answer("HELLO", "&&&\r\n");
        }
    };
    for (int how = 0; how < 8; ++how) {
        watch_tower with;
        spoil(how, with.first);
        with.second.names({.host = "b"});
        with.ask();
        EXPECT_EQ(watch_tower::addresses(with.found), names{"b:6379"}) << how;
        EXPECT_EQ(with.links(), 1U) << how << ": the other is not listened to";
    }
}

TEST(sentinel_resolver, waits_for_each_for_its_share_of_the_time_to_connect) {
    for (const bool at_all : {true, false}) {
        watch_tower with;
        if (at_all) {
            with.first.is_silent();
        } else {
            with.first.server.answer("HELLO", "");
        }
        with.ask();
        with.pass(249ms);
        EXPECT_TRUE(with.found.empty());
        with.pass(1ms);
        EXPECT_EQ(watch_tower::addresses(with.found), names{"a:6379"});
        EXPECT_EQ(with.second.asked(), 1);
    }
}

TEST(sentinel_resolver, begins_with_who_answered_last) {
    watch_tower with;
    with.first.server.stop();
    with.ask();
    with.first.server.start();
    with.ask();
    EXPECT_EQ(with.found.size(), 2U);
    EXPECT_EQ(with.first.asked(), 0);
    EXPECT_EQ(with.second.asked(), 2);
}

TEST(sentinel_resolver, asks_again_over_the_connection_that_it_has) {
    watch_tower with;
    with.ask();
    with.first.names({.host = "b", .epoch = 1});
    with.ask();
    EXPECT_EQ(watch_tower::addresses(with.found), (names{"a:6379", "b:6379"}));
    EXPECT_EQ(with.around.streams().size(), 1U);
    EXPECT_TRUE(with.moved.empty()) << "who asked has been told";
}

TEST(sentinel_resolver, after_a_doubt_another_one_is_asked) {
    watch_tower with;
    with.second.names({.host = "b"});
    with.third.names({.host = "c"});
    for (int n = 0; n < 4; ++n) {
        with.ask();
        with.at().doubt();
    }
    EXPECT_EQ(watch_tower::addresses(with.found), (names{"a:6379", "b:6379", "c:6379", "a:6379"}));
    EXPECT_EQ(with.links(), 0U);
}

TEST(sentinel_resolver, one_alone_is_listened_to_whatever_is_thought_of_it) {
    watch_tower with(1);
    with.ask();
    with.at().doubt();
    EXPECT_EQ(with.links(), 1U);
    with.ask();
    EXPECT_EQ(with.around.streams().size(), 1U);
    EXPECT_EQ(with.found.size(), 2U);
}

TEST(sentinel_resolver, says_what_each_of_them_said_where_none_knows) {
    watch_tower with;
    with.first.server.stop();
    with.second.knows_no_master();
    with.third.is_silent();
    with.ask();
    with.pass(250ms);
    ASSERT_EQ(with.not_found.size(), 1U);
    EXPECT_EQ(with.not_found[0].message,
              "no Sentinel names the master: s0:26379: Connection refused, s1:26379: knows no "
              "master called 'main' (it watches 'main'), s2:26379: no answer in time");
    EXPECT_FALSE(with.not_found[0].hopeless) << "the first may come back";
    EXPECT_EQ(with.not_found[0].code, errc::unreachable);
}

TEST(sentinel_resolver, it_is_hopeless_where_all_are_there_and_none_knows_the_master) {
    watch_tower with;
    for (auto* each : {&with.first, &with.second, &with.third}) each->knows_no_master();
    with.ask();
    ASSERT_EQ(with.not_found.size(), 1U);
    EXPECT_TRUE(with.not_found[0].hopeless);
}

TEST(sentinel_resolver, a_server_in_place_of_a_sentinel_is_called_one) {
    watch_tower with(1);
    with.first.server.info = "redis_mode:standalone\r\nrole:master\r\n";
    with.ask();
    ASSERT_EQ(with.not_found.size(), 1U);
    EXPECT_NE(with.not_found[0].message.find("s0:26379: is no Sentinel but a server"),
              std::string::npos)
        << with.not_found[0].message;
    EXPECT_TRUE(with.not_found[0].hopeless);
}

TEST(sentinel_resolver, introduces_itself_to_the_sentinels_with_their_own_credentials) {
    watch_tower with(1);
    with.how.of.sentinels->user = "watcher";
    with.how.of.sentinels->password = "hunter2";
    with.first.server.answer("HELLO",
                             "-WRONGPASS invalid username-password pair: hunter2 is not it\r\n");
    with.ask();
    EXPECT_EQ(with.first.server.latest("HELLO"),
              (names{"HELLO", "3", "AUTH", "watcher", "hunter2"}));
    ASSERT_EQ(with.not_found.size(), 1U);
    EXPECT_EQ(with.not_found[0].code, errc::authentication);
    EXPECT_EQ(with.not_found[0].message.find("hunter2"), std::string::npos)
        << with.not_found[0].message;
    EXPECT_TRUE(with.not_found[0].hopeless);
}

TEST(sentinel_resolver, tells_at_once_that_another_server_has_become_the_master) {
    watch_tower with;
    with.ask();
    with.first.names({.host = "b", .epoch = 1});
    with.first.publishes_switch();
    with.here.settle();
    EXPECT_EQ(watch_tower::addresses(with.moved), names{"b:6379"});
}

TEST(sentinel_resolver, what_becomes_of_other_masters_is_nothing_to_it) {
    watch_tower with;
    with.ask();
    for (const auto* other : {"mai", "main2", "other"}) with.first.publishes_switch(other);
    with.here.settle();
    EXPECT_EQ(with.first.asked(), 1);
    EXPECT_TRUE(with.moved.empty());
}

TEST(sentinel_resolver, finds_within_a_second_what_nobody_told_it) {
    watch_tower with;
    with.ask();
    with.first.names({.host = "b", .epoch = 1});
    with.pass(999ms);
    EXPECT_TRUE(with.moved.empty());
    with.pass(1ms);
    EXPECT_EQ(watch_tower::addresses(with.moved), names{"b:6379"});
}

TEST(sentinel_resolver, tells_when_the_size_of_the_group_has_changed) {
    watch_tower with;
    with.ask();
    with.first.names({.host = "a", .replicas = 3});
    with.pass(1s);
    ASSERT_EQ(with.moved.size(), 1U);
    EXPECT_EQ(with.moved[0].where.name(), "a:6379");
    EXPECT_EQ(with.moved[0].members, 4U);
    with.pass(5s);
    EXPECT_EQ(with.moved.size(), 1U) << "once";
}

TEST(sentinel_resolver, a_link_that_breaks_is_made_anew_to_another_and_misses_nothing) {
    watch_tower with;
    with.ask();
    for (auto* each : {&with.first, &with.second, &with.third}) {
        each->names({.host = "b", .epoch = 1});
    }
    with.first.server.kill_connections();
    with.here.settle();
    with.pass(20ms);
    EXPECT_EQ(watch_tower::addresses(with.moved), names{"b:6379"});
    EXPECT_EQ(with.second.asked(), 1);
    with.second.names({.host = "c", .epoch = 2});
    with.second.publishes_switch();
    with.here.settle();
    EXPECT_EQ(watch_tower::addresses(with.moved), (names{"b:6379", "c:6379"}));
}

TEST(sentinel_resolver, a_sentinel_that_stands_still_is_left_for_another) {
    watch_tower with;
    with.ask();
    with.around.streams()[0]->stall(true);
    with.second.names({.host = "b", .epoch = 1});
    with.pass(1s + 250ms + 20ms);
    EXPECT_EQ(watch_tower::addresses(with.moved), names{"b:6379"});
}

TEST(sentinel_resolver, while_all_are_away_it_looks_less_and_less_often) {
    watch_tower with;
    with.ask();
    for (auto* each : {&with.first, &with.second, &with.third}) each->server.stop();
    with.pass(60s);
    EXPECT_GT(with.around.streams().size(), 50U);
    EXPECT_LT(with.around.streams().size(), 150U);
    EXPECT_TRUE(with.not_found.empty()) << "nobody has asked";
    with.third.server.start();
    with.third.names({.host = "b", .epoch = 1});
    with.pass(5s);
    EXPECT_EQ(watch_tower::addresses(with.moved), names{"b:6379"});
}

TEST(sentinel_resolver, does_not_go_back_to_a_master_that_was_replaced) {
    watch_tower with;
    with.first.names({.host = "b", .epoch = 7});
    with.second.names({.host = "a", .epoch = 6});
    with.third.names({.host = "b", .epoch = 7});
    with.ask();
    with.at().doubt();
    with.ask();
    EXPECT_EQ(watch_tower::addresses(with.found), (names{"b:6379", "b:6379"}));
    EXPECT_EQ(with.second.asked(), 1) << "it was asked, and not believed";
    EXPECT_EQ(with.third.asked(), 1);
}

TEST(sentinel_resolver, most_of_them_who_know_less_than_was_heard_name_no_master) {
    watch_tower with;
    with.first.names({.host = "b", .epoch = 7});
    with.second.names({.host = "a", .epoch = 6});
    with.third.names({.host = "a", .epoch = 6});
    with.ask();
    with.first.server.stop();
    with.here.settle();
    with.ask();
    with.pass(20ms);
    ASSERT_EQ(with.not_found.size(), 1U);
    EXPECT_NE(with.not_found[0].message.find("s1:26379: names a:6379, which was replaced since"),
              std::string::npos)
        << with.not_found[0].message;
}

TEST(sentinel_resolver, they_are_believed_where_all_were_set_up_anew) {
    watch_tower with;
    with.first.names({.host = "b", .epoch = 7});
    with.ask();
    with.first.names({.host = "c", .epoch = 0});
    with.second.names({.host = "c", .epoch = 0});
    with.third.names({.host = "d", .epoch = 1});
    with.ask();
    EXPECT_EQ(watch_tower::addresses(with.found), (names{"b:6379", "d:6379"}));
    for (auto* each : {&with.first, &with.second, &with.third}) {
        each->names({.host = "e", .epoch = 2});
    }
    with.pass(2s);
    EXPECT_EQ(watch_tower::addresses(with.moved), names{"e:6379"}) << "the count begins anew";
}

TEST(sentinel_resolver, a_question_that_was_withdrawn_is_not_answered) {
    watch_tower with;
    with.first.is_silent();
    with.ask();
    with.at().withdraw();
    with.pass(2s);
    EXPECT_TRUE(with.found.empty());
    EXPECT_TRUE(with.not_found.empty());
}

TEST(sentinel_resolver, says_nothing_after_it_was_closed) {
    watch_tower with;
    with.ask();
    with.at().close();
    with.here.settle();
    EXPECT_EQ(with.links(), 0U);
    with.first.names({.host = "b", .epoch = 1});
    with.pass(5s);
    EXPECT_TRUE(with.moved.empty());
    EXPECT_EQ(with.around.streams().size(), 1U);
}

TEST(sentinel_resolver, without_resp3_it_asks_instead_of_listening) {
    watch_tower with;
    with.first.server.answer("HELLO", "-NOPROTO unsupported protocol version\r\n");
    with.ask();
    ASSERT_EQ(with.found.size(), 1U);
    EXPECT_EQ(with.first.server.count("SUBSCRIBE"), 0);
    with.first.names({.host = "b", .epoch = 1});
    with.pass(1s);
    EXPECT_EQ(watch_tower::addresses(with.moved), names{"b:6379"});
}

}  // namespace
}  // namespace holdfast::net
