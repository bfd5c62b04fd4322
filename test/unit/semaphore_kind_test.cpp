#include "kinds/semaphore.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "kinds/exclusive.hpp"
#include "kinds/shared.hpp"
#include "scripts/embedded.hpp"

namespace holdfast::kinds {
namespace {

using namespace std::chrono_literals;

const keys three{.lock = "k", .queued = true, .permits = 3};
const keys unfenced{.lock = "k", .fenced = false, .queued = true, .permits = 3};

/// A script by its digest, with everything that follows, as words.
std::string call_of(const scripts::script& which, const std::vector<std::string>& rest) {
    std::string out = "*" + std::to_string(rest.size() + 2) + "\r\n";
    const auto word = [&](std::string_view text) {
        ((out += "$" + std::to_string(text.size()) + "\r\n") += text) += "\r\n";
    };
    word("EVALSHA");
    word(which.sha1);
    for (const auto& each : rest) word(each);
    return out;
}

claim by_me(const keys& of) { return {.of = of, .owner = "hs1:me", .ttl = 1s, .retention = 1h}; }

TEST(semaphore_kind, asks_for_a_permit_or_a_place_in_line_and_names_the_limit) {
    auto waits = by_me(three);
    waits.entry = "channel 12 ";
    waits.in_line = true;
    std::string out;
    semaphore().acquire(out, false, waits, {.tokens = 1, .floor = 5});
    EXPECT_EQ(out,
              call_of(scripts::semaphore::acquire,
                      {"4", "k", "holdfast:{k}:queue", "holdfast:{k}:permits", "holdfast:{k}:fence",
                       "hs1:me", "1000", "channel 12 ", "1", "3600000", "1", "5", "3"}));
}

TEST(semaphore_kind, names_no_counter_without_fencing) {
    std::string out;
    semaphore().acquire(out, false, by_me(unfenced), {});
    semaphore().extend(out, false, by_me(unfenced));
    semaphore().linger(out, by_me(unfenced));
    EXPECT_EQ(out.find(":fence"), std::string::npos) << out;
}

TEST(semaphore_kind, verifies_by_an_extension_that_extends_by_nothing) {
    std::string out;
    semaphore().verify(out, false, by_me(three));
    EXPECT_EQ(out, call_of(scripts::semaphore::extend,
                           {"3", "k", "holdfast:{k}:permits", "holdfast:{k}:fence", "hs1:me", "0",
                            "3600000", "0"}));
}

TEST(semaphore_kind, releases_to_the_line) {
    std::string out;
    semaphore().release(out, false, by_me(three));
    EXPECT_EQ(out, call_of(scripts::semaphore::release,
                           {"3", "k", "holdfast:{k}:permits", "holdfast:{k}:queue", "hs1:me", ""}));
}

TEST(semaphore_kind, reads_which_slot_was_granted) {
    const auto answer = semaphore().read_acquire(resp::view("*3\r\n:1\r\n:42\r\n:2\r\n"));
    ASSERT_TRUE(std::holds_alternative<granted>(answer));
    EXPECT_EQ(std::get<granted>(answer).counter.value, 42U);
    EXPECT_EQ(std::get<granted>(answer).slot, 2U);
    for (const auto* frame : {"*3\r\n:1\r\n:42\r\n:-1\r\n", "*3\r\n:1\r\n:42\r\n_\r\n",
                              "*4\r\n:1\r\n:42\r\n:1\r\n:1\r\n"}) {
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
    EXPECT_TRUE(semaphore().allowed_on(topology::one_voter));
    EXPECT_FALSE(semaphore().allowed_on(topology::quorum));
    EXPECT_FALSE(semaphore().why_refused().empty());
    EXPECT_TRUE(semaphore().loads(topology::quorum).empty());
}

}  // namespace
}  // namespace holdfast::kinds
