#include <sstream>

#include "tool.hpp"

/// Who stands in line, as the command shows it. The entries are written by the test.
namespace holdfast::test {
namespace {

class waiters : public tool_test {
  protected:
    static std::string owner(const std::string& who, const std::string& label = {}) {
        return "hf1:" + std::string(40, 'c') + ":" + who + ":" + label;
    }

    void append(const std::string& entry, const std::string& key = "key") const {
        server_.command({"RPUSH", "holdfast:{" + key + "}:queue", entry});
    }

    /// Somebody who has waited for so long by the server's clock.
    void stand_in_line(const std::string& whose, std::chrono::seconds waited) const {
        const auto now = std::stoll(server_.query({"TIME"}).elements.at(0).text);
        append("- " + std::to_string((now - waited.count()) * 1'000'000) + " " + whose);
    }

    boost::json::object status_of(const std::string& key = "key") const {
        return json_of(holdfast({"status", "--json", key}).out);
    }

    /// As a guest, who may not do these.
    command_result without(const words& rights, words arguments) const {
        words command{"ACL", "SETUSER", "guest", "reset", "on", "nopass", "~*", "+@all"};
        command.insert(command.end(), rights.begin(), rights.end());
        server_.command(command);
        arguments.insert(arguments.end(), {"--user", "guest"});
        return holdfast(arguments, {.environment = {{"REDISCLI_AUTH", "x"}}});
    }
};

TEST_F(waiters, are_listed_in_order_with_how_long_they_have_waited) {
    ASSERT_EQ(holdfast({"lock", "key"}).exit_code, 0);
    stand_in_line(owner("anna@web1:11", "nightly"), 95s);
    stand_in_line(owner("bob@web2:22"), 40s);
    append("- 0 " + owner("carl@web3:33"));
    const auto shown = holdfast({"status", "key"}).out;
    EXPECT_TRUE(contains(shown, "\nwaiting  1. anna@web1, process 11 (nightly), for 1m3")) << shown;
    EXPECT_TRUE(contains(shown, "\n         2. bob@web2, process 22, for 4")) << shown;
    EXPECT_TRUE(contains(shown, "\n         3. carl@web3, process 33\n")) << shown;
    EXPECT_FALSE(contains(shown, std::string(40, 'c'))) << "no owner token: " << shown;
}

TEST_F(waiters, are_objects_with_the_fields_of_a_holder_in_json) {
    ASSERT_EQ(holdfast({"lock", "key"}).exit_code, 0);
    stand_in_line(owner("anna@web1:11", "nightly"), 95s);
    append("- 0 " + owner("bob@web2:22"));
    const auto said = status_of();
    EXPECT_EQ(said.at("waiting"), 2);
    const auto& all = said.at("waiters").as_array();
    ASSERT_EQ(all.size(), 2U);
    const auto& first = all.at(0).as_object();
    EXPECT_EQ(first.size(), 5U);
    EXPECT_EQ(first.at("host"), "web1");
    EXPECT_EQ(first.at("pid"), 11);
    EXPECT_EQ(first.at("user"), "anna");
    EXPECT_EQ(first.at("label"), "nightly");
    EXPECT_GE(first.at("since_ms").as_int64(), 95'000);
    EXPECT_LT(first.at("since_ms").as_int64(), 125'000);
    EXPECT_EQ(all.at(1).at("host"), "web2");
    EXPECT_TRUE(all.at(1).at("since_ms").is_null());
}

TEST_F(waiters, are_none_where_nobody_waits) {
    ASSERT_EQ(holdfast({"lock", "key"}).exit_code, 0);
    EXPECT_EQ(status_of().at("waiting"), 0);
    EXPECT_TRUE(status_of().at("waiters").as_array().empty());
    EXPECT_FALSE(contains(holdfast({"status", "key"}).out, "waiting"));
}

TEST_F(waiters, of_a_free_lock_are_shown) {
    append("- 0 " + owner("anna@web1:11"));
    EXPECT_EQ(status_of().at("state"), "free");
    EXPECT_EQ(status_of().at("waiters").as_array().size(), 1U);
    const auto shown = holdfast({"status", "key"}).out;
    EXPECT_TRUE(contains(shown, "state    free\nwaiting  1. anna@web1, process 11\n")) << shown;
    EXPECT_EQ(holdfast({"status", "-q", "key"}).exit_code, 1);
}

TEST_F(waiters, beyond_twenty_are_counted_for_people_and_told_in_json) {
    for (int n = 1; n <= 23; ++n) append("- 0 " + owner("anna@web1:" + std::to_string(n)));
    const auto shown = holdfast({"status", "key"}).out;
    EXPECT_TRUE(contains(shown, "\n         20. anna@web1, process 20\n         and 3 more\n"))
        << shown;
    EXPECT_FALSE(contains(shown, "process 21")) << shown;
    EXPECT_EQ(status_of().at("waiters").as_array().size(), 23U);
}

TEST_F(waiters, that_are_none_of_ours_are_shown_as_such) {
    append("\x1b[31mgarbage");
    append("- 0 another-library");
    append("- 0 " + owner("anna@web1:11", "\x1b[2J"));
    const auto result = holdfast({"status", "key"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(contains(result.out, "\nwaiting  1. not known: ")) << result.out;
    EXPECT_TRUE(contains(result.out, "\n         2. not known: ")) << result.out;
    EXPECT_TRUE(contains(result.out, "\n         3. anna@web1, ")) << result.out;
    EXPECT_EQ(result.out.find('\x1b'), std::string::npos) << result.out;
    const auto said = status_of();
    const auto& first = said.at("waiters").as_array().at(0).as_object();
    EXPECT_EQ(first.size(), 5U);
    for (const auto& field : first) EXPECT_TRUE(field.value().is_null()) << field.key();
}

TEST_F(waiters, are_not_known_where_something_else_is_at_the_key_of_the_queue) {
    ASSERT_EQ(holdfast({"lock", "key"}).exit_code, 0);
    server_.command({"SET", "holdfast:{key}:queue", "x"});
    EXPECT_EQ(status_of().at("state"), "held");
    EXPECT_TRUE(status_of().at("waiters").is_null());
    EXPECT_TRUE(status_of().at("waiting").is_null());
    const auto shown = holdfast({"status", "key"}).out;
    EXPECT_TRUE(contains(
        shown, "\nwaiting  who is not known: what is at holdfast:{key}:queue is no queue\n"))
        << shown;
}

TEST_F(waiters, are_not_known_to_whom_the_acl_forbids_to_look) {
    ASSERT_EQ(holdfast({"lock", "key"}).exit_code, 0);
    append("- 0 " + owner("anna@web1:11"));
    const auto status = without({"-lrange", "-llen"}, {"status", "key"});
    EXPECT_EQ(status.exit_code, 0) << status.err;
    EXPECT_TRUE(contains(status.out, "state    held\n")) << status.out;
    EXPECT_TRUE(contains(status.out, "\nwaiting  who is not known: ")) << status.out;
    const auto counted = without({"-lrange"}, {"status", "key"}).out;
    EXPECT_TRUE(contains(counted, "\nwaiting  1\n         who is not known: ")) << counted;
    const auto listed = without({"-llen"}, {"ls"});
    EXPECT_EQ(listed.exit_code, 0) << listed.err;
    EXPECT_TRUE(listed.out.ends_with("  ?\n")) << listed.out;
    EXPECT_TRUE(json_of(without({"-llen"}, {"ls", "--json"}).out).at("waiting").is_null());
}

TEST_F(waiters, are_counted_by_ls_in_a_last_column_where_there_are_any) {
    ASSERT_EQ(holdfast({"lock", "--label", "nightly", "key"}).exit_code, 0);
    ASSERT_EQ(holdfast({"lock", "other"}).exit_code, 0);
    const auto before = holdfast({"ls"}).out;
    EXPECT_EQ(before.substr(before.find("LEASE")).find("WAITING"), std::string::npos) << before;
    for (int n = 0; n < 3; ++n) append("- 0 " + owner("anna@web1:11"));
    append("- 0 " + owner("anna@web1:11"), "nobody-holds-it");
    std::istringstream lines(holdfast({"ls"}).out);
    words all;
    for (std::string line; std::getline(lines, line);) all.push_back(line);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_TRUE(all[0].starts_with("KEY  ") && all[0].ends_with("  LABEL    WAITING")) << all[0];
    EXPECT_TRUE(all[1].starts_with("key  ") && all[1].ends_with("  nightly  3")) << all[1];
    EXPECT_TRUE(all[2].starts_with("other  ") && all[2].ends_with("  0")) << all[2];
}

TEST_F(waiters, are_counted_by_ls_in_json) {
    ASSERT_EQ(holdfast({"lock", "key"}).exit_code, 0);
    for (int n = 0; n < 3; ++n) append("- 0 " + owner("anna@web1:11"));
    const auto said = json_of(holdfast({"ls", "--json"}).out);
    EXPECT_EQ(said.at("waiting"), 3);
    EXPECT_FALSE(said.contains("waiters"));
}

TEST_F(waiters, are_told_which_place_in_line_they_have) {
    const auto taken = holdfast({"lock", "key"});
    ASSERT_EQ(taken.exit_code, 0);
    append("- 0 " + owner("anna@web1:11"));
    append("garbage");
    auto waiter = start({"run", "-v", "-w", "2500ms", "key", "true"});
    EXPECT_EQ(waiter.wait(10s).code, 75);
    const auto said = waiter.error_output();
    EXPECT_TRUE(contains(said, "waiting for 'key': held by ")) << said;
    EXPECT_TRUE(contains(said, "; its lease runs another ")) << said;
    EXPECT_TRUE(contains(said, "; 3rd in line\n")) << said;
}

TEST_F(waiters, who_really_wait_are_shown_while_they_do_and_gone_when_they_are_stopped) {
    ASSERT_EQ(holdfast({"lock", "key"}).exit_code, 0);
    auto first = start({"run", "--label", "one", "key", "true"});
    ASSERT_TRUE(eventually(10s, [&] { return status_of().at("waiting") == 1; }));
    auto second = start({"run", "--fair", "--label", "two", "key", "true"});
    ASSERT_TRUE(eventually(10s, [&] { return status_of().at("waiting") == 2; }));
    const auto said = status_of();
    const auto& all = said.at("waiters").as_array();
    EXPECT_EQ(all.at(0).at("label"), "one");
    EXPECT_EQ(all.at(0).at("pid"), first.id());
    EXPECT_EQ(all.at(1).at("label"), "two");
    EXPECT_GE(all.at(0).at("since_ms").as_int64(), all.at(1).at("since_ms").as_int64());
    first.kill(SIGINT);
    EXPECT_EQ(first.wait(10s).code, 130);
    EXPECT_TRUE(eventually(10s, [&] { return status_of().at("waiting") == 1; }));
    second.kill(SIGTERM);
    EXPECT_EQ(second.wait(10s).code, 143);
    EXPECT_TRUE(eventually(10s, [&] { return status_of().at("waiting") == 0; }));
}

TEST_F(waiters, come_before_who_does_not_wait) {
    const auto taken = holdfast({"lock", "key"});
    auto waiter = start({"run", "--label", "first", "key", "sleep", "1"});
    ASSERT_TRUE(eventually(10s, [&] { return status_of().at("waiting") == 1; }));
    const auto owner = taken.out.substr(0, taken.out.find('\n'));
    ASSERT_EQ(holdfast({"unlock", "--owner", owner, "key"}).exit_code, 0);
    const auto tried = holdfast({"run", "-n", "-v", "key", "true"});
    EXPECT_EQ(tried.exit_code, 75);
    EXPECT_TRUE(contains(tried.err, "first")) << tried.err;
    EXPECT_EQ(waiter.wait(10s).code, 0);
}

}  // namespace
}  // namespace holdfast::test
