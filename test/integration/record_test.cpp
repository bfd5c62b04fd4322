#include "core/judge.hpp"
#include "holdfast/operate.hpp"
#include "integration/library.hpp"

/// A record of the server's life that is none, and how it is mended.
namespace holdfast::test {
namespace {

const std::string record_key(core::record_key);

class record : public testing::TestWithParam<bool> {
  protected:
    record() {
        settings_.restart_guard = GetParam();
        (void)vouch();
    }

    std::vector<milliseconds> vouch() const {
        client operators(settings_);
        return enlist(operators, true);
    }
    [[nodiscard]] thrown_error acquire() const {
        client through(settings_);
        return error_of([&] { EXPECT_TRUE(mutex(through, "k").try_acquire()); });
    }

    redis_server server_;
    options settings_ = settings_for(server_.url());
};

TEST_P(record, of_another_type_is_named_with_what_mends_it_and_left_alone) {
    server_.command({"DEL", record_key});
    server_.command({"LPUSH", record_key, "element"});
    const stopwatch watch;
    const auto error = error_of([&] { return client(settings_).acquire("k").token(); });
    EXPECT_LT(watch.elapsed(), 2s * slowness);
    EXPECT_EQ(error.code, errc::unsafe_server) << error.what;
    EXPECT_TRUE(contains(error.what, record_key)) << error.what;
    EXPECT_TRUE(contains(error.what, "holdfast enlist --fresh")) << error.what;
    EXPECT_EQ(server_.command({"LLEN", record_key}), "1");
}

TEST_P(record, of_another_type_is_replaced_where_somebody_vouches) {
    server_.command({"DEL", record_key});
    server_.command({"LPUSH", record_key, "element"});
    EXPECT_EQ(vouch(), std::vector{0ms});
    EXPECT_EQ(acquire().what, "");
}

TEST_P(record, of_another_type_is_replaced_by_a_client_that_has_met_it_too) {
    server_.command({"DEL", record_key});
    server_.command({"LPUSH", record_key, "element"});
    client through(settings_);
    EXPECT_EQ(error_of([&] { (void)mutex(through, "k").try_acquire(); }).code, errc::unsafe_server);
    EXPECT_EQ(enlist(through, true), std::vector{0ms});
    EXPECT_TRUE(mutex(through, "k").try_acquire());
}

/// The record with another value in one of its fields.
std::string spoilt(std::string record, const std::string& field, const std::string& value) {
    const auto at = record.find(' ' + field + '=');
    if (at == record.npos) return record + ' ' + field + '=' + value;
    const auto begin = at + field.size() + 2;
    return record.replace(begin, record.find(' ', begin) - begin, value);
}

TEST_P(record, that_is_garbage_is_replaced_where_somebody_vouches) {
    const auto good = server_.command({"GET", record_key});
    const std::vector<std::string> spoils{
        "", "inf", "-1", "1e300", "many", "9200000000000000", "99999999999999999999"};
    std::vector<std::string> garbage{"", "garbage", std::string("\0\xff run=", 7)};
    for (const char* field : {"floor", "until", "max_ttl"}) {
        for (const auto& value : spoils) garbage.push_back(spoilt(good, field, value));
    }
    for (const auto& value : garbage) {
        server_.command({"SET", record_key, value});
        EXPECT_EQ(error_of([&] { EXPECT_EQ(vouch(), std::vector{0ms}); }).what, "") << value;
        EXPECT_EQ(acquire().what, "") << value;
        EXPECT_LT(std::stoull(server_.command({"GET", "holdfast:{k}:fence"})), 1ULL << 53U)
            << value;
    }
}

// Nothing that it says can be believed: neither that a life is known, nor on what others agreed.
TEST_P(record, that_is_garbage_says_nothing_to_a_client) {
    const auto good = server_.command({"GET", record_key});
    for (const char* field : {"floor", "until", "max_ttl"}) {
        server_.command({"SET", record_key, spoilt(good, field, "many")});
        client through(settings_);
        const auto mine = mutex(through, "k").try_acquire();
        EXPECT_EQ(mine.has_value(), !GetParam()) << field;
        EXPECT_EQ(mine.held_by() && mine.held_by()->quarantine, GetParam()) << field;
    }
}

// Tokens would run ahead of the clock, from which the next life counts; or start from below it.
TEST_P(record, with_a_floor_that_no_clock_gave_is_none) {
    const auto good = server_.command({"GET", record_key});
    const auto floor = good.find(" floor=");
    const auto without = good.substr(0, floor) + good.substr(good.find(' ', floor + 1));
    client through(settings_);
    const auto last = through.acquire("k").token();
    for (const auto& bad : {spoilt(good, "floor", "5000000000000000"), without}) {
        server_.command({"SET", record_key, bad});
        server_.command({"SET", "holdfast:{k}:fence", "5"});
        (void)vouch();
        client another(settings_);
        const auto token = another.acquire("k").token();
        EXPECT_GT(token, last) << bad;
        EXPECT_LT(token, last + 3'600'000'000ULL) << bad;
    }
}

INSTANTIATE_TEST_SUITE_P(of, record, testing::Values(false, true), [](const auto& one) {
    return one.param ? "a_guarded_server" : "an_unguarded_server";
});

}  // namespace
}  // namespace holdfast::test
