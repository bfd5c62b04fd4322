#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>

#include "support/file_descriptor.hpp"
#include "tool.hpp"

/// `unlock --force`, and `status -q` beside it.
namespace holdfast::test {
namespace {

class force : public tool_test {
  protected:
    void hold(const std::string& key) const {
        EXPECT_EQ(holdfast({"lock", "--label", "night shift", key}).exit_code, 0);
    }
    command_result take_away(const words& more) const {
        words arguments{"unlock", "--force"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return holdfast(arguments);
    }
    command_result on_terminal(const std::string& input) const {
        command_options how;
        how.environment = environment_;
        how.environment.insert({"NO_COLOR", "1"});
        how.input = input;
        return run_command(
            {"script", "-qec", "\"$HOLDFAST\" unlock --force --reason 'web3 is gone' key",
             "/dev/null"},
            how);
    }
};

TEST_F(force, releases_what_somebody_else_holds_and_says_whom_it_took_it_from) {
    hold("key");
    const auto result = take_away({"--reason", "web3 is gone", "--yes", "key"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_FALSE(server_.exists("key"));
    EXPECT_TRUE(contains(result.err, "night shift")) << result.err;
    EXPECT_TRUE(contains(result.err, "released by force")) << result.err;
    EXPECT_EQ(result.out, "");
}

TEST_F(force, leaves_a_note_at_the_server_which_status_shows) {
    hold("key");
    take_away({"--reason", "web3 \x1b[31mis gone", "--yes", "key"});
    EXPECT_EQ(server_.command({"HGET", "holdfast:{key}:forced", "reason"}), "web3 \x1b[31mis gone");
    EXPECT_TRUE(
        contains(server_.command({"HGET", "holdfast:{key}:forced", "held_by"}), ":night shift"));
    EXPECT_TRUE(contains(server_.command({"HGET", "holdfast:{key}:forced", "by"}), "@"));
    EXPECT_FALSE(contains(server_.command({"HGET", "holdfast:{key}:forced", "held_by"}), "hf1:"));
    EXPECT_GT(server_.pttl("holdfast:{key}:forced"), 29LL * 24 * 3'600'000);
    const auto status = holdfast({"status", "key"});
    EXPECT_TRUE(contains(status.out, "web3 \\x1b[31mis gone")) << status.out;
    EXPECT_TRUE(contains(status.out, " ago by ")) << status.out;
    hold("other");
    EXPECT_FALSE(contains(holdfast({"status", "other"}).out, "forced"));
}

TEST_F(force, leaves_a_note_which_status_has_in_its_json) {
    hold("key");
    EXPECT_FALSE(json_of(holdfast({"status", "--json", "key"}).out).contains("forced"));
    const auto since = [] { return std::chrono::system_clock::now().time_since_epoch() / 1ms; };
    const auto begin = since();
    take_away({"--reason", "web3 is gone", "--yes", "key"});
    const auto said = json_of(holdfast({"status", "--json", "key"}).out);
    const auto& note = said.at("forced").as_object();
    EXPECT_EQ(note.size(), 4U);
    EXPECT_EQ(note.at("reason"), "web3 is gone");
    EXPECT_TRUE(contains(note.at("by").as_string().c_str(), "@"));
    EXPECT_TRUE(contains(note.at("held_by").as_string().c_str(), ":night shift"));
    EXPECT_GE(note.at("at_ms").as_int64(), begin - 1000) << "it is of whole seconds";
    EXPECT_LE(note.at("at_ms").as_int64(), since());
}

TEST_F(force, finds_and_releases_an_empty_value_that_keeps_everybody_out) {
    server_.command({"SET", "key", ""});
    ASSERT_EQ(holdfast({"lock", "-n", "key"}).exit_code, 75);
    EXPECT_EQ(holdfast({"status", "-q", "key"}).exit_code, 0);
    EXPECT_EQ(json_of(holdfast({"status", "--json", "key"}).out).at("state"), "foreign");
    EXPECT_EQ(take_away({"--reason", "nobody's", "--yes", "key"}).exit_code, 0);
    EXPECT_FALSE(server_.exists("key"));
    EXPECT_EQ(holdfast({"status", "-q", "key"}).exit_code, 1);
}

TEST_F(force, does_not_call_a_lease_endless_whose_end_it_may_not_ask_for) {
    hold("key");
    server_.command({"ACL", "SETUSER", "look", "on", "nopass", "resetkeys", "-@all", "~key",
                     "~holdfast:*", "+getrange", "+get", "+info", "+hmget"});
    const std::string url = "redis://look@127.0.0.1:" + std::to_string(server_.port());
    const auto status = holdfast({"status", "--url", url, "key"});
    EXPECT_TRUE(contains(status.out, "not known")) << status.out << status.err;
    EXPECT_FALSE(contains(status.out, "never ends")) << status.out;
}

TEST_F(force, needs_no_right_to_read_whole_values_to_call_a_key_free) {
    server_.command({"ACL", "SETUSER", "look", "on", "nopass", "resetkeys", "-@all", "~key",
                     "~holdfast:*", "+getrange", "+pttl", "+info"});
    const std::string url = "redis://look@127.0.0.1:" + std::to_string(server_.port());
    const auto status = holdfast({"status", "-q", "--url", url, "key"});
    EXPECT_EQ(status.exit_code, 1) << status.err;
}

// doc/acl.md has the set.
TEST_F(force, changes_nothing_where_a_right_is_missing) {
    const words all{"+eval", "+get",     "+getrange", "+pttl", "+del",  "+hset",
                    "+time", "+pexpire", "+hmget",    "+info", "+hlen", "+hkeys"};
    for (const char* missing : {"", "+del", "+hset", "+time", "+pexpire"}) {
        words rules{"ACL",    "SETUSER", "operator", "reset",      "on",
                    "nopass", "-@all",   "~key",     "~holdfast:*"};
        for (const auto& right : all) {
            if (right != missing) rules.push_back(right);
        }
        server_.command(rules);
        server_.command({"SET", "key", "somebody", "PX", "60000"});
        server_.command({"DEL", "holdfast:{key}:forced"});
        const std::string url = "redis://operator@127.0.0.1:" + std::to_string(server_.port());
        const auto result =
            holdfast({"unlock", "--url", url, "--force", "--yes", "--reason", "stuck", "key"});
        const bool allowed = std::string(missing).empty();
        EXPECT_EQ(result.exit_code, allowed ? 0 : 77) << missing << ": " << result.err;
        EXPECT_EQ(server_.exists("key"), !allowed) << missing;
        EXPECT_EQ(server_.exists("holdfast:{key}:forced"), allowed) << missing;
    }
}

/// The log of a system: what syslog(3) writes to, if it is put at /dev/log.
class system_log {
  public:
    explicit system_log(std::string path) : path_(std::move(path)) {
        sockaddr_un where{};
        where.sun_family = AF_UNIX;
        EXPECT_LT(path_.size(), sizeof where.sun_path);
        path_.copy(where.sun_path, sizeof where.sun_path - 1);
        EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&where), sizeof where), 0);
    }

    [[nodiscard]] const std::string& path() const { return path_; }

    /// What has been written so far, one record after the other.
    [[nodiscard]] words records() const {
        words result;
        std::array<char, 4096> text{};
        for (;;) {
            const auto size = ::recv(socket_.get(), text.data(), text.size(), MSG_DONTWAIT);
            if (size < 0) return result;
            result.emplace_back(text.data(), static_cast<std::size_t>(size));
        }
    }

  private:
    std::string path_;
    file_descriptor socket_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

TEST_F(force, leaves_a_record_in_the_log_of_the_system) {
    if (run_command({"unshare", "-rm", "true"}).exit_code != 0) {
        GTEST_SKIP() << "needs a user namespace, for a /dev/log of its own";
    }
    const system_log log(scratch_.path() / "log");
    hold("key");
    command_options how;
    how.environment = environment_;
    how.environment.insert({"LOG", log.path()});
    const std::string command = "\"$HOLDFAST\" unlock --force --yes --reason 'web3\tis gone' ";
    const std::string there =
        "mount -t tmpfs tmpfs /dev && touch /dev/log &&"
        "mount --bind \"$LOG\" /dev/log || exit 99\n";
    const auto result = run_command(
        {"unshare", "-rm", "sh", "-c", there + command + "key\n" + command + "nothing"}, how);
    ASSERT_NE(result.exit_code, 99) << "no /dev/log of its own: " << result.err;
    EXPECT_FALSE(server_.exists("key")) << result.err;
    const auto records = log.records();
    ASSERT_EQ(records.size(), 1U) << result.err;
    const auto& record = records.front();
    EXPECT_TRUE(record.starts_with("<13>")) << record << ": user.notice";
    EXPECT_TRUE(contains(record, " holdfast[")) << record;
    EXPECT_TRUE(contains(record, "]: released by force: 'key', held by ")) << record;
    EXPECT_TRUE(contains(record, "night shift")) << record;
    EXPECT_TRUE(contains(record, ": web3\\x09is gone")) << record;
}

TEST_F(force, lets_the_next_have_a_larger_token) {
    const auto first = json_of(holdfast({"lock", "--json", "key"}).out).at("token").as_int64();
    take_away({"--reason", "x", "--yes", "key"});
    const auto next = holdfast({"lock", "-n", "--json", "key"});
    ASSERT_EQ(next.exit_code, 0);
    EXPECT_GT(json_of(next.out).at("token").as_int64(), first);
}

TEST_F(force, ends_a_run_whose_lock_was_taken_away) {
    auto holder = start({"run", "--ttl", "1500ms", "--kill-after", "200ms", "key", "sleep", "60"});
    wait_until_held("key");
    take_away({"--reason", "x", "--yes", "key"});
    EXPECT_EQ(holder.wait(10s).code, 79);
}

TEST_F(force, works_on_a_lock_of_another_library) {
    server_.command({"SET", "key", "somebody", "PX", "60000"});
    EXPECT_EQ(take_away({"--reason", "x", "--yes", "key"}).exit_code, 0);
    EXPECT_FALSE(server_.exists("key"));
}

TEST_F(force, leaves_alone_what_is_too_long_to_be_compared) {
    server_.command({"SET", "key", std::string(1'024, 'x')});
    EXPECT_EQ(take_away({"--reason", "x", "--yes", "key"}).exit_code, 76);
    EXPECT_TRUE(server_.exists("key"));
}

TEST_F(force, has_nothing_to_take_from_nobody) {
    const auto result = take_away({"--reason", "x", "--yes", "key"});
    EXPECT_EQ(result.exit_code, 75);
    EXPECT_TRUE(contains(result.err, "nobody")) << result.err;
}

TEST_F(force, needs_a_reason_and_somebody_who_means_it) {
    hold("key");
    for (const words& arguments :
         {words{"--yes", "key"}, words{"--reason", "", "--yes", "key"},
          words{"--reason", "x", "key"}, words{"--reason", "x", "--yes", "--owner", "y", "key"}}) {
        EXPECT_EQ(take_away(arguments).exit_code, 64);
    }
    EXPECT_EQ(holdfast({"unlock", "--owner", "x", "--reason", "y", "key"}).exit_code, 64);
    EXPECT_EQ(holdfast({"unlock", "--owner", "x", "--yes", "key"}).exit_code, 64);
    EXPECT_EQ(take_away({"--reason", std::string(1'025, 'x'), "--yes", "key"}).exit_code, 64);
    EXPECT_TRUE(server_.exists("key"));
}

TEST_F(force, asks_on_a_terminal) {
    hold("key");
    const auto refused = on_terminal("n\n");
    EXPECT_EQ(refused.exit_code, 75) << refused.out;
    EXPECT_TRUE(contains(refused.out, "night shift")) << refused.out;
    EXPECT_TRUE(server_.exists("key"));
    const auto agreed = on_terminal("y\n");
    EXPECT_EQ(agreed.exit_code, 0) << agreed.out;
    EXPECT_FALSE(server_.exists("key"));
}

TEST_F(force, releases_nothing_when_the_lock_has_changed_hands_since_it_was_shown) {
    hold("key");
    process_options asking;
    asking.arguments = {"script", "-qec", "\"$HOLDFAST\" unlock --force --reason x key",
                        "/dev/null"};
    asking.environment = environment_;
    asking.input = redirect::pipe();
    asking.output = redirect::capture();
    process terminal(asking);
    ASSERT_TRUE(eventually(10s, [&] { return contains(terminal.output(), "[y/N]"); }));
    server_.command({"SET", "key", "the next one", "PX", "60000"});
    terminal.write("y\n");
    terminal.close_input();
    EXPECT_EQ(terminal.wait(10s).code, 75) << terminal.output();
    EXPECT_EQ(server_.get("key"), "the next one");
    EXPECT_FALSE(server_.exists("holdfast:{key}:forced"));
}

TEST_F(force, is_not_needed_to_ask_quietly_whether_a_lock_is_held) {
    const auto free = holdfast({"status", "-q", "key"});
    EXPECT_EQ(free.exit_code, 1);
    EXPECT_EQ(free.out + free.err, "");
    hold("key");
    const auto held = holdfast({"status", "--quiet", "key"});
    EXPECT_EQ(held.exit_code, 0);
    EXPECT_EQ(held.out + held.err, "");
    EXPECT_EQ(holdfast({"status", "-q", "--url", "redis://127.0.0.1:1", "key"}).exit_code, 69);
    EXPECT_EQ(holdfast({"status", "-q", "--json", "key"}).exit_code, 64);
}

}  // namespace
}  // namespace holdfast::test
