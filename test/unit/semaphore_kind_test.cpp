#include "kinds/semaphore.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "holdfast/semaphore.hpp"
#include "kinds/exclusive.hpp"
#include "kinds/shared.hpp"
#include "scripts/embedded.hpp"
#include "unit/support/script_words.hpp"

namespace holdfast::kinds {
namespace {

using namespace std::chrono_literals;

const keys three_permits{.lock = "k", .queued = true, .permits = 3};
const keys unfenced_permits{.lock = "k", .fenced = false, .queued = true, .permits = 3};

claim permit_of_mine(const keys& of) {
    return {.of = of, .owner = "hs1:me", .ttl = 1s, .retention = 1h};
}

TEST(semaphore_kind, asks_for_a_permit_and_names_the_limit) {
    std::string out;
    semaphore().acquire(out, false, permit_of_mine(three_permits), {.tokens = 1, .floor = 5});
    EXPECT_EQ(out, call_of(scripts::semaphore::acquire,
                           {"3", "k", "holdfast:{k}:queue", "holdfast:{k}:fence", "hs1:me", "1000",
                            "3", "3600000", "5"}));
}

TEST(semaphore_kind, asks_for_a_place_in_line_and_later_whether_it_was_granted_one) {
    auto waits = permit_of_mine(three_permits);
    waits.entry = "channel 12 ";
    std::string out;
    semaphore().acquire(out, false, waits, {.tokens = 1, .floor = 5});
    EXPECT_EQ(out, call_of(scripts::semaphore::acquire,
                           {"3", "k", "holdfast:{k}:queue", "holdfast:{k}:fence", "hs1:me", "1000",
                            "3", "3600000", "5", "channel 12 "}));
    waits.in_line = true;
    out.clear();
    semaphore().acquire(out, false, waits, {.tokens = 1, .floor = 5});
    EXPECT_EQ(out, call_of(scripts::semaphore::acquire,
                           {"3", "k", "holdfast:{k}:queue", "holdfast:{k}:fence", "hs1:me", "1000",
                            "3", "3600000", "5", "channel 12 ", "1"}));
}

TEST(semaphore_kind, names_no_counter_without_fencing) {
    const auto mine = permit_of_mine(unfenced_permits);
    std::string out;
    semaphore().acquire(out, false, mine, {});
    semaphore().extend(out, false, mine);
    semaphore().linger(out, mine);
    EXPECT_EQ(out.find(":fence"), std::string::npos) << out;
}

TEST(semaphore_kind, extends_and_verifies_by_an_extension_that_extends_by_nothing) {
    std::string out;
    semaphore().extend(out, false, permit_of_mine(three_permits));
    EXPECT_EQ(out, call_of(scripts::semaphore::extend,
                           {"2", "k", "holdfast:{k}:fence", "hs1:me", "1000", "3600000"}));
    out.clear();
    semaphore().verify(out, false, permit_of_mine(three_permits));
    EXPECT_EQ(out, call_of(scripts::semaphore::extend,
                           {"2", "k", "holdfast:{k}:fence", "hs1:me", "0", "3600000"}));
}

TEST(semaphore_kind, releases_to_the_line_and_leaves_it) {
    std::string out;
    semaphore().release(out, false, permit_of_mine(three_permits));
    EXPECT_EQ(out,
              call_of(scripts::semaphore::release, {"2", "k", "holdfast:{k}:queue", "hs1:me"}));
    auto waited = permit_of_mine(three_permits);
    waited.entry = "channel 12 ";
    out.clear();
    semaphore().release(out, false, waited);
    EXPECT_EQ(out, call_of(scripts::semaphore::release,
                           {"2", "k", "holdfast:{k}:queue", "hs1:me", "channel 12 "}));
}

TEST(semaphore_kind, reads_which_slot_was_granted) {
    const auto answer = semaphore().read_acquire(resp::view("*3\r\n:1\r\n:42\r\n:2\r\n"));
    ASSERT_TRUE(std::holds_alternative<granted>(answer));
    EXPECT_EQ(std::get<granted>(answer).counter.value, 42U);
    EXPECT_EQ(std::get<granted>(answer).slot, 2U);
    for (const auto* frame :
         {"*3\r\n:1\r\n:42\r\n:-1\r\n", "*3\r\n:1\r\n:42\r\n_\r\n", "*3\r\n:1\r\n:42\r\n:10000\r\n",
          "*2\r\n:1\r\n:42\r\n", "*4\r\n:1\r\n:42\r\n:1\r\n:1\r\n"}) {
        EXPECT_TRUE(
            std::holds_alternative<net::failure>(semaphore().read_acquire(resp::view(frame))))
            << frame;
    }
}

TEST(semaphore_kind, another_limit_is_an_error_that_waiting_does_not_mend) {
    const auto answer = semaphore().read_acquire(
        resp::view("-HOLDFASTLIMIT the semaphore k has 2 permits, not 3\r\n"));
    ASSERT_TRUE(std::holds_alternative<net::failure>(answer));
    EXPECT_EQ(std::get<net::failure>(answer).code, errc::other_limit);
    EXPECT_TRUE(std::get<net::failure>(answer).hopeless);
}

TEST(semaphore_kind, is_shared_with_its_like_alone_and_refused_on_a_quorum_with_the_reason) {
    EXPECT_TRUE(core::compatible(semaphore().sharing(), semaphore().sharing()));
    EXPECT_FALSE(core::compatible(semaphore().sharing(), shared().sharing()));
    EXPECT_FALSE(core::compatible(semaphore().sharing(), exclusive().sharing()));
    EXPECT_NE(semaphore().stored_as(), exclusive().stored_as());
    EXPECT_EQ(shared().stored_as(), exclusive().stored_as());
    EXPECT_TRUE(semaphore().allowed_on(topology::one_voter));
    EXPECT_FALSE(semaphore().allowed_on(topology::quorum));
    EXPECT_FALSE(semaphore().why_refused().empty());
    EXPECT_TRUE(semaphore().loads(topology::quorum).empty());
    EXPECT_TRUE(semaphore().woken_by("k").empty()) << "every renewal changes it";
}

TEST(semaphore_kind, reads_what_scores_say) {
    const auto some = read_permit(1'795'000'000'120'003.0);
    EXPECT_EQ(some.slot, 3U);
    EXPECT_EQ(some.over_at, hundredths(179'500'000'012));
    EXPECT_EQ(read_permit(1'795'000'000'129'999.0).slot, max_permits - 1);
    EXPECT_EQ(read_limit(-2'999'995), 5U);
    // What is over in this very hundredth of a second is over.
    EXPECT_EQ(lowest_score_alive_at(1'795'000'000'120'000us), "1795000000130000");
    EXPECT_EQ(lowest_score_alive_at(1'795'000'000'119'999us), "1795000000120000");
}

}  // namespace
}  // namespace holdfast::kinds
