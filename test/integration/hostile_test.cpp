#include <fstream>

#include "integration/fake_redis.hpp"
#include "integration/library.hpp"

/// Servers that are none, or not what they should be. Nothing of it may hang, crash or be taken
/// for a lock; the message says what was there.
namespace holdfast::test {
namespace {

options hurried(const std::string& url) {
    auto settings = settings_for(url);
    settings.connect_timeout = 200ms;
    settings.node_timeout = 200ms;
    settings.patience = 200ms;
    return settings;
}

/// What a lock on it throws, and that it takes no longer than the limits allow.
thrown_error failure_on(const hostile_server& server) {
    client through(hurried(server.url()));
    const stopwatch watch;
    auto error = error_of([&] { mutex(through, "k").lock(); });
    EXPECT_LT(watch.elapsed(), 800ms + promptly);
    EXPECT_TRUE(contains(error.what, "127.0.0.1:" + std::to_string(server.port()))) << error.what;
    return error;
}

TEST(hostile_test, garbage_is_not_a_redis) {
    const auto error = failure_on(hostile_server(hostile::garbage()));
    EXPECT_EQ(error.code, errc::protocol) << error.what;
}

TEST(hostile_test, a_web_server_is_not_a_redis) {
    const auto error = failure_on(hostile_server(hostile::web_server()));
    EXPECT_EQ(error.code, errc::protocol) << error.what;
    EXPECT_TRUE(contains(error.what, "not a Redis")) << error.what;
}

TEST(hostile_test, a_server_that_agrees_to_everything_is_not_a_redis) {
    const auto error = failure_on(hostile_server(hostile::always("+OK\r\n")));
    EXPECT_EQ(error.code, errc::protocol) << error.what;
}

TEST(hostile_test, a_server_that_never_answers_is_unreachable) {
    const auto error = failure_on(hostile_server(hostile::silent()));
    EXPECT_EQ(error.code, errc::unreachable) << error.what;
    EXPECT_TRUE(contains(error.what, "no answer")) << error.what;
}

TEST(hostile_test, a_server_that_closes_at_once_is_unreachable) {
    const auto error = failure_on(hostile_server(hostile::closes_at_once()));
    EXPECT_EQ(error.code, errc::unreachable) << error.what;
    EXPECT_TRUE(contains(error.what, "closed") || contains(error.what, "reset")) << error.what;
}

TEST(hostile_test, a_server_that_closes_in_the_middle_of_its_greeting_is_unreachable) {
    const auto error =
        failure_on(hostile_server(hostile::closes_in_mid_reply("%1\r\n$6\r\nserver\r\n", 9)));
    EXPECT_EQ(error.code, errc::unreachable) << error.what;
}

TEST(hostile_test, a_greeting_that_trickles_is_bounded_by_the_connect_timeout) {
    const auto error = failure_on(hostile_server(hostile::trickles("+OK\r\n", 1s)));
    EXPECT_EQ(error.code, errc::unreachable) << error.what;
}

std::size_t resident_kilobytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6));
    }
    return 0;
}

TEST(hostile_test, a_header_that_claims_gigabytes_costs_no_memory) {
    const auto before = resident_kilobytes();
    const auto error = failure_on(hostile_server(hostile::claims_huge_bulk()));
    EXPECT_EQ(error.code, errc::protocol) << error.what;
    EXPECT_LT(resident_kilobytes(), before + 64 * 1024);
}

TEST(hostile_test, a_header_within_the_limits_costs_no_memory_either) {
    const auto before = resident_kilobytes();
    const auto error = failure_on(hostile_server(hostile::always("$16000000\r\n")));
    EXPECT_EQ(error.code, errc::unreachable) << error.what;
    EXPECT_LT(resident_kilobytes(), before + 64 * 1024);
}

TEST(hostile_test, an_answer_that_no_script_gives_is_a_protocol_error) {
    for (const auto* answer :
         {":1\r\n", "+OK\r\n", "*0\r\n", "*1\r\n:1\r\n", "*2\r\n:1\r\n:-5\r\n",
          "*2\r\n:9\r\n:1\r\n", "*2\r\n+1\r\n+1\r\n", "*3\r\n:0\r\n*0\r\n:5\r\n",
          "*3\r\n:0\r\n$1\r\nx\r\n$1\r\ny\r\n", "$-1\r\n", "*-1\r\n", "*2\r\n:2\r\n*0\r\n"}) {
        const auto error = failure_on(hostile_server(fake_redis(answer)));
        EXPECT_EQ(error.code, errc::protocol) << answer << error.what;
    }
}

TEST(hostile_test, garbage_after_the_handshake_is_a_protocol_error) {
    const auto error = failure_on(hostile_server(fake_redis("hello world\r\n")));
    EXPECT_EQ(error.code, errc::protocol) << error.what;
}

TEST(hostile_test, an_error_of_the_server_is_passed_on) {
    const auto error = failure_on(hostile_server(fake_redis("-OOM no more memory for you\r\n")));
    EXPECT_EQ(error.code, errc::server_error) << error.what;
    EXPECT_TRUE(contains(error.what, "no more memory for you")) << error.what;
}

TEST(hostile_test, an_error_with_control_characters_stays_on_its_line) {
    const auto error = failure_on(hostile_server(fake_redis("-ERR a\x1b[31m\tb\r\n")));
    EXPECT_FALSE(contains(error.what, "\x1b")) << error.what;
}

TEST(hostile_test, two_answers_to_one_request_break_the_connection) {
    const hostile_server server(fake_redis("*2\r\n:1\r\n:7\r\n*2\r\n:1\r\n:8\r\n"));
    client through(hurried(server.url()));
    const auto first = mutex(through, "k").try_acquire();
    EXPECT_TRUE(eventually(surely, [&] { return server.open_connections() <= 1; }));
    EXPECT_TRUE(first);
}

TEST(hostile_test, silence_after_the_handshake_is_unreachable) {
    const auto error = failure_on(hostile_server(fake_redis("")));
    EXPECT_EQ(error.code, errc::unreachable) << error.what;
    // Which of the two limits comes first depends on how long the connection took.
    EXPECT_TRUE(contains(error.what, "no answer in time") || contains(error.what, "silent"))
        << error.what;
}

TEST(hostile_test, what_was_asked_for_but_never_answered_is_released) {
    const hostile_server server(fake_redis(""));
    client through(hurried(server.url()));
    EXPECT_TRUE(error_of([&] { (void)mutex(through, "precious").try_acquire(); }).code);
    const auto sent = server.received();
    const auto asked = sent.find("precious");
    ASSERT_NE(asked, sent.npos);
    const auto owner = sent.substr(sent.find("hf1:"), 44);
    EXPECT_TRUE(eventually(promptly, [&] {
        const auto now = server.received();
        return now.rfind(owner) != now.find(owner);
    })) << "no release followed";
}

TEST(hostile_test, a_connection_cut_in_the_middle_of_a_grant_is_cleaned_up_after) {
    std::vector<hostile_behaviour> lives;
    lives.push_back(fake_redis("*2\r\n:1\r\n:7\r\n"));
    lives.back().close_after = 85;  // the handshake's answers, and a piece of the grant
    lives.push_back(fake_redis(":1\r\n"));
    const hostile_server server(lives);
    client through(hurried(server.url()));
    EXPECT_TRUE(error_of([&] { (void)mutex(through, "k").try_acquire(); }).code);
    EXPECT_TRUE(eventually(surely, [&] { return contains(server.received(1), "hf1:"); }))
        << "a node whose connection broke gets the release after the reconnect";
}

}  // namespace
}  // namespace holdfast::test
