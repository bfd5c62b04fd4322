#include "holdfast/duration.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <chrono>
#include <limits>
#include <string>

namespace {

using namespace std::chrono_literals;
using holdfast::format_duration;
using holdfast::parse_duration;
using std::chrono::nanoseconds;

constexpr auto longest = std::numeric_limits<nanoseconds::rep>::max();

TEST(parse_duration, reads_every_unit) {
    EXPECT_EQ(parse_duration("250us"), nanoseconds{250us});
    EXPECT_EQ(parse_duration("500ms"), nanoseconds{500ms});
    EXPECT_EQ(parse_duration("10s"), nanoseconds{10s});
    EXPECT_EQ(parse_duration("5m"), nanoseconds{5min});
    EXPECT_EQ(parse_duration("2h"), nanoseconds{2h});
    EXPECT_EQ(parse_duration("2d"), nanoseconds{48h});
}

TEST(parse_duration, adds_up_units_from_the_largest_to_the_smallest) {
    EXPECT_EQ(parse_duration("1h30m"), nanoseconds{90min});
    EXPECT_EQ(parse_duration("1d2h3m4s5ms6us"), nanoseconds{26h + 3min + 4s + 5ms + 6us});
    EXPECT_EQ(parse_duration("1m1.5s"), nanoseconds{61500ms});
    EXPECT_EQ(parse_duration("0d0s"), 0ns);
    for (const char* text :
         {"30m1h", "1h1h", "1h30", "1.5h30m", "1h.5m", "1h 30m", "1hm", "1h30m-5s", "1ms1s"}) {
        EXPECT_EQ(parse_duration(text), std::nullopt) << text;
    }
    EXPECT_EQ(parse_duration("106751d23h47m16.854775807s"), nanoseconds{longest});
    EXPECT_EQ(parse_duration("106751d23h47m16.854775808s"), std::nullopt);
}

TEST(parse_duration, takes_a_bare_number_as_seconds) {
    EXPECT_EQ(parse_duration("30"), nanoseconds{30s});
    EXPECT_EQ(parse_duration("0.25"), nanoseconds{250ms});
    EXPECT_EQ(parse_duration("0"), 0ns);
}

TEST(parse_duration, reads_fractions_exactly) {
    EXPECT_EQ(parse_duration("1.5s"), nanoseconds{1500ms});
    EXPECT_EQ(parse_duration("0.1ms"), nanoseconds{100us});
    EXPECT_EQ(parse_duration("1.05m"), nanoseconds{63s});
    EXPECT_EQ(parse_duration("0.0001h"), nanoseconds{360ms});
    EXPECT_EQ(parse_duration("1.234567891s"), 1'234'567'891ns);
    EXPECT_EQ(parse_duration("0.001us"), 1ns);
}

TEST(parse_duration, refuses_a_fraction_finer_than_a_nanosecond) {
    EXPECT_EQ(parse_duration("0.0001us"), std::nullopt);
    EXPECT_EQ(parse_duration("1.2345678912s"), std::nullopt);
}

TEST(parse_duration, refuses_whatever_is_not_a_duration) {
    for (const char* text :
         {"",     " ",   "s",   "ms",  ".",    ".5s",  "1.",   "1.s",  "1..5s", "-1s",  "+1s",
          " 1s",  "1s ", "1 s", "1S",  "1MS",  "1D",   "1sec", "1e3s", "0x10s", "1,5s", "1h30M",
          "1s1s", "1ns", "inf", "nan", "1.5.", "1m s", "--1s", "ten",  "1.-5",  "1.5 "}) {
        EXPECT_EQ(parse_duration(text), std::nullopt) << '"' << text << '"';
    }
    EXPECT_EQ(parse_duration(std::string_view{"1s\0", 3}), std::nullopt);
}

TEST(parse_duration, reads_up_to_the_longest_duration_and_refuses_the_next) {
    EXPECT_EQ(parse_duration("9223372036854775.807us"), nanoseconds{longest});
    EXPECT_EQ(parse_duration("9223372036854775.808us"), std::nullopt);
    EXPECT_EQ(parse_duration("9223372036854776us"), std::nullopt);
    EXPECT_EQ(parse_duration("9223372036.854775807"), nanoseconds{longest});
    EXPECT_EQ(parse_duration("2562047h"), nanoseconds{std::chrono::hours{2562047}});
    EXPECT_EQ(parse_duration("2562048h"), std::nullopt);
    EXPECT_EQ(parse_duration("18446744073709551616s"), std::nullopt);
    EXPECT_EQ(parse_duration("18446744073709551617us"), std::nullopt);
    EXPECT_EQ(parse_duration(std::string(5000, '9')), std::nullopt);
    EXPECT_EQ(parse_duration(std::string(5000, '0') + "7s"), nanoseconds{7s});
}

TEST(format_duration, picks_the_largest_unit_that_needs_few_decimals) {
    EXPECT_EQ(format_duration(0s), "0s");
    EXPECT_EQ(format_duration(500ms), "500ms");
    EXPECT_EQ(format_duration(1500ms), "1.5s");
    EXPECT_EQ(format_duration(10s), "10s");
    EXPECT_EQ(format_duration(61s), "61s");
    EXPECT_EQ(format_duration(90s), "1.5m");
    EXPECT_EQ(format_duration(2min), "2m");
    EXPECT_EQ(format_duration(90min), "1.5h");
    EXPECT_EQ(format_duration(24h), "24h");
    EXPECT_EQ(format_duration(250us), "250us");
    EXPECT_EQ(format_duration(1050us), "1.05ms");
    EXPECT_EQ(format_duration(1001ms), "1.001s");
    EXPECT_EQ(format_duration(1ns), "0.001us");
}

TEST(format_duration, rounds_what_nobody_would_read) {
    EXPECT_EQ(format_duration(1'234'567'891ns), "1.235s");
    EXPECT_EQ(format_duration(12'345'678ns), "12.346ms");
    EXPECT_EQ(format_duration(12'345ns), "12.345us");
}

TEST(format_duration, moves_to_the_next_unit_when_rounding_reaches_it) {
    EXPECT_EQ(format_duration(999'999'600ns), "1s");
    EXPECT_EQ(format_duration(59'999'999'999ns), "1m");
    EXPECT_EQ(format_duration(999'999ns), "999.999us");
}

TEST(format_duration, writes_negative_and_extreme_durations) {
    EXPECT_EQ(format_duration(-1500ms), "-1.5s");
    EXPECT_EQ(format_duration(nanoseconds{longest}), "9223372036.855s");
    EXPECT_EQ(format_duration(nanoseconds::min()), "-9223372036.855s");
}

TEST(format_duration, is_read_back_as_the_same_duration_when_exact) {
    EXPECT_TRUE(rc::check("whole milliseconds", [] {
        const nanoseconds given =
            std::chrono::milliseconds{*rc::gen::inRange<int>(0, 2'000'000'000)};
        RC_ASSERT(parse_duration(format_duration(given)) == given);
    }));
    EXPECT_TRUE(rc::check("whole microseconds below a second", [] {
        const nanoseconds given = std::chrono::microseconds{*rc::gen::inRange(0, 1'000'000)};
        RC_ASSERT(parse_duration(format_duration(given)) == given);
    }));
    EXPECT_TRUE(rc::check("nanoseconds below a millisecond", [] {
        const nanoseconds given{*rc::gen::inRange(0, 1'000'000)};
        RC_ASSERT(parse_duration(format_duration(given)) == given);
    }));
}

TEST(format_duration, is_never_off_by_more_than_half_of_the_last_shown_place) {
    EXPECT_TRUE(rc::check([] {
        // Powers of two spread the lengths over every unit; inRange alone would be years only.
        const auto shift = *rc::gen::inRange(0, 62);
        const nanoseconds given{*rc::gen::inRange<nanoseconds::rep>(0, longest) >> shift};
        RC_PRE(given < nanoseconds{longest} - 1ms);  // else rounding up would not fit
        const auto shown = parse_duration(format_duration(given));
        RC_ASSERT(shown.has_value());
        const auto off = shown > given ? *shown - given : given - *shown;
        RC_ASSERT(off <= (given >= 1s ? nanoseconds{500us} : 500ns));
    }));
}

TEST(parse_duration, survives_garbage) {
    EXPECT_TRUE(rc::check([](const std::string& text) {
        if (const auto duration = parse_duration(text)) RC_ASSERT(*duration >= 0ns);
    }));
    EXPECT_TRUE(rc::check("made of its own alphabet", [] {
        const auto text =
            *rc::gen::container<std::string>(rc::gen::elementOf(std::string("0159.umshd")));
        if (const auto duration = parse_duration(text)) RC_ASSERT(*duration >= 0ns);
    }));
}

}  // namespace
