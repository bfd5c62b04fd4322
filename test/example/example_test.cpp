#include <gtest/gtest.h>

#include <chrono>
#include <iterator>
#include <map>
#include <regex>
#include <string>

#include "support/process.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

std::string program(const std::string& name) { return EXAMPLE_DIRECTORY "/" + name; }

process_options start(const std::string& name, const std::string& url) {
    return {.arguments = {program(name), url},
            .output = redirect::capture(),
            .error = redirect::capture()};
}

/// How often `pattern` occurs in what a program printed.
std::ptrdiff_t count(const std::string& text, const std::string& pattern) {
    const std::regex wanted{pattern};
    return std::distance(std::sregex_iterator{text.begin(), text.end(), wanted},
                         std::sregex_iterator{});
}

/// Runs an example against a server of its own, and expects that it found everything right.
class example : public testing::Test {
  protected:
    std::string run(const std::string& name) {
        const auto result = run_command({program(name), server.url()});
        EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
        EXPECT_EQ(result.err, "");
        return result.out;
    }

    redis_server server;
};

TEST_F(example, minimal_locks_writes_and_leaves_nothing_locked) {
    const auto said = run("minimal");
    EXPECT_EQ(count(said, "locked\n"), 1) << said;
    EXPECT_EQ(count(said, "write row [123] with fencing token [1-9][0-9]*\n"), 3) << said;
    EXPECT_FALSE(server.exists("orders:42"));
}

TEST_F(example, minimal_waits_until_another_holder_lets_go) {
    server.command({"SET", "orders:42", "somebody else", "PX", "60000"});
    process sample{start("minimal", server.url())};
    EXPECT_FALSE(sample.wait_for(300ms).has_value()) << sample.output();
    server.command({"DEL", "orders:42"});
    EXPECT_EQ(sample.wait(20s), exit_status{}) << sample.error_output();
    EXPECT_EQ(count(sample.output(), "locked\n"), 1);
}

TEST_F(example, lottery_is_drawn_by_one_process_and_the_others_know_by_which) {
    const auto said = run("lottery");
    EXPECT_EQ(count(said, "drawing, with fencing token"), 1) << said;
    EXPECT_EQ(count(said, "has drawn\n"), 4) << said;
    EXPECT_EQ(count(said, "drawn 1 times; winners:( [0-9]+){10}\n"), 1) << said;
}

TEST_F(example, fencing_refuses_the_write_of_a_holder_that_slept) {
    const auto said = run("fencing");
    EXPECT_EQ(count(said, "the second holder writes with token [0-9]+: accepted"), 1) << said;
    EXPECT_EQ(count(said, "wakes up; lost: true"), 1) << said;
    EXPECT_EQ(count(said, "the first holder writes with token [0-9]+: refused"), 1) << said;
    EXPECT_EQ(count(said, "stored: what the second holder wrote"), 1) << said;
}

TEST_F(example, coroutine_loses_no_update_and_gives_up_in_time) {
    const auto said = run("coroutine");
    EXPECT_EQ(count(said, "worker [1-4] is done"), 4) << said;
    EXPECT_EQ(count(said, "balance: 20 of 20"), 1) << said;
    EXPECT_EQ(count(said, "gave up after 100 ms"), 1) << said;
    EXPECT_FALSE(server.exists("example:coroutine"));
}

TEST_F(example, shared_reads_with_others_and_writes_alone) {
    const auto said = run("shared");
    EXPECT_EQ(count(said, "write with fencing token [1-9][0-9]*\n"), 1) << said;
    EXPECT_EQ(count(said, "read what was written, with others\n"), 1) << said;
    EXPECT_EQ(count(said, "nobody writes meanwhile\n"), 1) << said;
    EXPECT_FALSE(server.exists("catalogue"));
}

TEST_F(example, semaphore_gives_every_worker_one_of_three_licences) {
    const auto said = run("semaphore");
    EXPECT_EQ(count(said, "worker [1-6] has licence [012]\\n"), 6) << said;
}

TEST_F(example, several_moves_money_between_two_accounts) {
    const auto said = run("several");
    EXPECT_EQ(count(said, "both accounts, fencing token [1-9][0-9]*\n"), 1) << said;
    EXPECT_EQ(count(said, "account:(17|42) is held\n"), 2) << said;
    EXPECT_FALSE(server.exists("account:17"));
    EXPECT_FALSE(server.exists("account:42"));
}

TEST_F(example, election_leads_is_observed_and_resigns) {
    const auto said = run("election");
    EXPECT_EQ(count(said, "leading in term [1-9][0-9]*\n"), 1) << said;
    EXPECT_EQ(count(said, "observer: nobody leads\n"), 2) << said;
    EXPECT_EQ(count(said, "observer: 10.0.0.7:8080 leads\n"), 1) << said;
    EXPECT_FALSE(server.exists("scheduler"));
}

TEST_F(example, latch_opens_when_all_shards_are_loaded) {
    const auto said = run("latch");
    EXPECT_EQ(count(said, "shard [123] loaded\n"), 3) << said;
    EXPECT_TRUE(said.ends_with("all loaded: open for business\n")) << said;
}

TEST_F(example, without_a_server_fails_and_says_where_it_looked) {
    server.stop();
    std::map<std::string, process> running;
    for (const std::string name :
         {"minimal", "lottery", "fencing", "coroutine", "shared", "several", "election", "latch"}) {
        running.emplace(name, start(name, server.url()));
    }
    for (auto& [name, one] : running) {
        EXPECT_EQ(one.wait(60s), exit_status{.code = 1}) << name;
        const auto address = "127.0.0.1:" + std::to_string(server.port());
        EXPECT_NE((one.output() + one.error_output()).find(address), std::string::npos)
            << name << ": " << one.output() << one.error_output();
    }
}

}  // namespace
}  // namespace holdfast::test
