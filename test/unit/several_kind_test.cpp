#include "kinds/several.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "kinds/exclusive.hpp"
#include "kinds/owners.hpp"
#include "runtime/plan.hpp"
#include "scripts/embedded.hpp"

namespace holdfast::kinds {
namespace {

using namespace std::chrono_literals;
using words = std::vector<std::string>;

keys both(bool fenced, bool queued) {
    return {.lock = "a",
            .fenced = fenced,
            .queued = queued,
            .others = std::make_shared<const words>(words{"{t}b"})};
}

std::string call_of(const scripts::script& which, const words& rest) {
    std::string out = "*" + std::to_string(rest.size() + 2) + "\r\n";
    const auto word = [&](std::string_view text) {
        ((out += "$" + std::to_string(text.size()) + "\r\n") += text) += "\r\n";
    };
    word("EVALSHA");
    word(which.sha1);
    for (const auto& each : rest) word(each);
    return out;
}

claim by_me(const keys& of) { return {.of = of, .owner = "hm1:me", .ttl = 1s, .retention = 1h}; }

TEST(several_kind, asks_one_voter_for_all_locks_or_a_place_in_all_lines_in_one_script) {
    const auto of = both(true, true);
    auto waits = by_me(of);
    waits.entry = "channel 12 ";
    waits.in_line = true;
    std::string out;
    several().acquire(out, false, waits, {.tokens = 1, .floor = 1700000000000000});
    EXPECT_EQ(out, call_of(scripts::several::queue_acquire,
                           {"6", "a", "{t}b", "holdfast:{a}:queue", "holdfast:queue:{t}b",
                            "holdfast:{a}:fence", "holdfast:fence:{t}b", "hm1:me", "1000",
                            "channel 12 ", "1", "3600000", "1700000000000000"}));
    std::string once;
    const auto unfenced = both(false, true);
    several().acquire(once, false, by_me(unfenced), {});
    EXPECT_EQ(once, call_of(scripts::several::queue_acquire,
                            {"4", "a", "{t}b", "holdfast:{a}:queue", "holdfast:queue:{t}b",
                             "hm1:me", "1000", "", "0"}));
}

TEST(several_kind, asks_a_voter_of_several_without_lines) {
    const auto of = both(true, false);
    std::string out;
    several().acquire(out, false, by_me(of), {.tokens = 1, .floor = 5});
    EXPECT_EQ(out, call_of(scripts::several::acquire,
                           {"4", "a", "{t}b", "holdfast:{a}:fence", "holdfast:fence:{t}b", "hm1:me",
                            "1000", "3600000", "5"}));
    std::string unfenced;
    const auto without = both(false, false);
    several().acquire(unfenced, false, by_me(without), {});
    EXPECT_EQ(unfenced, call_of(scripts::several::acquire, {"2", "a", "{t}b", "hm1:me", "1000"}));
}

TEST(several_kind, names_all_keys_whatever_it_does) {
    const auto of = both(true, true);
    std::string commits;
    several().commit(commits, false, by_me(of), {7});
    EXPECT_EQ(commits,
              call_of(scripts::several::commit, {"4", "a", "{t}b", "holdfast:{a}:fence",
                                                 "holdfast:fence:{t}b", "hm1:me", "7", "3600000"}));
    std::string extends;
    several().extend(extends, false, by_me(of));
    EXPECT_EQ(extends, call_of(scripts::several::extend,
                               {"4", "a", "{t}b", "holdfast:{a}:fence", "holdfast:fence:{t}b",
                                "hm1:me", "1000", "3600000"}));
    std::string releases;
    several().release(releases, false, by_me(of));
    EXPECT_EQ(releases, call_of(scripts::several::release, {"4", "a", "{t}b", "holdfast:{a}:queue",
                                                            "holdfast:queue:{t}b", "hm1:me", ""}));
    std::string voted;
    const auto of_several = both(false, false);
    several().release(voted, false, by_me(of_several));
    EXPECT_EQ(voted, call_of(scripts::several::release, {"2", "a", "{t}b", "hm1:me"}));
}

TEST(several_kind, is_whose_it_was_only_while_all_keys_are) {
    const auto of = both(true, true);
    std::string asks;
    several().verify(asks, false, by_me(of));
    EXPECT_EQ(asks, "*3\r\n$4\r\nMGET\r\n$1\r\na\r\n$4\r\n{t}b\r\n");
    const auto says = [&](std::string_view reply) {
        return std::get<ownership>(several().read_verify(resp::view(reply), by_me(of)));
    };
    EXPECT_EQ(says("*2\r\n$6\r\nhm1:me\r\n$6\r\nhm1:me\r\n"), ownership::ours);
    EXPECT_EQ(says("*2\r\n$6\r\nhm1:me\r\n$-1\r\n"), ownership::not_ours);
    EXPECT_EQ(says("*2\r\n$6\r\nhm1:no\r\n$6\r\nhm1:me\r\n"), ownership::not_ours);
    for (const std::string_view nonsense :
         {"*1\r\n$6\r\nhm1:me\r\n", "$6\r\nhm1:me\r\n", "-LOADING wait\r\n"}) {
        EXPECT_TRUE(std::holds_alternative<net::failure>(
            several().read_verify(resp::view(nonsense), by_me(of))))
            << nonsense;
    }
}

TEST(several_kind, takes_more_keys_than_fit_into_a_usual_call) {
    words many;
    for (int n = 1; n < 16; ++n) many.push_back("k" + std::to_string(n));
    const keys of{
        .lock = "k0", .queued = true, .others = std::make_shared<const words>(std::move(many))};
    std::string out;
    several().acquire(out, false, by_me(of), {});
    EXPECT_TRUE(out.starts_with("*57\r\n")) << out;
    EXPECT_NE(out.find("holdfast:{k15}:fence"), out.npos);
    EXPECT_NE(out.find("holdfast:{k0}:queue"), out.npos);
}

TEST(several_kind, does_for_one_key_what_names_one) {
    const keys one{.lock = "a", .queued = true};
    std::string out;
    several().release(out, false, by_me(one));
    EXPECT_EQ(out,
              call_of(scripts::several::release, {"2", "a", "holdfast:{a}:queue", "hm1:me", ""}));
}

TEST(several_keys, are_a_set) {
    EXPECT_EQ(runtime::list_of({"b", "a", "b"}), (words{"a", "b"}));
    EXPECT_EQ(runtime::list_of({"a", "a"}), words{"a"});
}

TEST(several_keys, have_a_plan_with_all_of_them_or_that_of_the_only_one) {
    options client;
    client.urls = {"redis://localhost"};
    client.prefix = "p:";
    const auto plan = runtime::make_plan(client, runtime::list_of({"b", "c", "a"}), {});
    EXPECT_EQ(plan->kind, &several());
    EXPECT_EQ(plan->keys.lock, "p:a");
    ASSERT_EQ(plan->keys.rest().size(), 2U);
    EXPECT_EQ(plan->keys.rest()[1], "p:c");
    EXPECT_EQ(plan->name(), "a, b, c");
    const auto only = runtime::make_plan(client, runtime::list_of({"a"}), {});
    EXPECT_EQ(only->kind, &exclusive());
    EXPECT_EQ(only->name(), "a");
}

TEST(several_keys, are_refused_where_there_are_none_or_too_many_or_one_is_no_key) {
    options client;
    client.urls = {"redis://localhost"};
    const auto refused = [&](words keys) {
        try {
            (void)runtime::make_plan(client, runtime::list_of(std::move(keys)), {});
        } catch (const std::system_error& why) {
            return why.code() == errc::invalid_key;
        }
        return false;
    };
    EXPECT_TRUE(refused({}));
    EXPECT_TRUE(refused({"a", ""}));
    EXPECT_TRUE(refused({"a", "holdfast:b"}));
    words many;
    for (std::size_t n = 0; n < max_keys; ++n) many.push_back(std::to_string(n));
    EXPECT_FALSE(refused(many));
    many.push_back("more");
    EXPECT_TRUE(refused(many));
}

}  // namespace
}  // namespace holdfast::kinds
