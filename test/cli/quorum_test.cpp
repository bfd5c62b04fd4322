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

// A server that forgot waits for max_ttl, and no longer.
TEST_F(quorum, refuses_a_ttl_above_max_ttl_and_says_where_to_set_it) {
    for (const auto& refused : {holdfast("lock", {"--ttl", "10m", "key"}),
                                holdfast("run", {"--ttl", "10m", "key", "true"})}) {
        EXPECT_EQ(refused.exit_code, 64) << refused.err;
        EXPECT_NE(refused.err.find("max_ttl in the URL"), std::string::npos) << refused.err;
    }
    EXPECT_FALSE(servers_.front().exists("key"));
}

TEST_F(quorum, refuses_another_max_ttl_than_its_clients_agreed_on_as_configuration) {
    for (words arguments :
         {words{"lock", "--ttl", "10m", "key"}, words{"run", "-n", "key", "true"},
          words{"renew", "--owner", "x", "key"}, words{"enlist"}, words{"doctor"}}) {
        for (const redis_server& server : servers_) {
            arguments.insert(arguments.begin() + 1, {"--url", server.url() + "?max_ttl=10m"});
        }
        const auto refused = run_command(holdfast_with(arguments));
        EXPECT_EQ(refused.exit_code, 78) << arguments.front() << refused.err;
        if (arguments.front() == "doctor") continue;
        EXPECT_TRUE(contains(refused.err, "agreed on a max_ttl of 1m, and this one has 10m"))
            << refused.err;
        EXPECT_TRUE(contains(refused.err, "holdfast enlist --fresh")) << refused.err;
        EXPECT_FALSE(contains(refused.err, "unreachable")) << refused.err;
    }
}

TEST_F(quorum, calls_nobody_the_holder_of_what_a_minority_has) {
    ASSERT_EQ(holdfast("lock", {"--label", "night shift", "key"}).exit_code, 0);
    ASSERT_TRUE(eventually(10s, [&] { return servers_[0].exists("key"); }));
    const auto all = holdfast("ls", {});
    EXPECT_TRUE(contains(all.out, "VOTES")) << all.out;
    for (const std::size_t n : {1U, 2U}) servers_[n].command({"DEL", "key"});
    const auto shown = status();
    EXPECT_EQ(shown.at("state"), "free");
    EXPECT_EQ(shown.at("votes"), 1);
    for (const char* field : {"owner", "holder", "ttl_ms"}) {
        EXPECT_TRUE(shown.at(field).is_null()) << field;
    }
    const auto text = holdfast("status", {"key"}).out;
    EXPECT_FALSE(contains(text, "holder")) << text;
    EXPECT_TRUE(contains(text, "1 of 3 servers has it for ")) << text;
    EXPECT_TRUE(contains(text, "(night shift), its lease runs another ")) << text;
    const auto listed = holdfast("ls", {}).out;
    EXPECT_TRUE(contains(listed, "1 of 3")) << listed;
}

TEST_F(quorum, has_no_order_of_arrival_to_be_fair_by) {
    const auto result = holdfast("run", {"--fair", "key", "true"});
    EXPECT_EQ(result.exit_code, 64);
    EXPECT_TRUE(contains(result.err, "one server")) << result.err;
}

TEST_F(quorum, names_the_servers_that_it_enlists) {
    const auto result = holdfast("enlist", {});
    std::string expected;
    for (const redis_server& server : servers_) {
        expected += "127.0.0.1:" + std::to_string(server.port()) + ": votes\n";
    }
    EXPECT_EQ(result.out, expected);
}

TEST_F(quorum, keeps_the_lock_for_at_least_longer_than_max_ttl_after_a_signal) {
    const scratch_directory scratch{"quorum"};
    auto holder = start({"--at-least", "5m", "key", "sh", "-c",
                         "echo $$ >'" + (scratch / "pid").native() + "'; exec sleep 60"});
    process_in(scratch / "pid");
    holder.kill(SIGTERM);
    EXPECT_EQ(holder.wait(10s).code, 143) << holder.error_output();
    for (const redis_server& server : servers_) EXPECT_GT(server.pttl("key"), 280'000);
}

TEST_F(quorum, out_of_reach_is_not_called_quarantine) {
    servers_[1].kill_hard();
    servers_[2].kill_hard();
    servers_[0].command({"FLUSHALL"});
    const auto result = holdfast("run", {"-n", "key", "true"});
    EXPECT_EQ(result.exit_code, 69);
    EXPECT_TRUE(contains(result.err, "no majority of 3 servers")) << result.err;
    const auto name = "127.0.0.1:" + std::to_string(servers_[1].port());
    EXPECT_TRUE(contains(result.err, name + ": ")) << result.err;
    EXPECT_FALSE(contains(result.err, "quarantine")) << result.err;
}

TEST_F(quorum, names_every_server_that_could_not_be_enlisted) {
    servers_[0].kill_hard();
    servers_[2].kill_hard();
    const auto result = holdfast("enlist", {});
    EXPECT_EQ(result.exit_code, 69);
    for (const std::size_t n : {0U, 2U}) {
        const auto name = "127.0.0.1:" + std::to_string(servers_[n].port()) + " was not enlisted";
        EXPECT_TRUE(contains(result.err, name)) << result.err;
    }
    EXPECT_FALSE(contains(result.err, "unreachable: server unreachable")) << result.err;
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

TEST_F(quorum, with_one_server_named_twice_names_the_two_names_and_once) {
    const std::string port = std::to_string(servers_[0].port());
    const auto result = run_command(
        holdfast_with({"run", "-n", "--url", servers_[1].url(), "--url", servers_[0].url(), "--url",
                       "redis://localhost:" + port, "key", "true"}));
    EXPECT_EQ(result.exit_code, 78) << result.err;
    EXPECT_TRUE(contains(result.err, "no majority of 3 servers: 127.0.0.1:" + port +
                                         " and localhost:" + port + " are the same server; "))
        << result.err;
    EXPECT_EQ(result.err.find("same server"), result.err.rfind("same server")) << result.err;
    EXPECT_FALSE(contains(result.err, std::to_string(servers_[1].port()))) << result.err;
}

TEST_F(quorum, of_an_even_number_is_refused) {
    const auto result = run_command(holdfast_with(
        {"run", "--url", servers_[0].url(), "--url", servers_[1].url(), "key", "true"}));
    EXPECT_EQ(result.exit_code, 64) << result.err;
}

}  // namespace
}  // namespace holdfast::test
