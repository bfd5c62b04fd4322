#include <thread>

#include "holdfast/operate.hpp"
#include "integration/library.hpp"

/// What is refused before a server is asked, and what only looks as if it should be.
namespace holdfast::test {
namespace {

thrown_error refusal(const options& settings) {
    return error_of([&] { client through(settings); });
}

class bad_input : public testing::Test {
  protected:
    thrown_error refusal_of(const acquire_options& how) {
        return error_of([&] { mutex one(client_, "k", how); });
    }
    thrown_error refusal_of_key(const std::string& key) {
        return error_of([&] { mutex one(client_, key); });
    }

    redis_server server_;
    client client_{server_.url()};
};

TEST_F(bad_input, keys_of_our_own_are_no_locks) {
    for (const char* own : {"holdfast:record", "holdfast:{k}:fence", "holdfast:"}) {
        EXPECT_EQ(error_of([&] { mutex(client_, own); }).code, errc::invalid_key) << own;
    }
    auto settings = settings_for(server_.url());
    settings.prefix = "hold";
    client prefixed(settings);
    EXPECT_EQ(error_of([&] { mutex(prefixed, "fast:record"); }).code, errc::invalid_key);
    EXPECT_TRUE(mutex(prefixed, "holdfast:record").try_acquire().has_value());
}

TEST_F(bad_input, urls_are_checked_when_given_and_passwords_never_shown) {
    for (const auto* url :
         {"", "redis", "redis://", "http://127.0.0.1", "127.0.0.1:6379", "redis://:hunter2@",
          "redis://u:hunter2@host:notaport", "redis://u:hunter2@host:99999",
          "redis://u:hunter2@host/notadb", "redis://u:hunter2@host?unknown=1", "unix://relative",
          "redis://u:hunter2@[::1", "redis://u:hunt%zzer2@host", "redis://u:hunter2@ho st"}) {
        const auto error = error_of([&] { client through(url); });
        EXPECT_EQ(error.code, errc::invalid_url) << url;
        EXPECT_FALSE(contains(error.what, "hunter2")) << error.what;
        EXPECT_GT(error.what.size(), 20U) << error.what;
    }
}

TEST_F(bad_input, a_client_needs_an_odd_number_of_distinct_urls) {
    EXPECT_EQ(refusal({}).code, errc::invalid_option);
    auto settings = settings_for(server_.url());
    settings.urls.push_back("redis://127.0.0.1:1");
    EXPECT_EQ(refusal(settings).code, errc::invalid_option);
    settings.urls.push_back(server_.url());
    const auto twice = refusal(settings);
    EXPECT_EQ(twice.code, errc::invalid_option);
    EXPECT_TRUE(contains(twice.what, "twice")) << twice.what;
}

TEST_F(bad_input, ttl_at_its_edges) {
    EXPECT_EQ(refusal_of(with_ttl(0ms)).code, errc::invalid_option);
    EXPECT_EQ(refusal_of(with_ttl(-1ms)).code, errc::invalid_option);
    EXPECT_EQ(refusal_of(with_ttl(milliseconds::min())).code, errc::invalid_option);
    EXPECT_EQ(refusal_of(with_ttl(min_ttl - 1ms)).code, errc::invalid_option);
    EXPECT_FALSE(refusal_of(with_ttl(min_ttl)).code);
    EXPECT_FALSE(refusal_of(with_ttl(60s)).code);
    const auto above = refusal_of(with_ttl(60s + 1ms));
    EXPECT_EQ(above.code, errc::invalid_option);
    EXPECT_TRUE(contains(above.what, "max_ttl")) << above.what;
    EXPECT_EQ(refusal_of(with_ttl(milliseconds::max())).code, errc::invalid_option);
}

TEST_F(bad_input, a_default_ttl_above_max_ttl_is_refused_only_where_it_is_used) {
    auto settings = settings_for(server_.url());
    settings.max_ttl = 10s;
    client strict(settings);
    mutex one(strict, "k");
    EXPECT_TRUE(one.try_acquire({.ttl = 10s}));
    EXPECT_TRUE(strict.try_acquire("k", {.ttl = 10s}));
    for (const auto& refused :
         {error_of([&] { one.lock(); }), error_of([&] { (void)one.try_lock(); }),
          error_of([&] { (void)one.try_lock_for(1ms); }), error_of([&] { (void)one.acquire(); }),
          error_of([&] { (void)one.try_acquire(); }),
          error_of([&] { recursive_mutex(strict, "k").lock(); }),
          error_of([&] { (void)strict.try_acquire("k"); })}) {
        EXPECT_EQ(refused.code, errc::invalid_option);
        EXPECT_TRUE(contains(refused.what, "max_ttl, 10s")) << refused.what;
    }
    EXPECT_FALSE(server_.exists("k"));
    EXPECT_EQ(error_of([&] { mutex(strict, "k", {.ttl = 11s}); }).code, errc::invalid_option);
    EXPECT_EQ(error_of([&] { mutex(strict, ""); }).code, errc::invalid_key);
    const std::string long_label(max_label_bytes + 1, 'x');
    EXPECT_EQ(error_of([&] { mutex(strict, "k", {.label = long_label}); }).code,
              errc::invalid_option);
}

TEST_F(bad_input, the_shortest_ttl_works) {
    EXPECT_TRUE(eventually(surely, [&] {
        std::error_code error;
        return mutex(client_, "k").try_acquire(with_ttl(min_ttl), error).has_value();
    }));
}

TEST_F(bad_input, extend_checks_its_ttl_too) {
    auto held = mutex(client_, "k").acquire();
    for (const auto ttl :
         {0ms, -1ms, min_ttl - 1ms, milliseconds(60s) + 1ms, milliseconds::max()}) {
        EXPECT_EQ(error_of([&] { held.extend(ttl); }).code, errc::invalid_option) << ttl.count();
    }
    EXPECT_NO_THROW(held.extend(60s));
    EXPECT_FALSE(held.lost());
}

TEST_F(bad_input, what_lingers_may_outlive_max_ttl_but_not_the_longest_time) {
    client through(server_.url());
    auto held = mutex(through, "k").acquire();
    const auto owner = held.owner();
    held.detach();
    const auto refused = [&](milliseconds how_long) {
        return error_of([&] { (void)linger(through, "k", owner, how_long); }).code;
    };
    EXPECT_EQ(refused(0ms), errc::invalid_option);
    EXPECT_EQ(refused(longest_time + 1ms), errc::invalid_option);
    EXPECT_TRUE(linger(through, "k", owner, through.settings().max_ttl * 5));
    EXPECT_GT(server_.pttl("k"), 290'000);
    EXPECT_TRUE(linger(through, "k", owner, longest_time));
    EXPECT_GE(server_.pttl("holdfast:{k}:fence") + 1000, server_.pttl("k")) << "asked one by one";
    EXPECT_FALSE(linger(through, "k", "somebody else", 1s));
}

TEST_F(bad_input, guard_time_must_stay_below_half_the_ttl) {
    acquire_options how = with_ttl(10s);
    how.guard_time = 5s;
    EXPECT_EQ(refusal_of(how).code, errc::invalid_option);
    how.guard_time = 5s - 1ms;
    EXPECT_FALSE(refusal_of(how).code);
    how.guard_time = -1ms;
    EXPECT_EQ(refusal_of(how).code, errc::invalid_option);
}

TEST_F(bad_input, loss_notice_and_min_validity_must_fit_into_the_lease) {
    acquire_options how = with_ttl(10s);  // less a guard of 102 ms
    how.loss_notice = 9'898ms;
    EXPECT_EQ(refusal_of(how).code, errc::invalid_option);
    how.loss_notice = 9'897ms;
    EXPECT_FALSE(refusal_of(how).code);
    how.loss_notice = 0ms;
    how.min_validity = 9'898ms;
    EXPECT_EQ(refusal_of(how).code, errc::invalid_option);
    how.min_validity = 9'897ms;
    EXPECT_FALSE(refusal_of(how).code);
    for (const auto wrong : {-1ms, milliseconds::min(), milliseconds::max()}) {
        acquire_options notice = with_ttl(10s);
        notice.loss_notice = wrong;
        EXPECT_EQ(refusal_of(notice).code, errc::invalid_option);
        acquire_options validity = with_ttl(10s);
        validity.min_validity = wrong;
        EXPECT_EQ(refusal_of(validity).code, errc::invalid_option);
    }
}

TEST_F(bad_input, max_hold_at_its_edges) {
    acquire_options how;
    how.max_hold = -1ms;
    EXPECT_EQ(refusal_of(how).code, errc::invalid_option);
    how.max_hold = longest_time;
    EXPECT_FALSE(refusal_of(how).code);
    how.max_hold = longest_time + 1ms;
    EXPECT_EQ(refusal_of(how).code, errc::invalid_option);
    how.max_hold = milliseconds::max();
    EXPECT_EQ(refusal_of(how).code, errc::invalid_option);
}

TEST_F(bad_input, labels_at_their_edge) {
    acquire_options how;
    how.label = std::string(max_label_bytes, 'x');
    EXPECT_FALSE(refusal_of(how).code);
    how.label = std::string(max_label_bytes + 1, 'x');
    const auto above = refusal_of(how);
    EXPECT_EQ(above.code, errc::invalid_option);
    EXPECT_TRUE(contains(above.what, "129 bytes")) << above.what;
    auto settings = settings_for(server_.url());
    settings.label = std::string(max_label_bytes, 'x');
    EXPECT_FALSE(refusal(settings).code);
    settings.label += 'x';
    EXPECT_EQ(refusal(settings).code, errc::invalid_option);
}

TEST_F(bad_input, the_options_of_a_client_at_their_edges) {
    const auto with = [&](auto change) {
        auto settings = settings_for(server_.url());
        change(settings);
        return refusal(settings).code;
    };
    const std::error_code fine;
    const auto wrong = make_error_code(errc::invalid_option);
    EXPECT_EQ(with([](options& o) { o.max_ttl = min_ttl; }), fine);
    EXPECT_EQ(with([](options& o) { o.max_ttl = min_ttl - 1ms; }), wrong);
    const auto longest = [](options& o) {
        o.max_ttl = longest_max_ttl;
        o.fence_retention = longest_max_ttl;
    };
    EXPECT_EQ(with(longest), fine);
    EXPECT_EQ(with([&](options& o) {
                  longest(o);
                  o.max_ttl += 1ms;
              }),
              wrong);
    EXPECT_EQ(with([&](options& o) {
                  longest(o);
                  o.fence_retention -= 1ms;
              }),
              wrong);
    EXPECT_EQ(with([](options& o) { o.fence_retention = longest_time; }), fine);
    EXPECT_EQ(with([](options& o) { o.fence_retention = longest_time + 1ms; }), wrong);
    EXPECT_EQ(with([](options& o) { o.node_timeout = -1ms; }), wrong);
    EXPECT_EQ(with([](options& o) { o.node_timeout = 1ms; }), fine);
    EXPECT_EQ(with([](options& o) { o.node_timeout = milliseconds::max(); }), wrong);
    EXPECT_EQ(with([](options& o) { o.connect_timeout = 0ms; }), wrong);
    EXPECT_EQ(with([](options& o) { o.connect_timeout = 1ms; }), fine);
    EXPECT_EQ(with([](options& o) { o.connect_timeout = milliseconds::max(); }), wrong);
    EXPECT_EQ(with([](options& o) { o.patience = -1ms; }), wrong);
    EXPECT_EQ(with([](options& o) { o.patience = 0ms; }), fine);
    EXPECT_EQ(with([](options& o) { o.patience = longest_time; }), fine);
    EXPECT_EQ(with([](options& o) { o.patience = milliseconds::max(); }), wrong);
    EXPECT_EQ(with([](options& o) { o.drift_per_mille = max_drift_per_mille; }), fine);
    EXPECT_EQ(with([](options& o) { o.drift_per_mille = max_drift_per_mille + 1; }), wrong);
    EXPECT_EQ(with([](options& o) { o.client_name = "two words"; }), wrong);
    EXPECT_EQ(with([](options& o) { o.client_name = "line\n"; }), wrong);
    EXPECT_EQ(with([](options& o) { o.client_name = ""; }), fine);
}

TEST_F(bad_input, an_empty_key_is_refused) {
    const auto error = refusal_of_key("");
    EXPECT_EQ(error.code, errc::invalid_key);
    EXPECT_EQ(error_of([&] { (void)client_.acquire(""); }).code, errc::invalid_key);
}

TEST_F(bad_input, keys_at_the_longest_length) {
    const std::string longest(max_key_bytes, 'k');
    {
        mutex one(client_, longest);
        ASSERT_TRUE(one.try_lock());
        EXPECT_TRUE(server_.exists(longest));
        one.unlock();
    }
    EXPECT_FALSE(server_.exists(longest));
    EXPECT_EQ(refusal_of_key(longest + "k").code, errc::invalid_key);
    EXPECT_EQ(refusal_of_key(std::string(1 << 20, 'k')).code, errc::invalid_key);
    auto settings = settings_for(server_.url());
    settings.prefix = "p";
    client prefixed(settings);
    EXPECT_EQ(error_of([&] { mutex one(prefixed, longest); }).code, errc::invalid_key);
    EXPECT_FALSE(error_of([&] { mutex one(prefixed, longest.substr(1)); }).code);
}

TEST_F(bad_input, any_byte_may_be_in_a_key) {
    using namespace std::string_literals;
    std::string all;
    for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
    for (const auto& key : {"a\0b"s, " "s, "two words"s, "{tag}rest"s, "{}"s, "{"s, "}"s, "}{"s,
                            "{a}{b}"s, "\r\n"s, "$5\r\nhello\r\n"s, "\xff\xfe"s, all}) {
        auto held = mutex(client_, key).acquire();
        EXPECT_EQ(server_.get(key), held.owner());
        EXPECT_TRUE(held.verify());
        EXPECT_FALSE(mutex(client_, key).try_acquire());
        EXPECT_EQ(held.release(), release_result::released);
        EXPECT_FALSE(server_.exists(key));
    }
}

TEST_F(bad_input, a_waiter_for_a_key_with_any_byte_is_told_too) {
    using namespace std::string_literals;
    const auto key = "a\0\r\n{ b"s;
    client other(server_.url());
    auto theirs = mutex(other, key).acquire();
    std::thread later([&] {
        EXPECT_TRUE(eventually(surely, [&] { return client_.statistics().denied > 0; }));
        theirs.release();
    });
    const stopwatch watch;
    EXPECT_TRUE(mutex(client_, key).try_acquire_for(surely));
    EXPECT_LT(watch.elapsed(), 1s * slowness);
    later.join();
}

TEST_F(bad_input, options_given_with_the_call_are_checked_too) {
    mutex one(client_, "k");
    EXPECT_EQ(error_of([&] { (void)one.try_acquire(with_ttl(1ms)); }).code, errc::invalid_option);
    std::error_code error;
    EXPECT_FALSE(one.try_acquire(with_ttl(1ms), error));
    EXPECT_EQ(error, errc::invalid_option);
    EXPECT_EQ(error_of([&] { client_.with_lock("k", with_ttl(1ms), [](lease&) {}); }).code,
              errc::invalid_option);
}

}  // namespace
}  // namespace holdfast::test
