#include <unistd.h>

#include <algorithm>

#include "holdfast/operate.hpp"
#include "integration/library.hpp"

/// Who stands in line, as inspect() and list() tell. The entries are written by the test, in the
/// form that src/operate/waiters.hpp gives.
namespace holdfast::test {
namespace {

class waiters : public testing::Test {
  protected:
    using since = std::chrono::microseconds;

    static std::string owner(const std::string& who, const std::string& label = {}) {
        return "hf1:" + std::string(40, 'b') + ":" + who + ":" + label;
    }

    since server_time() const {
        const auto said = server_.query({"TIME"});
        return since(std::stoll(said.elements.at(0).text) * 1'000'000 +
                     std::stoll(said.elements.at(1).text));
    }

    void stand_in_line(const std::string& whose, since when = {},
                       const std::string& key = "k") const {
        append("- " + std::to_string(when.count()) + " " + whose, key);
    }

    void append(const std::string& entry, const std::string& key = "k") const {
        server_.command({"RPUSH", "holdfast:{" + key + "}:queue", entry});
    }

    lock_status look(const std::string& key = "k") {
        client through(server_.url());
        return inspect(through, key);
    }

    /// As somebody who may do all but these.
    client without(std::vector<std::string> rights) const {
        std::vector<std::string> command{"ACL", "SETUSER", "app", "reset",
                                         "on",  ">pw",     "~*",  "+@all"};
        command.insert(command.end(), rights.begin(), rights.end());
        server_.command(command);
        return client("redis://app:pw@127.0.0.1:" + std::to_string(server_.port()));
    }

    redis_server server_;
};

TEST_F(waiters, are_told_in_order_with_who_they_are_and_since_when) {
    client holding(server_.url());
    const auto held = mutex(holding, "k").acquire();
    const auto now = server_time();
    stand_in_line(owner("anna@web1:11", "nightly"), now - 90s);
    stand_in_line(owner("bob@web2:22"), now - 30s);
    stand_in_line(owner("carl@web3:33"));
    const auto status = look();
    EXPECT_EQ(status.held_by->owner, held.owner());
    ASSERT_EQ(status.waiting, 3U);
    ASSERT_EQ(status.waiters->size(), 3U);
    const auto& first = status.waiters->at(0);
    EXPECT_EQ(first.who.describe(), "anna@web1, process 11 (nightly)");
    EXPECT_EQ(first.since->time_since_epoch(), now - 90s);
    EXPECT_GE(*first.waited, 90s);
    EXPECT_LT(*first.waited, 100s);
    EXPECT_EQ(status.waiters->at(1).who.user, "bob");
    EXPECT_EQ(status.waiters->at(2).who.host, "web3");
    EXPECT_FALSE(status.waiters->at(2).since);
    EXPECT_FALSE(status.waiters->at(2).waited);
    EXPECT_EQ(status.no_waiters, "");
}

TEST_F(waiters, do_not_have_their_owner_tokens_told) {
    stand_in_line(owner("anna@web1:11"));
    EXPECT_EQ(look().waiters->at(0).who.owner, "");
}

TEST_F(waiters, of_a_lock_that_nobody_waits_for_are_none) {
    const auto status = look();
    EXPECT_EQ(status.waiting, 0U);
    ASSERT_TRUE(status.waiters);
    EXPECT_TRUE(status.waiters->empty());
    EXPECT_EQ(status.no_waiters, "");
}

TEST_F(waiters, of_a_lock_that_is_free_are_told_too) {
    stand_in_line(owner("anna@web1:11"));
    const auto status = look();
    EXPECT_FALSE(status.held_by);
    EXPECT_EQ(status.waiting, 1U);
    EXPECT_EQ(status.waiters->at(0).who.user, "anna");
}

TEST_F(waiters, of_a_lock_with_a_prefix_and_a_tag_are_found) {
    server_.command({"RPUSH", "holdfast:queue:app:{u}:cart", "- 0 " + owner("anna@web1:11")});
    auto settings = settings_for(server_.url());
    settings.prefix = "app:";
    client through(settings);
    EXPECT_EQ(inspect(through, "{u}:cart").waiting, 1U);
}

TEST_F(waiters, of_this_process_are_called_so) {
    client through(server_.url());
    const auto own = mutex(through, "mine").acquire().owner();
    stand_in_line(owner("anna@web1:11"));
    stand_in_line(own);
    const auto who = parse_owner(own);
    stand_in_line(owner(who.user + "@" + who.host + ":" + std::to_string(::getpid() + 1)));
    stand_in_line(owner(who.user + "@elsewhere:" + std::to_string(::getpid())));
    const auto all = *inspect(through, "k").waiters;
    std::vector<bool> ours;
    for (const auto& each : all) ours.push_back(each.ours);
    EXPECT_EQ(ours, (std::vector<bool>{false, true, false, false}));
}

TEST_F(waiters, who_came_later_than_the_server_knows_have_waited_for_no_time) {
    stand_in_line(owner("anna@web1:11"), server_time() + 1h);
    EXPECT_EQ(look().waiters->at(0).waited, 0ms);
}

TEST_F(waiters, beyond_the_first_thousand_are_counted) {
    std::vector<std::string> command{"RPUSH", "holdfast:{k}:queue"};
    for (int n = 0; n < 1234; ++n) {
        command.push_back("- 0 " + owner("anna@web1:" + std::to_string(n + 1)));
    }
    server_.command(command);
    const auto status = look();
    EXPECT_EQ(status.waiting, 1234U);
    ASSERT_EQ(status.waiters->size(), max_waiters_told);
    EXPECT_EQ(status.waiters->front().who.pid, 1U);
    EXPECT_EQ(status.waiters->back().who.pid, 1000U);
}

TEST_F(waiters, that_are_none_of_ours_have_a_place_and_no_name) {
    append("garbage");
    stand_in_line(owner("anna@web1:11"));
    stand_in_line("another-library:4711");
    append(std::string("\0\xff \r\n", 5));
    append(std::string(300'000, 'x'));
    const auto status = look();
    ASSERT_EQ(status.waiting, 5U);
    for (const std::size_t place : {0U, 2U, 3U, 4U}) {
        const auto& each = status.waiters->at(place);
        EXPECT_TRUE(each.who.foreign());
        EXPECT_EQ(each.who.owner, "");
        EXPECT_FALSE(each.since);
    }
    EXPECT_EQ(status.waiters->at(1).who.user, "anna");
}

TEST_F(waiters, are_not_known_where_something_else_is_at_the_key_of_the_queue) {
    client through(server_.url());
    const auto held = mutex(through, "k").acquire();
    server_.command({"SET", "holdfast:{k}:queue", "no list"});
    const auto status = look();
    EXPECT_EQ(status.held_by->owner, held.owner());
    EXPECT_EQ(status.token, held.token());
    EXPECT_FALSE(status.waiters);
    EXPECT_FALSE(status.waiting);
    EXPECT_EQ(status.no_waiters, "what is at holdfast:{k}:queue is no queue");
    std::size_t listed = 0;
    list(through, "*", [&](const lock_status& each) { listed += each.waiting ? 0U : 1U; });
    EXPECT_EQ(listed, 1U);
}

TEST_F(waiters, are_not_known_to_whom_the_acl_forbids_to_look) {
    client holding(server_.url());
    const auto held = mutex(holding, "k").acquire();
    stand_in_line(owner("anna@web1:11"));
    client through = without({"-lrange", "-llen"});
    const auto status = inspect(through, "k");
    EXPECT_EQ(status.held_by->owner, held.owner());
    EXPECT_FALSE(status.waiters);
    EXPECT_FALSE(status.waiting);
    EXPECT_TRUE(contains(status.no_waiters, "lrange")) << status.no_waiters;
    std::size_t listed = 0;
    list(through, "*", [&](const lock_status& each) {
        ++listed;
        EXPECT_FALSE(each.waiting);
        EXPECT_TRUE(contains(each.no_waiters, "llen")) << each.no_waiters;
    });
    EXPECT_EQ(listed, 1U);
}

TEST_F(waiters, whose_names_may_not_be_read_are_counted_all_the_same) {
    stand_in_line(owner("anna@web1:11"));
    client through = without({"-lrange"});
    const auto status = inspect(through, "k");
    EXPECT_FALSE(status.waiters);
    EXPECT_EQ(status.waiting, 1U);
    EXPECT_FALSE(status.no_waiters.empty());
    const auto none = inspect(through, "other");
    EXPECT_EQ(none.waiting, 0U);
    EXPECT_TRUE(none.waiters) << "nobody needs no name";
    EXPECT_EQ(none.no_waiters, "");
}

TEST_F(waiters, have_no_duration_for_whom_the_acl_forbids_to_ask_for_the_time) {
    stand_in_line(owner("anna@web1:11"), server_time());
    client through = without({"-time"});
    const auto status = inspect(through, "k");
    EXPECT_TRUE(status.waiters->at(0).since);
    EXPECT_FALSE(status.waiters->at(0).waited);
}

TEST_F(waiters, are_counted_by_list_for_every_lock) {
    client through(server_.url());
    const auto first = mutex(through, "first").acquire();
    const auto second = mutex(through, "second").acquire();
    for (int n = 0; n < 3; ++n) stand_in_line(owner("anna@web1:11"), {}, "first");
    stand_in_line(owner("anna@web1:11"), {}, "free");
    std::vector<std::pair<std::string, std::optional<std::size_t>>> seen;
    list(through, "*", [&](const lock_status& each) {
        seen.emplace_back(each.key, each.waiting);
        EXPECT_FALSE(each.waiters) << "nobody asked who";
    });
    std::sort(seen.begin(), seen.end());
    ASSERT_EQ(seen.size(), 2U) << "what is free is not listed, nor is a queue";
    EXPECT_EQ(seen[0], (std::pair{std::string("first"), std::optional<std::size_t>(3)}));
    EXPECT_EQ(seen[1], (std::pair{std::string("second"), std::optional<std::size_t>(0)}));
}

TEST_F(waiters, of_a_quorum_are_not_known) {
    redis_server second;
    redis_server third;
    stand_in_line(owner("anna@web1:11"));
    options settings;
    settings.urls = {server_.url(), second.url(), third.url()};
    client through(settings);
    const auto status = inspect(through, "k");
    EXPECT_FALSE(status.waiting);
    EXPECT_FALSE(status.waiters);
}

}  // namespace
}  // namespace holdfast::test
