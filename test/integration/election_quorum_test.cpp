#include <future>

#include "holdfast/election.hpp"
#include "integration/quorum.hpp"

/// Elections by a majority of servers that know nothing of each other.
namespace holdfast::test {
namespace {

constexpr auto voted_note = "holdfast:{k}:leader";

class elections_by_quorum : public testing::Test {
  protected:
    quorum servers_{3};
    client client_{servers_.settings()};
    client other_{servers_.settings()};
    election here_{client_, "k", "here"};
    election there_{other_, "k", "there"};
};

TEST_F(elections_by_quorum, a_majority_says_who_leads) {
    EXPECT_FALSE(there_.leader());
    const auto held = here_.campaign();
    EXPECT_TRUE(here_.is_leader());
    const auto leads = there_.leader();
    EXPECT_EQ(leads.term, held.token());
    EXPECT_EQ(leads.value, "here");
    EXPECT_EQ(leads.who.owner, held.owner());
    here_.resign();
    EXPECT_FALSE(there_.leader());
    EXPECT_EQ(servers_.holders_of(voted_note), 0U);
}

TEST_F(elections_by_quorum, all_servers_have_the_same_term_although_their_counters_differ) {
    const auto ahead = std::to_string(std::stoull("4000000000000000"));
    servers_.server(2).command({"SET", "holdfast:{k}:fence", ahead});
    servers_.server(1).command({"SET", "holdfast:{k}:fence", "3000000000000000"});
    const auto held = here_.campaign();
    const auto term = std::to_string(held.token()) + "\n";
    for (std::size_t n = 0; n < servers_.size(); ++n) {
        EXPECT_TRUE(eventually(surely, [&] {
            return servers_.server(n).get(voted_note).value_or("").starts_with(term);
        })) << n;
    }
    EXPECT_EQ(there_.leader().term, held.token());
}

TEST_F(elections_by_quorum, a_minority_may_be_away) {
    servers_.server(2).kill_hard();
    const auto held = here_.campaign();
    EXPECT_EQ(there_.leader().term, held.token());
    servers_.server(1).kill_hard();
    EXPECT_EQ(error_of([&] { (void)there_.leader(); }).code, errc::unreachable);
}

TEST_F(elections_by_quorum, what_a_minority_has_leads_nobody) {
    const auto held = here_.campaign();
    const auto owner = held.owner();
    for (std::size_t n = 0; n < 2; ++n) servers_.server(n).command({"DEL", "k"});
    EXPECT_FALSE(there_.leader());
}

TEST_F(elections_by_quorum, observers_are_told) {
    election_observer observer(other_, "k");
    EXPECT_FALSE(observer.next());
    auto change = std::async(std::launch::async, [&] { return observer.next(); });
    EXPECT_EQ(change.wait_for(50ms), std::future_status::timeout);
    stopwatch since;
    const auto held = here_.campaign();
    EXPECT_EQ(change.get().term, held.token());
    EXPECT_LT(since.elapsed(), promptly);
    auto end = std::async(std::launch::async, [&] { return observer.next(); });
    EXPECT_EQ(end.wait_for(50ms), std::future_status::timeout);
    since = {};
    here_.resign();
    EXPECT_FALSE(end.get());
    EXPECT_LT(since.elapsed(), promptly);
}

TEST_F(elections_by_quorum, terms_increase_and_nobody_leads_beside_another) {
    std::uint64_t last = 0;
    for (int n = 0; n < 6; ++n) {
        auto& next = n % 2 == 0 ? here_ : there_;
        auto& rival = n % 2 == 0 ? there_ : here_;
        auto held = next.campaign();
        EXPECT_GT(held.token(), last);
        last = held.token();
        EXPECT_FALSE(rival.try_campaign());
        EXPECT_EQ(rival.leader().term, last);
    }
}

}  // namespace
}  // namespace holdfast::test
