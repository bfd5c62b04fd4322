#include <array>
#include <future>
#include <map>

#include "holdfast/operate.hpp"
#include "integration/library.hpp"
#include "integration/quorum.hpp"

/// As many holders as there are permits, on one real server: who has which, what is agreed on, what
/// else may be at the key. Waiting, crashes and faults: semaphore_line_test.cpp.
namespace holdfast::test {
namespace {

class semaphores : public testing::Test {
  protected:
    /// What is at the key, as bytes that show every change.
    [[nodiscard]] std::string dump(const std::string& key) const {
        return server_.command({"DUMP", key});
    }

    redis_server server_;
    client client_{server_.url()};
    client other_{server_.url()};
    semaphore here_{client_, "k", 2};
    semaphore there_{other_, "k", 2};
};

TEST_F(semaphores, give_as_many_permits_as_there_are_each_with_its_number) {
    const auto one = here_.acquire();
    auto two = there_.acquire();
    EXPECT_EQ(one.slot(), 0U);
    EXPECT_EQ(two.slot(), 1U);
    const auto denied = here_.try_acquire();
    EXPECT_FALSE(denied);
    ASSERT_TRUE(denied.held_by());
    EXPECT_EQ(denied.held_by()->owner, one.owner()) << "whose lease ends first";
    EXPECT_GT(denied.held_by()->remaining.value_or(0ms), 20s);
    EXPECT_TRUE(one.verify());
    EXPECT_TRUE(two.verify());
    EXPECT_EQ(two.release(), release_result::released);
    EXPECT_FALSE(two.verify());
    const auto three = here_.try_acquire();
    ASSERT_TRUE(three);
    EXPECT_EQ(three->slot(), 1U);
    EXPECT_TRUE(one.verify());
}

TEST_F(semaphores, give_the_lowest_number_that_was_given_back) {
    semaphore five(client_, "five", 5);
    std::vector<lease> held;
    for (std::uint32_t n = 0; n < 5; ++n) {
        held.push_back(five.acquire());
        EXPECT_EQ(held.back().slot(), n);
    }
    held[3].release();
    held[1].release();
    auto low = five.acquire();
    EXPECT_EQ(low.slot(), 1U);
    EXPECT_EQ(five.acquire().slot(), 3U);
}

TEST_F(semaphores, count_to_the_last_slot_that_there_can_be) {
    semaphore most(client_, "most", max_permits);
    const auto first = most.acquire();
    const auto used = std::int64_t{max_permits} - 1 - 2'000'000;  // all but one
    server_.command({"ZADD", "most", std::to_string(used), "holdfast:used"});
    const auto last = most.acquire();
    EXPECT_EQ(last.slot(), max_permits - 1);
    EXPECT_TRUE(last.verify());
    EXPECT_FALSE(most.try_acquire());
    EXPECT_EQ(inspect(client_, "most").permits->back().slot, max_permits - 1);
}

TEST_F(semaphores, tokens_rise_for_those_who_have_one_slot_after_the_other) {
    std::map<std::uint32_t, std::uint64_t> last;
    for (int round = 0; round < 10; ++round) {
        const auto one = here_.acquire();
        const auto two = there_.acquire();
        for (const auto* each : {&one, &two}) {
            EXPECT_GT(each->token(), last[each->slot()]);
            last[each->slot()] = each->token();
        }
    }
    EXPECT_EQ(last.size(), 2U);
    EXPECT_EQ(here_.acquire({.fencing = false}).token(), 0U);
}

TEST_F(semaphores, leases_are_renewed_and_a_loss_is_announced) {
    constexpr auto ttl = 600ms * slowness;
    const auto held = here_.acquire({.ttl = ttl});
    const auto too = there_.acquire({.ttl = ttl});
    const auto stop = held.stop_token();
    std::this_thread::sleep_for(3 * ttl);  // what is tested is that time passes
    EXPECT_TRUE(held.verify());
    EXPECT_FALSE(stop.stop_requested());
    EXPECT_EQ(unlock(other_, "k", held.owner()), release_result::released);
    EXPECT_TRUE(eventually(surely, [&] { return stop.stop_requested(); }));
    EXPECT_TRUE(held.lost());
    EXPECT_TRUE(too.verify());
}

TEST_F(semaphores, a_permit_that_is_over_is_lost_although_nobody_has_taken_it) {
    constexpr auto ttl = 100ms;
    auto brief = here_.acquire({.ttl = ttl, .renew = false});
    const auto kept = here_.acquire();
    const auto alive = [&] { return inspect(client_, "k").taken; };
    EXPECT_TRUE(eventually(surely, [&] { return alive() == 1U; }));
    EXPECT_FALSE(brief.verify());
    EXPECT_FALSE(renew(client_, "k", brief.owner(), 30s)) << "it is not brought back";
    EXPECT_EQ(alive(), 1U);
    EXPECT_EQ(unlock(client_, "k", brief.owner()), release_result::already_lost);
    const auto next = there_.acquire();
    EXPECT_EQ(next.slot(), 0U);
    EXPECT_FALSE(there_.try_acquire()) << "it came back once";
    EXPECT_TRUE(kept.verify());
}

TEST_F(semaphores, keep_their_permits_apart_when_one_that_is_over_is_released_late) {
    auto late = here_.acquire({.ttl = 100ms, .renew = false});
    const auto late_owner = late.owner();
    EXPECT_TRUE(eventually(surely, [&] { return inspect(client_, "k").taken == 0U; }));
    const auto next = there_.acquire();
    EXPECT_EQ(next.slot(), 0U);
    EXPECT_EQ(unlock(client_, "k", late_owner), release_result::already_lost);
    EXPECT_TRUE(next.verify());
    EXPECT_EQ(here_.acquire().slot(), 1U);
}

TEST_F(semaphores, agree_on_the_limit_and_refuse_another) {
    const auto held = here_.acquire();
    const auto before = dump("k");
    semaphore three(other_, "k", 3);
    for (const auto& error :
         {error_of([&] { (void)three.acquire(); }), error_of([&] { (void)three.try_acquire(); })}) {
        EXPECT_EQ(error.code, errc::other_limit);
        EXPECT_TRUE(contains(error.what, "has 2 permits, not 3")) << error.what;
    }
    EXPECT_EQ(dump("k"), before);
    EXPECT_EQ(set_limit(other_, "k", 3), 2U);
    const auto more = three.try_acquire();
    ASSERT_TRUE(more);
    EXPECT_EQ(error_of([&] { (void)there_.try_acquire(); }).code, errc::other_limit);
    EXPECT_TRUE(held.verify()) << "who holds goes on";
    EXPECT_EQ(set_limit(other_, "k", 3), 3U);
}

TEST_F(semaphores, can_be_agreed_on_before_anybody_comes) {
    EXPECT_EQ(set_limit(client_, "k", 1), 0U);
    EXPECT_EQ(error_of([&] { (void)here_.try_acquire(); }).code, errc::other_limit);
    EXPECT_EQ(semaphore(client_, "k", 1).acquire().slot(), 0U);
    EXPECT_GT(server_.pttl("k"), 3'500'000);
}

TEST_F(semaphores, with_a_lower_limit_grant_nothing_before_fewer_are_left) {
    semaphore five(client_, "five", 5);
    std::vector<lease> held;
    for (int n = 0; n < 5; ++n) held.push_back(five.acquire());
    EXPECT_EQ(set_limit(client_, "five", 2), 5U);
    semaphore two(other_, "five", 2);
    for (const std::size_t n : {1U, 3U, 4U}) {
        EXPECT_FALSE(two.try_acquire()) << "before slot " << n << " is given back";
        held[n].release();
    }
    EXPECT_FALSE(two.try_acquire()) << "slots 0 and 2 are taken";
    EXPECT_EQ(inspect(client_, "five").taken, 2U);
    held[2].release();
    const auto again = two.try_acquire();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->slot(), 1U);
    EXPECT_FALSE(two.try_acquire());
    EXPECT_TRUE(held[0].verify());
    EXPECT_EQ(set_limit(client_, "five", 5), 2U);
    std::vector<std::uint32_t> slots;
    for (int n = 0; n < 3; ++n)
        slots.push_back((held.push_back(five.acquire()), held.back().slot()));
    EXPECT_EQ(slots, (std::vector<std::uint32_t>{2, 3, 4}));
    EXPECT_FALSE(five.try_acquire());
}

TEST_F(semaphores, with_a_lower_limit_grant_at_once_where_many_above_it_are_over) {
    semaphore many(client_, "many", 150);
    auto lowest = many.acquire({.ttl = 300ms, .renew = false});
    std::vector<lease> held;
    for (int n = 1; n < 150; ++n) held.push_back(many.acquire({.ttl = 100ms, .renew = false}));
    EXPECT_TRUE(eventually(surely, [&] { return inspect(client_, "many").taken == 0U; }));
    EXPECT_EQ(set_limit(client_, "many", 1), 150U);
    EXPECT_TRUE(semaphore(other_, "many", 1).try_acquire()) << "that of slot 0 was over last";
}

TEST_F(semaphores, that_were_deleted_leave_no_lock_of_another_kind_to_who_waits) {
    auto held = here_.acquire();
    auto both = here_.acquire();
    auto waits = std::async(std::launch::async,
                            [&] { return error_of([&] { (void)there_.acquire(); }).code; });
    const std::vector<std::string> line{"LLEN", "holdfast:{k}:queue"};
    ASSERT_TRUE(eventually(surely, [&] { return server_.command(line) == "1"; }));
    server_.command({"DEL", "k"});
    const auto lock = mutex(client_, "k").try_acquire();
    ASSERT_TRUE(lock) << "who waits for a permit has no claim to a lock";
    EXPECT_EQ(waits.get(), errc::wrong_type);
    EXPECT_TRUE(lock->verify());
}

TEST_F(semaphores, are_refused_on_a_quorum_with_the_reason) {
    quorum servers(3);
    client through(servers.settings());
    const auto error = error_of([&] { semaphore(through, "k", 2); });
    EXPECT_EQ(error.code, errc::invalid_option);
    EXPECT_TRUE(contains(error.what, "more holders than there are permits")) << error.what;
    EXPECT_EQ(error_of([&] { (void)set_limit(through, "k", 2); }).code, errc::invalid_option);
}

TEST_F(semaphores, have_one_permit_or_more_and_not_too_many) {
    EXPECT_EQ(error_of([&] { semaphore(client_, "k", 0); }).code, errc::invalid_option);
    EXPECT_EQ(error_of([&] { semaphore(client_, "k", max_permits + 1); }).code,
              errc::invalid_option);
    EXPECT_EQ(error_of([&] { (void)set_limit(client_, "k", 0); }).code, errc::invalid_option);
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(semaphores, where_something_else_is_are_an_error_and_change_nothing) {
    const auto refused = [&](const std::string& key) {
        const auto before = dump(key);
        for (auto* through : {&client_, &other_}) {
            semaphore wanted(*through, key, 2);
            for (const auto& error : {error_of([&] { (void)wanted.try_acquire(); }),
                                      error_of([&] { (void)wanted.acquire(); }),
                                      error_of([&] { (void)set_limit(*through, key, 2); })}) {
                EXPECT_EQ(error.code, errc::wrong_type) << key << ": " << error.what;
                EXPECT_TRUE(contains(error.what, "no semaphore")) << error.what;
            }
        }
        EXPECT_EQ(dump(key), before);
        EXPECT_FALSE(server_.exists("holdfast:{" + key + "}:queue"));
    };
    const auto held = mutex(client_, "mutex").acquire();
    refused("mutex");
    EXPECT_TRUE(held.verify());
    shared_mutex shared(client_, "read");
    const auto reads = shared.acquire_shared();
    refused("read");
    EXPECT_TRUE(reads.verify());
    server_.command({"HSET", "hash", "285475da-9152-4c83-822a-67ee2f116a79:52", "1"});
    refused("hash");
    server_.command({"ZADD", "zset", "1", "mine"});
    refused("zset");
}

TEST_F(semaphores, are_an_error_where_a_lock_is_wanted_and_stay_as_they_are) {
    const auto held = here_.acquire();
    const auto before = dump("k");
    for (auto* through : {&client_, &other_}) {
        mutex alone(*through, "k");
        recursive_mutex again(*through, "k");
        shared_mutex shared(*through, "k");
        for (const auto& error : {error_of([&] { (void)alone.try_acquire(); }),
                                  error_of([&] { (void)alone.acquire(); }),
                                  error_of([&] { (void)alone.try_acquire({.fencing = false}); }),
                                  error_of([&] { (void)again.try_lock(); }),
                                  error_of([&] { (void)shared.try_acquire(); }),
                                  error_of([&] { (void)shared.try_acquire_shared(); }),
                                  error_of([&] { (void)shared.acquire_shared(); })}) {
            EXPECT_EQ(error.code, errc::wrong_type) << error.what;
        }
    }
    EXPECT_TRUE(server_.query({"SET", "k", "x", "NX"}).is_nil()) << "other libraries";
    EXPECT_EQ(dump("k"), before);
    EXPECT_FALSE(server_.exists("holdfast:{k}:queue"));
    EXPECT_TRUE(held.verify());
}

TEST_F(semaphores, do_not_take_the_place_of_a_lock_that_others_wait_for) {
    server_.command({"RPUSH", "holdfast:{k}:queue", "- 0 hf1:somebody"});
    EXPECT_EQ(error_of([&] { (void)here_.try_acquire(); }).code, errc::wrong_type);
    EXPECT_FALSE(server_.exists("k"));
    EXPECT_EQ(server_.command({"LLEN", "holdfast:{k}:queue"}), "1");
}

TEST_F(semaphores, give_the_permit_back_where_no_token_can_be_drawn) {
    server_.command({"LPUSH", "holdfast:{k}:fence", "mine"});
    const auto error = error_of([&] { (void)here_.try_acquire(); });
    EXPECT_EQ(error.code, errc::wrong_type);
    EXPECT_TRUE(contains(error.what, "fencing counter")) << error.what;
    const auto one = here_.acquire({.fencing = false});
    const auto two = there_.acquire({.fencing = false});
    EXPECT_EQ(one.slot(), 0U);
    EXPECT_EQ(two.slot(), 1U);
}

TEST_F(semaphores, inspect_and_list_tell_who_has_which_slot) {
    const auto one = here_.acquire({.label = "first"});
    const auto found = inspect(client_, "k");
    EXPECT_EQ(found.limit, 2U);
    EXPECT_EQ(found.taken, 1U);
    ASSERT_TRUE(found.permits);
    ASSERT_EQ(found.permits->size(), 1U);
    EXPECT_EQ(found.permits->at(0).who.label, "first");
    EXPECT_EQ(found.permits->at(0).who.owner, one.owner());
    EXPECT_GT(found.permits->at(0).who.remaining.value_or(0ms), 20s);
    EXPECT_LE(found.permits->at(0).who.remaining.value_or(0ms), 30'010ms);
    EXPECT_EQ(found.token, one.token());
    auto two = there_.acquire({.label = "second"});
    std::size_t seen = 0;
    const auto look = [&](const lock_status& each) {
        ++seen;
        EXPECT_EQ(each.key, "k");
        ASSERT_TRUE(each.permits);
        ASSERT_EQ(each.permits->size(), 2U);
        EXPECT_EQ(each.permits->at(1).slot, 1U);
        EXPECT_EQ(each.permits->at(1).who.label, "second");
    };
    list(client_, "k*", look);
    list(client_, "other*", look);
    EXPECT_EQ(seen, 1U);
    list_everywhere(client_, look);
    EXPECT_EQ(seen, 2U);
    server_.command({"ZADD", "kzset", "1", "mine"});
    list(client_, "k*", look);
    EXPECT_EQ(seen, 3U) << "a sorted set of somebody else is no semaphore";
    EXPECT_EQ(error_of([&] { (void)inspect(client_, "kzset"); }).code, errc::wrong_type);
}

TEST_F(semaphores, that_nobody_uses_are_free_and_not_listed) {
    here_.acquire().release();
    const auto found = inspect(client_, "k");
    EXPECT_FALSE(found.held_by);
    EXPECT_EQ(found.limit, 2U);
    EXPECT_EQ(found.taken, 0U);
    list(client_, "*", [](const lock_status& each) { ADD_FAILURE() << each.key; });
}

TEST_F(semaphores, with_a_prefix_or_a_hash_tag_are_found_by_the_names_that_they_were_given) {
    auto settings = settings_for(server_.url());
    settings.prefix = "jobs:";
    client prefixed(settings);
    const auto one = semaphore(prefixed, "k", 3).acquire();
    const auto tagged = semaphore(prefixed, "{user1}:k", 3).acquire();
    EXPECT_TRUE(server_.exists("jobs:k"));
    EXPECT_TRUE(server_.exists("holdfast:fence:jobs:{user1}:k"));
    EXPECT_EQ(inspect(prefixed, "{user1}:k").taken, 1U);
    std::vector<std::string> keys;
    list(prefixed, "*", [&](const lock_status& each) { keys.push_back(each.key); });
    std::sort(keys.begin(), keys.end());
    EXPECT_EQ(keys, (std::vector<std::string>{"k", "{user1}:k"}));
    EXPECT_TRUE(here_.try_acquire()) << "another semaphore";
}

TEST_F(semaphores, one_permit_is_renewed_left_behind_released_and_taken_away_by_its_owner) {
    auto one = here_.acquire({.ttl = 5s, .renew = false});
    const auto two = there_.acquire({.ttl = 5s, .renew = false, .label = "second"});
    const auto left = [&] { return *inspect(client_, "k").permits->at(0).who.remaining; };
    EXPECT_TRUE(renew(client_, "k", one.owner(), 40s));
    EXPECT_GT(left(), 35s);
    EXPECT_TRUE(renew(client_, "k", one.owner(), 10s)) << "which shortens nothing";
    EXPECT_GT(left(), 35s);
    EXPECT_TRUE(linger(client_, "k", one.owner(), 20s));
    EXPECT_LE(left(), 20'010ms);
    EXPECT_EQ(unlock(client_, "k", one.owner()), release_result::released);
    EXPECT_EQ(one.release(), release_result::already_lost);
    EXPECT_EQ(force_unlock(client_, "k", two.owner(), "test"), release_result::released);
    EXPECT_FALSE(two.verify());
    EXPECT_EQ(force_unlock(client_, "k", two.owner(), "again"), release_result::already_lost);
    const auto note = last_forced(client_, "k");
    ASSERT_TRUE(note);
    EXPECT_EQ(note->reason, "test");
    EXPECT_TRUE(contains(note->held_by, ":second")) << note->held_by;
}

TEST_F(semaphores, leave_nothing_for_ever) {
    auto settings = settings_for(server_.url());
    settings.max_ttl = 2s;
    settings.fence_retention = 2s;
    client brief(settings);
    semaphore(brief, "k", 2, with_ttl(1s)).acquire().release();
    EXPECT_LE(server_.pttl("k"), 2'000);
    EXPECT_GT(server_.pttl("k"), 0);
    EXPECT_TRUE(eventually(surely, [&] { return !server_.exists("k"); }));
    EXPECT_TRUE(semaphore(client_, "k", 7).try_acquire()) << "nothing is agreed on any more";
}

TEST_F(semaphores, live_as_long_as_the_longest_holder_whatever_others_keep_them_for) {
    const auto held = here_.acquire({.ttl = 30s, .renew = false});
    auto settings = settings_for(server_.url());
    settings.max_ttl = 1s;
    settings.fence_retention = 1s;
    client brief(settings);
    semaphore(brief, "k", 2, with_ttl(1s)).acquire().release();
    EXPECT_GT(server_.pttl("k"), 30'000);
    EXPECT_TRUE(held.verify());
}

TEST_F(semaphores, without_memory_give_nothing_new_and_take_everything_back) {
    auto held = here_.acquire();
    server_.command({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_EQ(error_of([&] { (void)here_.try_acquire(); }).code, errc::server_error);
    EXPECT_EQ(held.release(), release_result::released);
    server_.command({"CONFIG", "SET", "maxmemory", "0"});
    const auto one = here_.acquire();
    const auto two = there_.acquire();
    EXPECT_EQ(one.slot() + two.slot(), 1U);
}

}  // namespace
}  // namespace holdfast::test
