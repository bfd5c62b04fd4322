#include <signal.h>

#include <deque>

#include "tool.hpp"

namespace holdfast::test {
namespace {

/// Three independent servers that have been vouched for, each named by a --url of its own.
class quorum : public testing::Test {
  protected:
    quorum() {
        const auto enlisted = holdfast("enlist", {"--fresh"});
        EXPECT_EQ(enlisted.exit_code, 0) << enlisted.err;
    }

    words with_urls(const std::string& command, const words& rest) const {
        words arguments{command};
        for (const redis_server& server : servers_) {
            arguments.insert(arguments.end(), {"--url", server.url()});
        }
        arguments.insert(arguments.end(), rest.begin(), rest.end());
        return holdfast_with(arguments);
    }

    command_result holdfast(const std::string& command, const words& rest) const {
        return run_command(with_urls(command, rest));
    }

    process start(const words& rest) const {
        process_options options;
        options.arguments = with_urls("run", rest);
        options.output = redirect::capture();
        options.error = redirect::capture();
        return process(options);
    }

    boost::json::object status() const {
        return json_of(holdfast("status", {"--json", "key"}).out);
    }

    std::deque<redis_server> servers_{3};
};

TEST_F(quorum, of_repeated_urls_votes_on_every_server) {
    auto holder = start({"key", "sleep", "60"});
    for (const redis_server& server : servers_) {
        EXPECT_TRUE(eventually(10s, [&] { return server.exists("key"); }));
    }
    EXPECT_EQ(status().at("votes"), 3);
    EXPECT_EQ(status().at("nodes"), 3);
    EXPECT_EQ(holdfast("run", {"-n", "key", "true"}).exit_code, 75);
}

TEST_F(quorum, is_released_on_every_server) {
    EXPECT_EQ(holdfast("run", {"key", "true"}).exit_code, 0);
    for (const redis_server& server : servers_) EXPECT_FALSE(server.exists("key"));
}

TEST_F(quorum, comes_from_one_variable_with_spaces_too) {
    command_options how;
    for (const redis_server& server : servers_)
        how.environment["HOLDFAST_URL"] += server.url() + " ";
    EXPECT_EQ(run_command(holdfast_with({"lock", "key"}), how).exit_code, 0);
    EXPECT_GE(status().at("votes").as_int64(), 2);  // it does not wait for the third
}

TEST_F(quorum, keeps_the_lock_when_a_minority_dies_and_no_longer) {
    auto holder =
        start({"--ttl", "3s", "--kill-after", "500ms", "key", "--", "sh", "-c", "sleep 60"});
    ASSERT_TRUE(eventually(10s, [&] { return servers_[2].exists("key"); }));
    servers_[0].kill_hard();
    EXPECT_FALSE(holder.wait_for(4s)) << holder.error_output();
    EXPECT_EQ(holdfast("run", {"-n", "key", "true"}).exit_code, 75);
    servers_[1].kill_hard();
    EXPECT_EQ(holder.wait(20s).code, 79) << holder.error_output();
    EXPECT_EQ(holdfast("run", {"-n", "key", "true"}).exit_code, 69);
}

TEST_F(quorum, of_an_even_number_is_refused) {
    const auto result = run_command(holdfast_with(
        {"run", "--url", servers_[0].url(), "--url", servers_[1].url(), "key", "true"}));
    EXPECT_EQ(result.exit_code, 64) << result.err;
}

}  // namespace
}  // namespace holdfast::test
