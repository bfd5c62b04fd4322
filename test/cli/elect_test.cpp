#include <signal.h>

#include "support/fault_proxy.hpp"
#include "tool.hpp"

/// `elect`: a command that runs while it leads, and who watches that.
namespace holdfast::test {
namespace {

class elect : public tool_test {
  protected:
    /// Leads until its input ends.
    process candidate(const std::string& value, words more = {}) const {
        words all{"elect", "--value", value};
        all.insert(all.end(), more.begin(), more.end());
        all.insert(all.end(), {"scheduler", "--", "cat"});
        return start(all, redirect::pipe());
    }

    process watcher(words more = {}) const {
        words all{"elect", "--watch"};
        all.insert(all.end(), more.begin(), more.end());
        all.push_back("scheduler");
        return start(all);
    }

    [[nodiscard]] boost::json::object status() const {
        return json_of(holdfast({"status", "--json", "scheduler"}).out);
    }
    void wait_until_led_by(const std::string& value) const {
        EXPECT_TRUE(eventually(20s, [&] {
            const auto said = status();
            return said.contains("value") && said.at("value") == boost::json::value(value);
        }));
    }
    static bool says(const process& which, const std::string& part) {
        return eventually(20s, [&] { return contains(which.output(), part); });
    }
};

TEST_F(elect, one_runs_the_command_and_the_next_when_that_ends) {
    auto first = candidate("one");
    wait_until_led_by("one");
    auto second = candidate("two");
    EXPECT_TRUE(eventually(20s, [&] { return status().at("waiting") == 1; }));
    first.close_input();
    EXPECT_EQ(first.wait(20s), exit_status{});
    wait_until_led_by("two");
    second.close_input();
    EXPECT_EQ(second.wait(20s), exit_status{});
    EXPECT_FALSE(server_.exists("scheduler"));
    EXPECT_FALSE(server_.exists("holdfast:{scheduler}:leader"));
}

TEST_F(elect, exits_as_the_command_does_and_tells_it_the_term) {
    const auto result = holdfast({"elect", "scheduler", "--", "sh", "-c",
                                  "echo $HOLDFAST_KEY $HOLDFAST_TOKEN $HOLDFAST_HELD; exit 7"});
    EXPECT_EQ(result.exit_code, 7);
    EXPECT_TRUE(result.out.starts_with("scheduler 1")) << result.out;
    EXPECT_TRUE(result.out.ends_with(" 1\n")) << result.out;
    EXPECT_EQ(holdfast({"elect", "scheduler", "-c", "exit 3"}).exit_code, 3);
    EXPECT_EQ(holdfast({"elect", "scheduler", "--", "no-such-command-here"}).exit_code, 127);
}

TEST_F(elect, stops_the_command_before_anybody_else_can_lead_and_exits_79) {
    fault_proxy proxy(server_.port());
    auto leads = start({"elect", "--url", proxy.url(), "--ttl", "2s", "--kill-after", "500ms",
                        "scheduler", "--", "sleep", "60"});
    wait_until_held("scheduler");
    proxy.silence();
    EXPECT_EQ(leads.wait(20s).code, 79) << leads.error_output();
    EXPECT_TRUE(contains(leads.error_output(), "the lead of 'scheduler'")) << leads.error_output();
}

TEST_F(elect, resigns_when_a_signal_ends_it) {
    auto first = candidate("one");
    wait_until_led_by("one");
    first.kill(SIGTERM);
    (void)first.wait(20s);
    EXPECT_FALSE(server_.exists("scheduler"));
    auto waits = candidate("two");
    wait_until_led_by("two");
    auto third = candidate("three");
    EXPECT_TRUE(eventually(20s, [&] { return status().at("waiting") == 1; }));
    third.kill(SIGTERM);
    EXPECT_EQ(third.wait(20s).code, 128 + SIGTERM);
    EXPECT_TRUE(eventually(20s, [&] { return status().at("waiting") == 0; }));
}

TEST_F(elect, status_and_ls_show_the_leader_and_the_candidates) {
    auto first = candidate("10.0.0.7:80", {"--label", "boss"});
    wait_until_led_by("10.0.0.7:80");
    auto second = candidate("two");
    EXPECT_TRUE(eventually(20s, [&] { return status().at("waiting") == 1; }));
    const auto said = status();
    EXPECT_EQ(said.at("kind"), "election");
    EXPECT_EQ(said.at("term"), said.at("token"));
    EXPECT_TRUE(said.at("owner").as_string().starts_with("he1:"));
    EXPECT_EQ(said.at("waiters").as_array().at(0).at("kind"), "election");
    const auto shown = holdfast({"status", "scheduler"}).out;
    for (const char* part : {"kind", "election", "leader", "(boss)", "value", "10.0.0.7:80",
                             "candidates", "1. ", "term"}) {
        EXPECT_TRUE(contains(shown, part)) << part << " in\n" << shown;
    }
    const auto listed = json_of(holdfast({"ls", "--json"}).out);
    EXPECT_EQ(listed.at("kind"), "election");
    EXPECT_EQ(listed.at("value"), "10.0.0.7:80");
    EXPECT_EQ(listed.at("waiting"), 1);
    EXPECT_TRUE(contains(holdfast({"ls"}).out, "boss"));
}

TEST_F(elect, keeps_run_out_and_is_kept_out) {
    auto first = candidate("one");
    wait_until_led_by("one");
    EXPECT_EQ(holdfast({"run", "-n", "scheduler", "--", "true"}).exit_code, 75);
    EXPECT_EQ(holdfast({"run", "-s", "-n", "scheduler", "--", "true"}).exit_code, 75);
}

TEST_F(elect, watch_tells_who_leads_now_and_of_each_change) {
    auto watch = watcher();
    EXPECT_TRUE(says(watch, "nobody leads\n"));
    auto first = candidate("one");
    EXPECT_TRUE(says(watch, ": one\n"));
    first.close_input();
    EXPECT_TRUE(eventually(20s, [&] { return watch.output().ends_with("nobody leads\n"); }));
    EXPECT_EQ(watch.error_output(), "");
    watch.kill(SIGINT);
    const auto ended = watch.wait(20s);
    EXPECT_TRUE(ended.code == 128 + SIGINT || ended.signal == SIGINT) << to_string(ended);
    EXPECT_EQ(watch.error_output(), "");
}

TEST_F(elect, watch_starts_with_who_leads_and_knows_json) {
    auto first = candidate("one", {"--label", "boss"});
    wait_until_led_by("one");
    auto watch = watcher({"--json"});
    EXPECT_TRUE(says(watch, "\n"));
    const auto now = json_of(watch.output());
    EXPECT_EQ(now.at("key"), "scheduler");
    EXPECT_EQ(now.at("state"), "held");
    EXPECT_EQ(now.at("value"), "one");
    EXPECT_EQ(now.at("term"), status().at("term"));
    EXPECT_EQ(now.at("holder").at("label"), "boss");
    const auto before = watch.output().size();
    first.close_input();
    EXPECT_TRUE(eventually(20s, [&] { return watch.output().size() > before; }));
    EXPECT_EQ(watch.output().substr(before),
              "{\"key\":\"scheduler\",\"state\":\"free\",\"holder\":null,\"term\":null,"
              "\"value\":null}\n");
    watch.kill(SIGTERM);
    EXPECT_EQ(watch.wait(20s).code, 128 + SIGTERM);
}

TEST_F(elect, watch_tells_of_a_leader_that_crashed_when_its_lease_is_over) {
    auto first = candidate("one", {"--ttl", "2s", "--kill-after", "200ms"});
    wait_until_led_by("one");
    auto watch = watcher();
    EXPECT_TRUE(says(watch, ": one\n"));
    first.kill(SIGKILL);
    EXPECT_TRUE(says(watch, "nobody leads\n"));
}

TEST_F(elect, watch_says_once_that_the_server_is_away_and_goes_on) {
    fault_proxy proxy(server_.port());
    environment_["HOLDFAST_URL"] = proxy.url();
    auto watch = watcher();
    EXPECT_TRUE(says(watch, "nobody leads\n"));
    proxy.refuse(true);
    proxy.reset_connections();
    EXPECT_TRUE(eventually(20s, [&] { return contains(watch.error_output(), "is not known"); }));
    environment_["HOLDFAST_URL"] = server_.url();
    auto first = candidate("one");
    wait_until_led_by("one");
    proxy.refuse(false);
    EXPECT_TRUE(says(watch, ": one\n"));
    const auto said = watch.error_output();
    EXPECT_EQ(said.find("is not known"), said.rfind("is not known")) << said;
}

TEST_F(elect, watch_needs_a_server_to_begin_with) {
    const auto result = holdfast({"elect", "--url", "redis://127.0.0.1:1", "--watch", "x"});
    EXPECT_EQ(result.exit_code, 69);
    EXPECT_EQ(result.out, "");
}

TEST_F(elect, is_understood_or_answered_with_what_is_wrong) {
    for (const auto& [arguments, answer] :
         {std::pair{words{"elect"}, "which NAME?"},
          {words{"elect", "x"}, "which COMMAND?"},
          {words{"elect", "--watch"}, "which NAME?"},
          {words{"elect", "--watch", "x", "--", "true"}, "--watch runs no COMMAND"},
          {words{"elect", "--watch", "-c", "true", "x"}, "--watch runs no COMMAND"},
          {words{"elect", "--json", "x", "--", "true"}, "--json goes with --watch"},
          {words{"elect", "--watch", "--value", "y", "x"}, "--watch does not lead"},
          {words{"elect", "--watch", "--ttl", "5s", "x"}, "--watch does not lead"},
          {words{"elect", "x", "--value", "y"}, "options end at the NAME"},
          {words{"elect", "--ttl", "1s", "--kill-after", "2s", "x", "true"}, "elect: --ttl 1s"},
          {words{"elect", "--value", std::string(5000, 'x'), "x", "true"}, "--value"}}) {
        const auto result = holdfast(arguments);
        EXPECT_EQ(result.exit_code, 64) << result.err;
        EXPECT_TRUE(contains(result.err, answer)) << result.err;
    }
    EXPECT_TRUE(contains(holdfast({"help", "elect"}).out, "--watch"));
}

TEST_F(elect, another_kind_at_the_key_is_exit_76_and_nothing_is_changed) {
    server_.command({"RPUSH", "holdfast:{scheduler}:leader", "theirs"});
    const auto result = holdfast({"elect", "scheduler", "--", "true"});
    EXPECT_EQ(result.exit_code, 76) << result.err;
    EXPECT_TRUE(contains(result.err, "holdfast:{scheduler}:leader")) << result.err;
    EXPECT_FALSE(server_.exists("scheduler"));
}

}  // namespace
}  // namespace holdfast::test
