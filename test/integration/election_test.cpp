#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/use_future.hpp>
#include <csignal>
#include <future>
#include <thread>

#include "holdfast/asio.hpp"
#include "holdfast/operate.hpp"
#include "integration/library.hpp"
#include "support/fault_proxy.hpp"
#include "support/lock_process.hpp"

/// Candidates, leaders and their terms, on one real server. Who is told:
/// election_observer_test.cpp.
namespace holdfast::test {
namespace {

constexpr auto note_of_k = "holdfast:{k}:leader";

class elections : public testing::Test {
  protected:
    redis_server server_;
    client client_{server_.url()};
    client other_{server_.url()};
    election here_{client_, "k", "here:80"};
    election there_{other_, "k", "there:80"};
};

TEST_F(elections, whoever_is_elected_leads_with_its_value_in_its_term) {
    EXPECT_FALSE(there_.leader());
    EXPECT_FALSE(here_.is_leader());
    auto held = here_.campaign();
    EXPECT_TRUE(here_.is_leader());
    EXPECT_EQ(here_.term(), held.token());
    for (const auto* each : {&here_, &there_}) {
        const auto leads = each->leader();
        ASSERT_TRUE(leads);
        EXPECT_EQ(leads.term, held.token());
        EXPECT_EQ(leads.value, "here:80");
        EXPECT_EQ(leads.who.owner, held.owner());
        EXPECT_GT(leads.who.remaining.value_or(0ms), 25s);
    }
    EXPECT_FALSE(there_.is_leader());
    EXPECT_FALSE(there_.try_campaign());
}

TEST_F(elections, the_note_of_who_leads_has_no_ttl_and_is_not_touched_by_renewals) {
    auto held = election(client_, "k", "v", {.ttl = 300ms}).campaign();
    const auto noted = server_.get(note_of_k);
    ASSERT_TRUE(noted);
    EXPECT_EQ(*noted, std::to_string(held.token()) + "\n" + held.owner() + "\nv");
    ASSERT_TRUE(eventually(surely, [&] { return client_.statistics().renewed >= 2; }));
    EXPECT_EQ(server_.pttl(note_of_k), -1);
    EXPECT_EQ(server_.get(note_of_k), noted);
}

TEST_F(elections, one_that_resigns_leads_no_more_and_leaves_nothing_behind) {
    auto held = here_.campaign();
    EXPECT_EQ(here_.resign(), release_result::released);
    EXPECT_FALSE(here_.is_leader());
    EXPECT_EQ(here_.term(), 0U);
    EXPECT_TRUE(held.lost());
    EXPECT_EQ(held.release(), release_result::already_lost);
    EXPECT_EQ(here_.resign(), release_result::already_lost);
    EXPECT_FALSE(there_.leader());
    EXPECT_FALSE(server_.exists("k"));
    EXPECT_FALSE(server_.exists(note_of_k));
}

TEST_F(elections, to_release_the_lease_is_to_resign) {
    { const auto held = here_.campaign(); }
    EXPECT_FALSE(here_.is_leader());
    EXPECT_FALSE(server_.exists(note_of_k));
    EXPECT_TRUE(there_.try_campaign());
}

TEST_F(elections, terms_increase_from_leader_to_leader) {
    std::uint64_t last = 0;
    for (int n = 0; n < 10; ++n) {
        auto held = (n % 2 == 0 ? here_ : there_).campaign();
        EXPECT_GT(held.token(), last);
        last = held.token();
        EXPECT_EQ(here_.leader().term, last);
    }
}

TEST_F(elections, the_next_in_line_leads_when_one_resigns) {
    auto held = here_.campaign();
    auto next = std::async(std::launch::async, [&] { return there_.campaign(); });
    ASSERT_TRUE(eventually(surely, [&] { return inspect(client_, "k").waiting == 1U; }));
    const stopwatch since;
    here_.resign();
    const auto leads = next.get();
    EXPECT_LT(since.elapsed(), promptly);
    EXPECT_EQ(here_.leader().value, "there:80");
    EXPECT_EQ(here_.leader().term, leads.token());
    EXPECT_GT(leads.token(), held.token());
}

TEST_F(elections, candidates_of_one_client_stand_in_line_each_for_itself) {
    auto held = there_.campaign();
    election second(client_, "k", "second");
    auto first = std::async(std::launch::async, [&] { return here_.campaign(); });
    ASSERT_TRUE(eventually(surely, [&] { return inspect(client_, "k").waiting == 1U; }));
    auto last = std::async(std::launch::async, [&] { return second.campaign(); });
    ASSERT_TRUE(eventually(surely, [&] { return inspect(client_, "k").waiting == 2U; }));
    there_.resign();
    {
        const auto leads = first.get();
        EXPECT_EQ(there_.leader().value, "here:80");
        EXPECT_FALSE(second.is_leader());
    }
    const auto leads = last.get();
    EXPECT_EQ(there_.leader().value, "second");
    EXPECT_EQ(there_.leader().term, leads.token());
    EXPECT_EQ(there_.leader().who.owner, leads.owner()) << "not handed off: an owner of its own";
}

TEST_F(elections, a_leader_that_crashed_leads_for_its_ttl_and_no_longer) {
    lock_process process(server_.url());
    const auto said = process.expect("lead k 1000 process", "held");
    EXPECT_EQ(here_.leader().value, "process");
    auto next = std::async(std::launch::async, [&] { return here_.campaign(); });
    process.child().kill(SIGKILL);
    const stopwatch since;
    const auto held = next.get();
    EXPECT_LT(since.elapsed(), 1s + promptly);
    EXPECT_GT(held.token(), std::stoull(said.substr(5)));
    EXPECT_EQ(there_.leader().value, "here:80");
}

TEST_F(elections, what_a_crashed_leader_left_says_nothing_once_its_lease_is_over) {
    lock_process process(server_.url());
    process.expect("lead k 300 process", "held");
    process.child().kill(SIGKILL);
    ASSERT_TRUE(eventually(surely, [&] { return !server_.exists("k"); }));
    EXPECT_TRUE(server_.exists(note_of_k));
    EXPECT_FALSE(here_.leader());
    const auto plain = mutex(client_, "k").acquire();
    EXPECT_FALSE(here_.leader()) << "who holds it as a mutex leads nobody";
}

TEST_F(elections, campaigns_can_be_timed_and_cancelled) {
    const auto held = here_.campaign();
    EXPECT_FALSE(there_.try_campaign_for(50ms));
    EXPECT_FALSE(there_.try_campaign_until(clock::now() + 20ms));
    std::stop_source stop;
    auto waits = std::async(std::launch::async, [&] {
        return error_of([&] { (void)there_.campaign(stop.get_token()); });
    });
    ASSERT_TRUE(eventually(surely, [&] { return inspect(client_, "k").waiting == 1U; }));
    stop.request_stop();
    EXPECT_EQ(waits.get().code, errc::cancelled);
    EXPECT_TRUE(eventually(surely, [&] { return inspect(client_, "k").waiting == 0U; }));
    EXPECT_EQ(there_.leader().value, "here:80");
}

TEST_F(elections, campaigns_can_be_asynchronous) {
    auto first = here_.async_campaign(boost::asio::use_future).get();
    ASSERT_TRUE(first);
    EXPECT_TRUE(here_.is_leader());
    EXPECT_FALSE(there_.async_try_campaign_for(20ms, boost::asio::use_future).get());
    auto second = there_.async_campaign(boost::asio::use_future);
    EXPECT_EQ(first->release(), release_result::released);
    EXPECT_TRUE(second.get());
}

TEST_F(elections, a_mutex_of_the_same_name_is_kept_out_and_keeps_candidates_out) {
    auto held = here_.campaign();
    EXPECT_FALSE(mutex(other_, "k").try_acquire());
    EXPECT_FALSE(mutex(other_, "k", {.fencing = false}).try_acquire());
    here_.resign();
    const auto plain = mutex(client_, "k").acquire();
    const auto denied = there_.try_campaign();
    EXPECT_FALSE(denied);
    EXPECT_EQ(denied.held_by()->owner, plain.owner());
    EXPECT_FALSE(there_.leader());
}

TEST_F(elections, something_else_where_the_leader_is_noted_is_an_error_and_changes_nothing) {
    server_.command({"RPUSH", note_of_k, "theirs"});
    const auto error = error_of([&] { (void)here_.campaign(); });
    EXPECT_EQ(error.code, errc::wrong_type) << error.what;
    EXPECT_TRUE(contains(error.what, note_of_k)) << error.what;
    EXPECT_FALSE(server_.exists("k"));
    EXPECT_FALSE(server_.exists("holdfast:{k}:fence"));
    EXPECT_EQ(server_.command({"LLEN", note_of_k}), "1");
    EXPECT_EQ(error_of([&] { (void)here_.leader(); }).code, errc::wrong_type);
    server_.command({"DEL", note_of_k});
    EXPECT_TRUE(here_.try_campaign());
}

TEST_F(elections, a_key_that_is_no_lock_is_an_error_and_changes_nothing) {
    server_.command({"HSET", "k", "a", "b"});
    EXPECT_EQ(error_of([&] { (void)here_.campaign(); }).code, errc::wrong_type);
    EXPECT_EQ(error_of([&] { (void)here_.leader(); }).code, errc::wrong_type);
    EXPECT_FALSE(server_.exists(note_of_k));
    EXPECT_EQ(server_.command({"HLEN", "k"}), "1");
}

TEST_F(elections, names_have_the_prefix_of_the_client) {
    auto settings = settings_for(server_.url());
    settings.prefix = "app:";
    client through(settings);
    election one(through, "k", "with prefix");
    const auto held = one.campaign();
    EXPECT_TRUE(server_.exists("app:k"));
    EXPECT_TRUE(server_.exists("holdfast:{app:k}:leader"));
    EXPECT_EQ(one.leader().value, "with prefix");
    EXPECT_FALSE(here_.leader());
    EXPECT_EQ(one.name(), "k");
}

TEST_F(elections, needs_fencing_and_a_value_that_is_not_too_long) {
    EXPECT_EQ(error_of([&] { election(client_, "k", "", {.fencing = false}); }).code,
              errc::invalid_option);
    EXPECT_EQ(error_of([&] { (void)here_.acquire({.fencing = false}); }).code,
              errc::invalid_option);
    EXPECT_EQ(error_of([&] { election(client_, "k", std::string(4097, 'x')); }).code,
              errc::invalid_option);
    EXPECT_EQ(error_of([&] { election(client_, "", "x"); }).code, errc::invalid_key);
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(elections, a_value_may_be_any_bytes) {
    std::string value(4096, 'x');
    value[0] = '\n';
    value[1] = '\0';
    election any(client_, "k", value);
    const auto held = any.campaign();
    EXPECT_EQ(there_.leader().value, value);
}

TEST_F(elections, a_leader_whose_key_is_gone_finds_out_and_can_stand_again) {
    election brief(client_, "k", "v", {.ttl = 300ms});
    auto held = brief.campaign();
    server_.command({"FLUSHALL"});
    EXPECT_FALSE(there_.leader());
    EXPECT_TRUE(eventually(surely, [&] { return !brief.is_leader(); }));
    const auto again = brief.campaign();
    EXPECT_GT(again.token(), held.token());
    EXPECT_TRUE(brief.is_leader());
}

TEST_F(elections, a_grant_whose_answer_was_lost_is_undone_or_claimed_once) {
    fault_proxy proxy(server_.port());
    auto settings = settings_for(proxy.url());
    settings.node_timeout = 300ms;
    client through(settings);
    election one(through, "k", "one");
    through.connect();
    proxy.cut_after(direction::to_client, 0);
    const auto held = one.campaign();
    EXPECT_EQ(there_.leader().term, held.token());
    EXPECT_EQ(there_.leader().who.owner, held.owner());
    EXPECT_TRUE(held.verify());
}

TEST_F(elections, restart_without_data_ends_the_lead) {
    auto settings = settings_for(server_.url());
    client through(settings);
    election one(through, "k", "one", {.ttl = 1s});
    auto held = one.campaign();
    server_.restart(data::lost);
    EXPECT_TRUE(eventually(surely, [&] { return !one.is_leader(); }));
    EXPECT_FALSE(one.leader());
    EXPECT_GT(one.campaign().token(), held.token());
}

TEST_F(elections, restart_with_data_keeps_the_leader) {
    auto held = here_.campaign();
    server_.restart(data::kept);
    EXPECT_EQ(there_.leader().term, held.token());
    EXPECT_TRUE(held.verify());
}

TEST_F(elections, force_takes_the_lead_away) {
    const auto held = here_.campaign();
    EXPECT_EQ(force_unlock(other_, "k", held.owner(), "test"), release_result::released);
    EXPECT_FALSE(there_.leader());
    EXPECT_FALSE(server_.exists(note_of_k));
    EXPECT_FALSE(held.verify());
    EXPECT_FALSE(here_.is_leader());
}

TEST_F(elections, an_owner_token_renews_and_resigns) {
    auto held = here_.campaign();
    EXPECT_TRUE(held.owner().starts_with("he1:"));
    EXPECT_TRUE(renew(other_, "k", held.owner(), 50s));
    EXPECT_GT(server_.pttl("k"), 45'000);
    EXPECT_EQ(unlock(other_, "k", held.owner()), release_result::released);
    EXPECT_FALSE(server_.exists(note_of_k));
}

TEST_F(elections, status_and_list_tell_who_leads_and_who_would) {
    const auto held = here_.acquire({.label = "boss"});
    auto waits =
        std::async(std::launch::async, [&] { return there_.try_campaign_for(surely).has_value(); });
    ASSERT_TRUE(eventually(surely, [&] { return inspect(client_, "k").waiting == 1U; }));
    const auto status = inspect(client_, "k");
    ASSERT_TRUE(status.held_by);
    EXPECT_TRUE(status.held_by->leads);
    EXPECT_EQ(status.held_by->label, "boss");
    ASSERT_TRUE(status.leader);
    EXPECT_EQ(status.leader->term, held.token());
    EXPECT_EQ(status.leader->value, "here:80");
    ASSERT_TRUE(status.waiters);
    EXPECT_TRUE(status.waiters->front().who.leads);
    std::size_t listed = 0;
    list(client_, "*", [&](const lock_status& each) {
        ++listed;
        EXPECT_EQ(each.leader.value_or(leader{}).value, "here:80");
    });
    EXPECT_EQ(listed, 1U);
    here_.resign();
    EXPECT_TRUE(waits.get());
}

TEST_F(elections, a_child_process_leads_nothing) {
    const auto held = here_.campaign();
    const auto child = ::fork();
    if (child == 0) {
        const bool right = !here_.is_leader() && here_.resign() == release_result::unknown;
        ::_exit(right ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(here_.is_leader());
}

}  // namespace
}  // namespace holdfast::test
