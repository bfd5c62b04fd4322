#include "runtime/operations/attempt.hpp"

#include <gtest/gtest.h>

#include "unit/support/try_out.hpp"

// One voter, at which whoever waits stands in line.
namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;
using testing::try_out;
using verdict = core::acquire::verdict;
using words = std::vector<std::string>;

constexpr attempt::manner waiting{.waits = true};
constexpr auto no_right = "-NOPERM no permissions\r\n";

/// The lock is somebody's.
try_out& held(try_out& with) {
    with.connect().server().put("key", "somebody", 20s);
    return with;
}

TEST(attempt_in_line, stands_there_in_the_request_that_denied_it) {
    try_out with;
    EXPECT_EQ(held(with).run({}, waiting), verdict::contended);
    EXPECT_EQ(with.server().asked(), words{"queue_acquire"});
    const auto line = with.server().line_of("key");
    ASSERT_EQ(line.size(), 1U);
    EXPECT_EQ(line[0], with.through().channel() + " 1700000000000000 " + with.made->owner());
    EXPECT_EQ(with.made->summary(),
              (core::denial_summary{.remaining = 20s, .place = 1, .called = true}));
    ASSERT_TRUE(with.made->denied_by());
    EXPECT_EQ(with.made->denied_by()->owner, "somebody");
    EXPECT_EQ(with.made->denied_by()->place, 1U);
}

TEST(attempt_in_line, says_since_when_by_the_clock_of_the_server) {
    try_out with;
    held(with).here.run_for(3s);
    with.run({}, waiting);
    const auto line = with.server().line_of("key");
    ASSERT_EQ(line.size(), 1U);
    EXPECT_NE(line[0].find(" 1700000003000000 "), std::string::npos) << line[0];
}

TEST(attempt_in_line, knows_that_others_stand_before_it) {
    try_out with;
    held(with).server().stand_in_line("key", "channel 0 another");
    EXPECT_EQ(with.run({}, waiting), verdict::contended);
    EXPECT_EQ(with.made->summary().place, 2U);
    EXPECT_LT(with.made->summary().remaining, 0s) << "only the first has to know";
}

TEST(attempt_in_line, leaves_no_entry_of_who_does_not_wait) {
    try_out with;
    EXPECT_EQ(held(with).run(), verdict::contended);
    EXPECT_EQ(with.server().line_of("key"), words{});
    EXPECT_FALSE(with.made->give_place());
    EXPECT_EQ(with.made->summary().place, 0U);
}

TEST(attempt_in_line, is_denied_by_the_first_in_line_also_where_the_lock_is_free) {
    try_out with;
    with.connect().server().stand_in_line("key", "- 0 another");
    EXPECT_EQ(with.run(), verdict::contended);
    ASSERT_TRUE(with.made->denied_by());
    EXPECT_EQ(with.made->denied_by()->owner, "another");
    EXPECT_EQ(with.made->denied_by()->remaining, 2s);
}

TEST(attempt_in_line, keeps_its_place_and_its_owner_from_one_attempt_to_the_next) {
    try_out with;
    held(with).stand_in_line();
    const auto before = with.server().line_of("key");
    const auto owner = with.place->owner;
    with.server().stand_in_line("key", "channel 0 another");
    EXPECT_EQ(with.run({}, waiting), verdict::contended);
    EXPECT_FALSE(with.place) << "it was taken";
    EXPECT_EQ(with.made->owner(), owner);
    EXPECT_EQ(with.made->summary().place, 1U);
    EXPECT_EQ(with.server().line_of("key"), (words{before[0], "channel 0 another"}));
    EXPECT_EQ(with.server().latest("queue_acquire").back(), "1") << "it may stand there already";
}

TEST(attempt_in_line, stands_at_the_end_where_its_entry_is_gone) {
    try_out with;
    held(with).stand_in_line();
    with.server().erase_line("key");
    with.server().stand_in_line("key", "channel 0 another");
    EXPECT_EQ(with.run({}, waiting), verdict::contended);
    EXPECT_EQ(with.made->summary().place, 2U);
}

TEST(attempt_in_line, claims_what_was_granted_to_its_owner_meanwhile) {
    try_out with;
    held(with).stand_in_line();
    const auto owner = with.place->owner;
    with.server().erase_line("key");
    with.server().put("key", owner, 2s);
    const auto before = with.here.now();
    with.start({}, waiting);
    with.here.settle();
    EXPECT_EQ(with.outcome, verdict::held);
    EXPECT_EQ(with.made->machine().valid_until(), before + 30s - 302ms) << "as any lease";
    EXPECT_EQ(with.made->give_owner(), owner);
    EXPECT_EQ(with.server().owner_of("key"), owner);
}

TEST(attempt_in_line, that_is_not_answered_takes_its_entry_along_and_burns_its_owner) {
    try_out with;
    held(with).stand_in_line();
    const auto entry = with.place->entry;
    const auto owner = with.place->owner;
    with.server().answer_once("queue_acquire", "");
    EXPECT_EQ(with.run({}, waiting), verdict::unreachable);
    EXPECT_EQ(with.server().count("queue_release"), 1);
    EXPECT_EQ(with.server().latest("queue_release")[5], owner);
    EXPECT_EQ(with.server().latest("queue_release")[6],
              kinds::text_of(entry, with.through().channel()));
    EXPECT_EQ(with.server().line_of("key"), words{});
    EXPECT_NE(with.start({}, waiting).owner(), owner);
}

TEST(attempt_in_line, that_is_cancelled_under_way_takes_its_entry_along) {
    try_out with;
    held(with).stand_in_line();
    with.server().answer_once("queue_acquire", "");
    with.start({}, waiting);
    with.here.settle();
    with.cancel();
    with.here.settle();
    EXPECT_EQ(with.server().line_of("key"), words{});
    EXPECT_EQ(with.decisions, 1) << "the first";
}

TEST(attempt_in_line, whose_undoing_is_refused_takes_its_entry_along_later) {
    try_out with;
    held(with).stand_in_line();
    with.server().answer_once("queue_acquire", "-OOM command not allowed\r\n");
    with.server().answer_once("queue_release", "-BUSY Redis is busy\r\n");
    with.start({}, waiting);
    with.here.settle();
    EXPECT_EQ(with.server().line_of("key").size(), 1U);
    with.here.run_for(100ms);
    EXPECT_EQ(with.server().line_of("key"), words{});
}

TEST(attempt_in_line, whose_undoing_finds_nobody_takes_its_entry_along_after_the_reconnect) {
    try_out with;
    held(with).stand_in_line();
    with.server().answer_once("queue_acquire", "");
    with.start({}, waiting);
    with.here.settle();
    with.server().stop();
    with.here.run_for(500ms);
    EXPECT_EQ(with.server().line_of("key").size(), 1U);
    with.server().start();
    with.here.run_for(2s);
    EXPECT_EQ(with.server().line_of("key"), words{});
}

TEST(attempt_in_line, stands_there_once_where_the_server_has_forgotten_the_script) {
    try_out with;
    held(with).server().flush_scripts();
    EXPECT_EQ(with.run({}, waiting), verdict::contended);
    EXPECT_EQ(with.server().count("queue_acquire"), 2) << "by its hash, and by its text";
    EXPECT_EQ(with.server().line_of("key").size(), 1U);
}

TEST(attempt_in_line, that_cannot_be_called_stands_there_without_a_channel_and_knows_it) {
    try_out forbidden;
    forbidden.server().answer("SUBSCRIBE", no_right);
    EXPECT_EQ(held(forbidden).run({}, waiting), verdict::contended);
    EXPECT_TRUE(forbidden.server().line_of("key")[0].starts_with("- 1700000000000000 hf1:"));
    EXPECT_EQ(forbidden.made->summary().place, 1U);
    EXPECT_FALSE(forbidden.made->summary().called);

    try_out old;
    old.server().answer("HELLO", "-ERR unknown command 'HELLO'\r\n");
    EXPECT_EQ(held(old).run({}, waiting), verdict::contended);
    EXPECT_TRUE(old.server().line_of("key")[0].starts_with("- "));
    EXPECT_FALSE(old.made->summary().called);
}

TEST(attempt_in_line, that_may_be_called_by_now_knows_that_its_entry_still_has_no_channel) {
    try_out with;
    held(with).place = attempt::place{"owner", {.since = 12}};
    with.server().stand_in_line("key", "- 12 owner");
    EXPECT_EQ(with.run({}, waiting), verdict::contended);
    EXPECT_EQ(with.made->summary().place, 1U);
    EXPECT_FALSE(with.made->summary().called);
}

TEST(attempt_in_line, whose_lease_would_be_short_takes_its_entry_along_all_the_same) {
    try_out with;
    held(with).stand_in_line({.ttl = 100ms});
    with.server().answer_once("queue_acquire", "");
    with.start({.ttl = 100ms}, waiting);
    with.here.settle();
    with.server().stop();
    with.here.run_for(1s);
    with.server().start();
    with.here.run_for(2s);
    EXPECT_EQ(with.server().line_of("key"), words{});
}

TEST(attempt_in_line, is_not_asked_for_in_a_quarantine_and_keeps_the_place_it_had) {
    try_out with(1, true);
    with.server().enlisted = "*5\r\n:1\r\n:3000\r\n:1000\r\n:60000\r\n:1700000000000000\r\n";
    with.place = attempt::place{"owner", {.since = 12, .callable = true}};
    EXPECT_EQ(with.run({}, waiting), verdict::contended);
    EXPECT_EQ(with.server().count("queue_acquire"), 0);
    EXPECT_EQ(with.server().count("queue_release"), 0);
    ASSERT_TRUE(with.made->denied_by());
    EXPECT_TRUE(with.made->denied_by()->quarantine);
    EXPECT_EQ(with.made->summary().place, 0U);
    const auto place = with.made->give_place();
    ASSERT_TRUE(place);
    EXPECT_EQ(place->owner, "owner");
    EXPECT_EQ(place->entry, (kinds::entry{.since = 12, .callable = true}));
}

TEST(attempt_in_line, has_nothing_to_leave_where_it_was_not_let_in) {
    try_out with;
    held(with).server().answer("queue_acquire",
                               "*4\r\n:0\r\n" + testing::bulk("another") + ":1000\r\n:0\r\n");
    EXPECT_EQ(with.run({}, waiting), verdict::contended);
    EXPECT_FALSE(with.made->give_place());
    with.place = attempt::place{"owner", {.since = 12, .callable = true}};
    EXPECT_EQ(with.run({}, waiting), verdict::contended);
    EXPECT_TRUE(with.made->give_place()) << "it may stand there already";
}

// Without fencing.

constexpr acquire_options unfenced{.fencing = false};

TEST(attempt_in_line, is_one_plain_command_unfenced_where_nobody_stood_in_line_lately) {
    try_out with;
    with.connect();
    EXPECT_EQ(with.run(unfenced, {.waits = true, .quiet = true}), verdict::held);
    EXPECT_EQ(with.server().asked(), words{"SET"});
    EXPECT_EQ(with.made->machine().token().value, 0U);
}

TEST(attempt_in_line, passes_nobody_unfenced_where_that_is_not_known) {
    try_out with;
    with.connect();
    EXPECT_EQ(with.run(unfenced, waiting), verdict::held);
    EXPECT_EQ(with.server().asked(), words{"queue_acquire"});
}

TEST(attempt_in_line, stands_there_in_a_second_request_where_the_plain_command_was_denied) {
    try_out with;
    EXPECT_EQ(held(with).run(unfenced, {.waits = true, .quiet = true}), verdict::contended);
    EXPECT_EQ(with.server().asked(), (words{"SET", "queue_acquire"}));
    EXPECT_EQ(with.server().line_of("key").size(), 1U);
    EXPECT_EQ(with.made->summary().place, 1U);
    EXPECT_EQ(with.made->denied_by()->owner, "somebody");
}

TEST(attempt_in_line, asks_who_denied_the_plain_command_also_where_it_does_not_wait) {
    try_out with;
    EXPECT_EQ(held(with).run(unfenced, {.inquires = true, .quiet = true}), verdict::contended);
    EXPECT_EQ(with.server().asked(), (words{"SET", "queue_acquire"}));
    EXPECT_EQ(with.server().line_of("key"), words{});
    EXPECT_EQ(with.made->denied_by()->owner, "somebody");
}

TEST(attempt_in_line, claims_by_the_script_unfenced_as_it_stands_there_under_its_owner) {
    try_out with;
    held(with).stand_in_line(unfenced);
    with.server().put("key", with.place->owner, 2s);
    with.server().forget_asked();
    EXPECT_EQ(with.run(unfenced, {.waits = true, .quiet = true}), verdict::held);
    EXPECT_EQ(with.server().asked(), words{"queue_acquire"});
}

}  // namespace
}  // namespace holdfast::runtime
