#include "kinds/exclusive.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kinds/election.hpp"
#include "kinds/owners.hpp"
#include "kinds/semaphore.hpp"
#include "kinds/several.hpp"
#include "kinds/shared.hpp"
#include "kinds/table.hpp"
#include "scripts/embedded.hpp"
#include "unit/support/script_words.hpp"

namespace holdfast::kinds {
namespace {

using namespace std::chrono_literals;

const keys lock{.lock = "k"};
const keys unfenced_lock{.lock = "k", .fenced = false};
const keys queued_lock{.lock = "k", .queued = true};
const keys unfenced_queued_lock{.lock = "k", .fenced = false, .queued = true};

template <typename Expected>
const Expected* vote(std::string_view frame) {
    static vote_answer answer;
    answer = exclusive().read_acquire(resp::view(frame));
    return std::get_if<Expected>(&answer);
}

TEST(exclusive_kind, the_counter_shares_the_cluster_slot_of_its_lock) {
    EXPECT_EQ(counter_key("orders:42"), "holdfast:{orders:42}:fence");
    EXPECT_EQ(counter_key("{user1}:cart"), "holdfast:fence:{user1}:cart");
    EXPECT_EQ(counter_key("a{}b"), "holdfast:{a{}b}:fence") << "an empty tag is none";
    EXPECT_EQ(counter_key("a}b{"), "holdfast:{a}b{}:fence") << "an unclosed tag is none";
    EXPECT_NE(counter_key("x"), counter_key("{x}"));
}

TEST(exclusive_kind, so_does_the_queue_of_those_who_wait_for_it) {
    EXPECT_EQ(queue_key("orders:42"), "holdfast:{orders:42}:queue");
    EXPECT_EQ(queue_key("{user1}:cart"), "holdfast:queue:{user1}:cart");
}

TEST(exclusive_kind, a_plain_acquire_is_the_command_of_the_documents) {
    std::string out;
    exclusive().acquire_by_shortcut(out, {.of = lock, .owner = "me", .ttl = 30s});
    EXPECT_EQ(out,
              "*6\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\nme\r\n$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n30000\r\n");
}

TEST(exclusive_kind, a_ttl_is_rounded_up_to_milliseconds) {
    std::string out;
    exclusive().acquire_by_shortcut(out, {.of = lock, .owner = "me", .ttl = 1500001ns});
    EXPECT_NE(out.find("$1\r\n2\r\n"), std::string::npos) << out;
}

TEST(exclusive_kind, scripts_are_called_by_digest_and_repeated_by_text) {
    std::string by_digest;
    exclusive().release(by_digest, false, {.of = lock, .owner = "me"});
    EXPECT_NE(by_digest.find("EVALSHA"), std::string::npos);
    EXPECT_NE(by_digest.find(scripts::exclusive::release.sha1), std::string::npos);
    std::string by_text;
    exclusive().release(by_text, true, {.of = lock, .owner = "me"});
    EXPECT_NE(by_text.find(scripts::exclusive::release.text), std::string::npos);
}

TEST(exclusive_kind, an_acquire_names_keys_of_one_slot_and_the_floor_of_its_tokens) {
    std::string fenced;
    exclusive().acquire(fenced, false, {.of = lock, .owner = "me", .ttl = 1s, .retention = 1h},
                        {.tokens = 1, .floor = 1700000000000000});
    EXPECT_NE(fenced.find("$1\r\n2\r\n$1\r\nk\r\n$18\r\nholdfast:{k}:fence\r\n"), std::string::npos)
        << fenced;
    EXPECT_NE(fenced.find("1700000000000000"), std::string::npos) << fenced;
    std::string unfenced;
    exclusive().acquire(unfenced, false,
                        {.of = unfenced_lock, .owner = "me", .ttl = 1s, .retention = 1h}, {});
    EXPECT_EQ(unfenced.find("holdfast:"), std::string::npos) << unfenced;
}

TEST(exclusive_kind, asks_one_voter_for_the_lock_or_a_place_in_line_in_one_script) {
    const claim waits{.of = queued_lock,
                      .owner = "me",
                      .ttl = 1s,
                      .retention = 1h,
                      .entry = "channel 12 ",
                      .in_line = true};
    std::string out;
    exclusive().acquire(out, false, waits, {.tokens = 3, .floor = 1700000000000000});
    EXPECT_EQ(out, call_of(scripts::exclusive::queue_acquire,
                           {"3", "k", "holdfast:{k}:queue", "holdfast:{k}:fence", "me", "1000",
                            "3600000", "3", "1700000000000000", "channel 12 ", "1"}));
}

TEST(exclusive_kind, asks_one_voter_for_no_place_where_nobody_waits_and_for_no_token_unfenced) {
    std::string out;
    exclusive().acquire(out, false, {.of = unfenced_queued_lock, .owner = "me", .ttl = 1s}, {});
    EXPECT_EQ(out, call_of(scripts::exclusive::queue_acquire,
                           {"2", "k", "holdfast:{k}:queue", "me", "1000"}));
}

TEST(exclusive_kind, is_released_at_one_voter_to_the_next_or_leaves_the_line) {
    std::string releases;
    exclusive().release(releases, false, {.of = queued_lock, .owner = "me"});
    EXPECT_EQ(releases,
              call_of(scripts::exclusive::queue_release, {"2", "k", "holdfast:{k}:queue", "me"}));
    std::string leaves;
    exclusive().release(leaves, false, {.of = queued_lock, .owner = "me", .entry = "channel 12 "});
    EXPECT_EQ(leaves, call_of(scripts::exclusive::queue_release,
                              {"2", "k", "holdfast:{k}:queue", "me", "channel 12 "}));
}

TEST(exclusive_kind, is_forced_to_the_next_in_line_where_there_is_a_queue) {
    const note why{.by = "root", .held_by = "me", .reason = "stuck"};
    std::string queued;
    exclusive().force(queued, {.of = queued_lock, .owner = "me"}, 1h, why);
    EXPECT_NE(queued.find("holdfast:{k}:queue"), std::string::npos) << queued;
    std::string voted;
    exclusive().force(voted, {.of = lock, .owner = "me"}, 1h, why);
    EXPECT_EQ(voted.find("holdfast:{k}:queue"), std::string::npos) << voted;
}

TEST(exclusive_kind, has_a_shortcut_where_no_token_is_drawn) {
    EXPECT_FALSE(exclusive().has_shortcut(lock));
    EXPECT_TRUE(exclusive().has_shortcut(unfenced_lock));
}

TEST(exclusive_kind, shares_a_key_with_nobody_and_is_allowed_everywhere) {
    EXPECT_FALSE(core::compatible(exclusive().sharing(), exclusive().sharing()));
    EXPECT_TRUE(exclusive().allowed_on(topology::one_voter));
    EXPECT_TRUE(exclusive().allowed_on(topology::quorum));
}

TEST(exclusive_kind, waiters_are_woken_by_their_lock_and_not_by_what_stands_beside_it) {
    EXPECT_EQ(woken_by("orders:42"), "orders:42");
    EXPECT_EQ(woken_by(counter_key("orders:42")), "");
    EXPECT_EQ(woken_by(queue_key("orders:42")), "") << "others come and go there all the time";
}

TEST(kinds, connections_load_the_scripts_that_their_topology_needs) {
    const auto loads = [](const kind& which, topology where) {
        const auto all = which.loads(where);
        return std::vector<const scripts::script*>(all.begin(), all.end());
    };
    using list = std::vector<const scripts::script*>;
    namespace alone = scripts::exclusive;
    namespace read = scripts::shared;
    EXPECT_EQ(loads(exclusive(), topology::quorum),
              (list{&alone::acquire, &alone::commit, &alone::extend, &alone::release}));
    EXPECT_EQ(loads(shared(), topology::quorum),
              (list{&read::acquire, &read::commit, &read::extend, &read::release}));
    EXPECT_EQ(loads(exclusive(), topology::one_voter),
              (list{&alone::queue_acquire, &alone::extend, &alone::queue_release}));
    EXPECT_EQ(loads(shared(), topology::one_voter),
              (list{&read::queue_acquire, &read::extend, &read::release}));
    EXPECT_EQ(loads(semaphore(), topology::one_voter),
              (list{&scripts::semaphore::acquire, &scripts::semaphore::extend,
                    &scripts::semaphore::release}));
    namespace many = scripts::several;
    EXPECT_EQ(loads(several(), topology::quorum),
              (list{&many::acquire, &many::commit, &many::extend, &many::release}));
    EXPECT_EQ(loads(several(), topology::one_voter),
              (list{&many::queue_acquire, &many::extend, &many::release}));
}

TEST(kinds, are_known_by_how_owner_tokens_begin) {
    EXPECT_EQ(&of_owner("hf1:0123"), &exclusive());
    EXPECT_EQ(&of_owner("hr1:0123"), &shared());
    EXPECT_EQ(&of_owner("hs1:0123"), &semaphore());
    EXPECT_EQ(&of_owner("hm1:0123"), &several());
    EXPECT_EQ(&of_owner("he1:0123"), &election());
    EXPECT_EQ(&of_owner("b0e1"), &exclusive()) << "of another library";
    for (const auto* each : all()) {
        EXPECT_EQ(each->owner_start().size(), owner_start_bytes) << each->name();
        EXPECT_EQ(&of_owner(std::string(each->owner_start()) + "x"), each) << each->name();
    }
}

TEST(exclusive_kind, votes_are_read) {
    ASSERT_NE(vote<granted>("*2\r\n:1\r\n:42\r\n"), nullptr);
    EXPECT_EQ(vote<granted>("*2\r\n:1\r\n:42\r\n")->counter.value, 42U);
    EXPECT_TRUE(std::holds_alternative<granted>(exclusive().read_shortcut(resp::view("+OK\r\n"))));
    const auto* other = vote<denied>("*3\r\n:0\r\n$2\r\nme\r\n:1500\r\n");
    ASSERT_NE(other, nullptr);
    EXPECT_EQ(other->remaining, 1500ms);
    EXPECT_LT(vote<denied>("*3\r\n:0\r\n$2\r\nme\r\n:-1\r\n")->remaining, 0ns) << "never expires";
    EXPECT_TRUE(std::holds_alternative<denied>(exclusive().read_shortcut(resp::view("_\r\n"))));
}

TEST(exclusive_kind, a_denial_by_one_voter_tells_the_place_in_line) {
    const auto* other = vote<denied>("*4\r\n:0\r\n$2\r\nme\r\n:1500\r\n:3\r\n");
    ASSERT_NE(other, nullptr);
    EXPECT_EQ(other->owner, "me");
    EXPECT_EQ(other->remaining, 1500ms);
    EXPECT_EQ(other->place, 3U);
    EXPECT_EQ(vote<denied>("*3\r\n:0\r\n$2\r\nme\r\n:1500\r\n")->place, 0U) << "a quorum's";
    const auto* further = vote<denied>("*4\r\n:0\r\n$2\r\nme\r\n:-2\r\n:7\r\n");
    ASSERT_NE(further, nullptr);
    EXPECT_LT(further->remaining, 0ns) << "not looked at";
}

TEST(exclusive_kind, a_place_that_no_script_gives_is_no_denial) {
    for (const auto* frame :
         {"*4\r\n:0\r\n$2\r\nme\r\n:1500\r\n:-1\r\n", "*4\r\n:0\r\n$2\r\nme\r\n:1500\r\n_\r\n",
          "*4\r\n:0\r\n$2\r\nme\r\n:1500\r\n$1\r\n3\r\n", "*4\r\n:0\r\n_\r\n:1500\r\n:1\r\n",
          "*5\r\n:0\r\n$2\r\nme\r\n:1500\r\n:1\r\n:1\r\n",
          "*4\r\n:1\r\n$2\r\nme\r\n:1500\r\n:1\r\n"}) {
        ASSERT_NE(vote<net::failure>(frame), nullptr) << frame;
        EXPECT_EQ(vote<net::failure>(frame)->code, errc::protocol) << frame;
    }
}

TEST(exclusive_kind, a_release_says_whether_somebody_stood_in_line) {
    const auto found = [](const char* frame) {
        return std::get<release_found>(exclusive().read_release(resp::view(frame)));
    };
    EXPECT_EQ(found(":0\r\n"), release_found::not_ours);
    EXPECT_EQ(found(":1\r\n"), release_found::released);
    EXPECT_EQ(found(":2\r\n"), release_found::passed_on);
    EXPECT_EQ(found("-WRONGTYPE Operation\r\n"), release_found::not_ours);
    for (const auto* frame : {":3\r\n", ":-1\r\n", "+OK\r\n", "_\r\n", "-BUSY x\r\n"}) {
        EXPECT_TRUE(
            std::holds_alternative<net::failure>(exclusive().read_release(resp::view(frame))))
            << frame;
    }
}

TEST(exclusive_kind, what_no_script_answers_is_never_a_grant) {
    for (const auto* frame : {":1\r\n", "*0\r\n", "*1\r\n:1\r\n", "*2\r\n:1\r\n:-5\r\n",
                              "*2\r\n:1\r\n$1\r\n1\r\n", "*3\r\n:1\r\n:1\r\n:1\r\n", "+NO\r\n",
                              "+OK\r\n", "_\r\n", "*2\r\n:9\r\n:1\r\n", "$2\r\nKO\r\n"}) {
        const auto* why = vote<net::failure>(frame);
        ASSERT_NE(why, nullptr) << frame;
        EXPECT_EQ(why->code, errc::protocol) << frame;
    }
}

TEST(exclusive_kind, errors_keep_their_meaning) {
    const auto code = [](const char* frame) { return vote<net::failure>(frame)->code; };
    EXPECT_EQ(code("-NOPERM no rights\r\n"), errc::permission);
    EXPECT_EQ(code("-NOAUTH Authentication required.\r\n"), errc::authentication);
    EXPECT_EQ(code("-WRONGTYPE Operation against a key\r\n"), errc::wrong_type);
    EXPECT_EQ(code("-READONLY You can't write\r\n"), errc::unsafe_server);
    EXPECT_EQ(code("-LOADING Redis is loading\r\n"), errc::server_error);
    EXPECT_FALSE(vote<net::failure>("-LOADING Redis is loading\r\n")->hopeless);
    constexpr auto older = "-ERR Error running script (call to f_0): @user_script:9: ";
    EXPECT_EQ(code((older + std::string("-READONLY You can't write\r\n")).c_str()),
              errc::unsafe_server);
    EXPECT_EQ(code((older + std::string("@user_script: 9: The user executing the script can't run "
                                        "this command or subcommand\r\n"))
                       .c_str()),
              errc::permission);
}

TEST(exclusive_kind, is_verified_by_who_stands_at_the_key) {
    const claim mine{.of = lock, .owner = "me"};
    std::string out;
    exclusive().verify(out, false, mine);
    EXPECT_EQ(out, "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n");
    const auto found = [&](const char* frame) {
        return std::get<ownership>(exclusive().read_verify(resp::view(frame), mine));
    };
    EXPECT_EQ(found("$2\r\nme\r\n"), ownership::ours);
    EXPECT_EQ(found("$3\r\nyou\r\n"), ownership::not_ours);
    EXPECT_EQ(found("_\r\n"), ownership::not_ours);
    EXPECT_EQ(found("-WRONGTYPE Operation\r\n"), ownership::not_ours);
    EXPECT_TRUE(std::holds_alternative<net::failure>(
        exclusive().read_verify(resp::view("-LOADING x\r\n"), mine)));
}

TEST(exclusive_kind, a_key_of_another_type_is_not_ours_any_more) {
    const auto answer = exclusive().read_ownership(resp::view("-WRONGTYPE Operation\r\n"));
    EXPECT_EQ(std::get<ownership>(answer), ownership::not_ours);
    EXPECT_TRUE(
        std::holds_alternative<net::failure>(exclusive().read_ownership(resp::view("-OOM x\r\n"))));
    EXPECT_TRUE(
        std::holds_alternative<net::failure>(exclusive().read_ownership(resp::view(":2\r\n"))));
}

}  // namespace
}  // namespace holdfast::kinds
