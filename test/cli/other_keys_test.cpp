#include <signal.h>

#include <regex>

#include "tool.hpp"

/// Keys that hold something else than a lock of ours.
namespace holdfast::test {
namespace {

class other_keys : public tool_test {
  protected:
    static constexpr const char* nobody = "hf1:0000000000000000000000000000000000000000:a@b:1:";
};

TEST_F(other_keys, of_another_kind_give_76_whatever_was_asked) {
    server_.command({"LPUSH", "list", "x"});
    server_.command({"HSET", "hash", "field", "value"});
    for (const char* key : {"list", "hash"}) {
        for (const words& arguments :
             {words{"run", "-n", key, "true"}, words{"lock", "-n", key}, words{"lock", key},
              words{"renew", "--owner", nobody, key}, words{"unlock", "--owner", nobody, key},
              words{"unlock", "--force", "--reason", "x", "--yes", key}, words{"status", key},
              words{"status", "-q", key}}) {
            const auto result = holdfast(arguments);
            EXPECT_EQ(result.exit_code, 76) << arguments.front() << ": " << result.err;
            EXPECT_EQ(result.err,
                      "holdfast: '" + std::string(key) + "' is a " + key + ", no lock\n")
                << "it is said once";
        }
    }
}

TEST_F(other_keys, of_another_kind_are_named_with_what_they_are) {
    server_.command({"LPUSH", "al", "x"});
    server_.command({"ZADD", "app:ranks", "1", "x"});
    for (const words& arguments : {words{"run", "-n", "al", "true"}, words{"lock", "-n", "al"},
                                   words{"unlock", "--owner", nobody, "al"}, words{"status", "al"},
                                   words{"renew", "--owner", nobody, "al"}}) {
        const auto result = holdfast(arguments);
        EXPECT_TRUE(contains(result.err, "'al' is a list, no lock")) << result.err;
    }
    const auto prefixed = holdfast({"status", "--prefix", "app:", "ranks"});
    EXPECT_TRUE(contains(prefixed.err, "'ranks' is a sorted set, no lock")) << prefixed.err;
}

TEST_F(other_keys, of_a_kind_that_may_not_be_asked_for_are_named) {
    server_.command({"LPUSH", "al", "x"});
    server_.command({"ACL", "SETUSER", "guest", "on", "nopass", "~*", "+@all", "-type"});
    const std::string url = "redis://guest@127.0.0.1:" + std::to_string(server_.port());
    const auto result = holdfast({"status", "--url", url, "al"});
    EXPECT_EQ(result.exit_code, 76);
    EXPECT_TRUE(contains(result.err, "'al' is no lock: ")) << result.err;
}

// The key itself is free: nobody is to be waited for.
TEST_F(other_keys, at_the_fencing_counter_give_76_at_once) {
    server_.command({"LPUSH", "holdfast:{list}:fence", "x"});
    server_.command({"SET", "holdfast:{text}:fence", "no number"});
    for (const char* key : {"list", "text"}) {
        for (const words& arguments : {words{"run", "-n", key, "true"},
                                       words{"lock", "-w", "5s", key}, words{"lock", key}}) {
            const auto result = holdfast(arguments);
            EXPECT_EQ(result.exit_code, 76) << arguments.front() << ": " << result.err;
            const auto counter = "holdfast:{" + std::string(key) + "}:fence";
            EXPECT_NE(result.err.find(counter), std::string::npos) << result.err;
        }
        EXPECT_FALSE(server_.exists(key));
        const auto status = holdfast({"status", key});
        EXPECT_TRUE(contains(status.out, "holdfast:{" + std::string(key) + "}:fence is no counter"))
            << status.out;
    }
    EXPECT_FALSE(contains(holdfast({"status", "fine"}).out, "counter"));
}

TEST_F(other_keys, are_refused_without_the_hash_of_a_script) {
    server_.command({"LPUSH", "list", "x"});
    const auto result = holdfast({"run", "-n", "list", "true"});
    EXPECT_FALSE(std::regex_search(result.err, std::regex("[0-9a-f]{40}"))) << result.err;
    EXPECT_FALSE(contains(result.err, "user_script")) << result.err;
}

TEST_F(other_keys, with_a_long_value_are_shown_by_its_beginning) {
    server_.command({"SET", "key", "begins so " + std::string(5'000, 'x')});
    const auto result = holdfast({"status", "key"});
    EXPECT_TRUE(contains(result.out, "begins so x")) << result.out;
    EXPECT_LT(result.out.size(), 400U) << result.out;
    EXPECT_LE(json_of(holdfast({"status", "--json", "key"}).out).at("owner").as_string().size(),
              1024U);
}

/// What comes out of JSON of ours, with every \xNN read as the byte it stands for.
std::string bytes_of(const boost::json::value& text) {
    std::string bytes;
    const std::string given(text.as_string());
    for (std::size_t at = 0; at < given.size(); ++at) {
        const std::regex escape("\\\\x[0-9a-f]{2}");
        if (std::regex_match(given.substr(at, 4), escape)) {
            bytes += static_cast<char>(std::stoi(given.substr(at + 2, 2), nullptr, 16));
            at += 3;
        } else {
            bytes += given[at];
        }
    }
    return bytes;
}

TEST_F(other_keys, with_any_bytes_in_their_names_come_out_of_json_as_they_are) {
    for (const std::string& key :
         {std::string("latin \xe9"), std::string("\\xe9 as text"), std::string("back\\slash \\x"),
          std::string("cut \xe2\x80"), std::string("\\\xff"), std::string("tab\tand \xc3\xa9")}) {
        EXPECT_EQ(holdfast({"lock", key}).exit_code, 0);
        const auto listed = holdfast({"ls", "--json"});
        EXPECT_EQ(bytes_of(json_of(listed.out).at("key")), key) << listed.out;
        EXPECT_EQ(bytes_of(json_of(holdfast({"status", "--json", key}).out).at("key")), key);
        server_.command({"DEL", key});
    }
    holdfast({"lock", "DOMAIN\\key"});
    EXPECT_EQ(json_of(holdfast({"ls", "--json"}).out).at("key"), "DOMAIN\\key");
}

/// A lock as Redisson keeps it: a hash of an owner and how often it has entered.
TEST_F(other_keys, with_escapes_in_their_names_are_told_from_bytes_in_text_too) {
    const std::string byte = "\xff";
    const std::string letters = "\\xff";
    ASSERT_EQ(holdfast({"lock", byte}).exit_code, 0);
    EXPECT_TRUE(contains(holdfast({"ls"}).out, "\n\\xff  "));
    server_.command({"DEL", byte});
    ASSERT_EQ(holdfast({"lock", letters}).exit_code, 0);
    EXPECT_TRUE(contains(holdfast({"ls"}).out, "\n\\x5cxff  ")) << holdfast({"ls"}).out;
    EXPECT_TRUE(contains(holdfast({"status", letters}).out, " \\x5cxff\n"));
    EXPECT_TRUE(contains(holdfast({"status", "a\\b\\xg"}).out, " a\\b\\xg\n")) << "no escapes";
}

class redisson : public tool_test {
  protected:
    redisson() {
        server_.command({"HSET", "key", owner, "1"});
        server_.command({"PEXPIRE", "key", "60000"});
    }

    static constexpr const char* owner = "285475da-9152-4c83-822a-67ee2f116a79:52";
};

TEST_F(redisson, is_named_by_its_owner) {
    const auto said = json_of(holdfast({"status", "--json", "key"}).out);
    EXPECT_EQ(said.at("state"), "foreign");
    EXPECT_EQ(said.at("owner"), owner);
    EXPECT_GT(said.at("ttl_ms").as_int64(), 30'000);
    EXPECT_EQ(holdfast({"status", "-q", "key"}).exit_code, 0);
    EXPECT_TRUE(contains(holdfast({"run", "-v", "-n", "key", "true"}).err, owner));
}

TEST_F(redisson, is_not_waited_for_with_n) {
    EXPECT_EQ(holdfast({"lock", "-n", "key"}).exit_code, 75);
    EXPECT_EQ(holdfast({"run", "-n", "-E", "9", "key", "true"}).exit_code, 9);
}

TEST_F(redisson, is_waited_for_as_long_as_was_asked) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(holdfast({"lock", "-w", "400ms", "key"}).exit_code, 75);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 400ms);
    auto waiter = start({"run", "-v", "key", "echo", "my turn"});
    EXPECT_FALSE(waiter.wait_for(1500ms));
    EXPECT_TRUE(contains(waiter.error_output(), owner)) << waiter.error_output();
    server_.command({"DEL", "key"});
    EXPECT_TRUE(waiter.wait(10s).success());
    EXPECT_EQ(waiter.output(), "my turn\n");
}

TEST_F(redisson, is_waited_for_until_a_signal_comes) {
    auto waiter = start({"lock", "key"});
    EXPECT_FALSE(waiter.wait_for(400ms));
    waiter.kill(SIGTERM);
    EXPECT_EQ(waiter.wait(10s).code, 128 + SIGTERM);
    EXPECT_EQ(server_.command({"HLEN", "key"}), "1");
}

TEST_F(redisson, is_left_alone_by_force) {
    const auto result = holdfast({"unlock", "--force", "--reason", "x", "--yes", "key"});
    EXPECT_EQ(result.exit_code, 76);
    EXPECT_TRUE(contains(result.err, "layout of its own")) << result.err;
    EXPECT_EQ(server_.command({"HLEN", "key"}), "1");
}

}  // namespace
}  // namespace holdfast::test
