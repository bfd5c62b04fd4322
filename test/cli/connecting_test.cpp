#include <fstream>

#include "support/hostile_server.hpp"
#include "support/sockets.hpp"
#include "tool.hpp"

namespace holdfast::test {
namespace {

class connecting : public tool_test {
  protected:
    static constexpr const char* nowhere = "redis://127.0.0.1:1";

    command_result ask(words arguments, environment_variables environment) const {
        command_options how;
        how.environment = std::move(environment);
        return holdfast(std::move(arguments), how);
    }
    words probe() const { return {"run", "-n", "key", "true"}; }
};

TEST_F(connecting, prefers_the_option_to_the_environment) {
    EXPECT_EQ(ask({"run", "--url", server_.url(), "-n", "key", "true"}, {{"HOLDFAST_URL", nowhere}})
                  .exit_code,
              0);
}

TEST_F(connecting, prefers_its_own_variable_to_that_of_others) {
    EXPECT_EQ(ask(probe(), {{"REDIS_URL", nowhere}}).exit_code, 0);
    EXPECT_EQ(ask(probe(), {{"HOLDFAST_URL", ""}, {"REDIS_URL", server_.url()}}).exit_code, 0);
}

TEST_F(connecting, as_a_user_without_the_rights_says_where_to_see_which_are_missing) {
    server_.command({"ACL", "SETUSER", "guest", "on", "nopass", "~*", "+@all", "-@write"});
    const std::string url = "redis://guest@127.0.0.1:" + std::to_string(server_.port());
    for (const words& arguments :
         {words{"run", "--url", url, "-n", "key", "true"}, words{"lock", "--url", url, "key"}}) {
        const auto result = holdfast(arguments);
        EXPECT_EQ(result.exit_code, 77) << result.err;
        EXPECT_TRUE(contains(result.err, "'holdfast doctor' shows which rights are missing"))
            << result.err;
    }
}

TEST_F(connecting, as_a_user_who_may_not_use_the_key_says_what_keys_it_needs) {
    server_.command({"ACL", "SETUSER", "clerk", "on", "nopass", "~jobs:*", "~holdfast:*", "+@all"});
    const std::string url = "redis://clerk@127.0.0.1:" + std::to_string(server_.port());
    const auto result = holdfast({"run", "--url", url, "-n", "other", "true"});
    EXPECT_EQ(result.exit_code, 77) << result.err;
    EXPECT_TRUE(contains(result.err, "patterns for the keys that it locks")) << result.err;
    EXPECT_FALSE(contains(result.err, "doctor")) << result.err;
}

TEST_F(connecting, works_over_a_unix_socket) {
    EXPECT_EQ(ask(probe(), {{"HOLDFAST_URL", server_.unix_url()}}).exit_code, 0);
}

TEST_F(connecting, takes_the_database_of_the_url) {
    EXPECT_EQ(ask({"lock", "key"}, {{"HOLDFAST_URL", server_.url() + "/3"}}).exit_code, 0);
    EXPECT_FALSE(server_.exists("key"));
    EXPECT_EQ(
        ask({"lock", "-n", "key"}, {{"HOLDFAST_URL", server_.unix_url() + "?db=3"}}).exit_code, 75);
}

TEST_F(connecting, to_nobody_gives_69_and_names_the_node_whatever_was_asked) {
    const std::string owner = "hf1:0000000000000000000000000000000000000000:a@b:1:";
    for (const words& arguments :
         {probe(), words{"lock", "-n", "key"}, words{"renew", "--owner", owner, "key"},
          words{"unlock", "--owner", owner, "key"}, words{"status", "key"}, words{"ls"},
          words{"enlist"}}) {
        const auto result = ask(arguments, {{"HOLDFAST_URL", nowhere}});
        EXPECT_EQ(result.exit_code, 69) << arguments.front();
        EXPECT_NE(result.err.find("127.0.0.1:1"), std::string::npos) << result.err;
        EXPECT_EQ(result.out, "");
    }
}

TEST_F(connecting, to_a_server_that_says_nothing_gives_69) {
    const auto listener = listen_on_loopback(0);
    const auto url = "redis://127.0.0.1:" + std::to_string(local_port(listener));
    EXPECT_EQ(ask(probe(), {{"HOLDFAST_URL", url}}).exit_code, 69);
}

TEST_F(connecting, to_what_is_not_a_redis_gives_76_and_names_the_node) {
    for (const auto& behaviour :
         {hostile::web_server(), hostile::garbage(), hostile::always(":7\r\n")}) {
        const hostile_server stranger(behaviour);
        const auto result = ask(probe(), {{"HOLDFAST_URL", stranger.url()}});
        EXPECT_EQ(result.exit_code, 76) << result.err;
        EXPECT_EQ(result.out, "");
        EXPECT_NE(result.err.find(std::to_string(stranger.port())), std::string::npos)
            << result.err;
    }
}

TEST_F(connecting, refuses_urls_that_mean_nothing) {
    for (const char* url : {"http://x", "redis://", "redis://host?typo=1", "nonsense"}) {
        EXPECT_EQ(ask({"run", "--url", url, "key", "true"}, {}).exit_code, 64) << url;
    }
}

TEST_F(connecting, by_a_bad_url_names_where_it_was_given) {
    for (const std::string bad :
         {"nonsense", "redis://", "redis://h?typo=1", "redis://h?max_ttl=48h"}) {
        const auto option = ask({"status", "--url", bad, "key"}, {});
        EXPECT_TRUE(option.err.starts_with("holdfast: --url: ")) << option.err;
        const auto ours = ask({"status", "key"}, {{"HOLDFAST_URL", server_.url() + " " + bad}});
        EXPECT_TRUE(ours.err.starts_with("holdfast: HOLDFAST_URL: ")) << ours.err;
        const auto others = ask({"status", "key"}, {{"HOLDFAST_URL", ""}, {"REDIS_URL", bad}});
        EXPECT_TRUE(others.err.starts_with("holdfast: REDIS_URL: ")) << others.err;
        for (const auto& result : {option, ours, others}) EXPECT_EQ(result.exit_code, 64) << bad;
    }
}

TEST_F(connecting, by_a_bad_url_does_not_repeat_its_password) {
    const auto result = ask({"status", "key"}, {{"HOLDFAST_URL", "redis://:sesame@h?typo=1"}});
    EXPECT_EQ(result.exit_code, 64);
    EXPECT_TRUE(contains(result.err, "HOLDFAST_URL: ")) << result.err;
    EXPECT_FALSE(contains(result.err, "sesame")) << result.err;
}

TEST_F(connecting, to_local_without_its_colon_is_explained) {
    const auto result = ask({"status", "--url", "local", "key"}, {});
    EXPECT_EQ(result.exit_code, 64);
    EXPECT_TRUE(contains(result.err, "this machine's own server is local:")) << result.err;
}

TEST_F(connecting, puts_the_prefix_before_keys) {
    EXPECT_EQ(holdfast({"lock", "--prefix", "app:", "key"}).exit_code, 0);
    EXPECT_TRUE(server_.exists("app:key"));
}

TEST_F(connecting, shows_keys_without_the_prefix_so_that_they_can_be_given_back) {
    const auto taken = holdfast({"lock", "--prefix", "app:", "--json", "key"});
    EXPECT_EQ(json_of(taken.out).at("key"), "key");
    const auto listed = json_of(holdfast({"ls", "--prefix", "app:", "--json"}).out);
    EXPECT_EQ(listed.at("key"), "key");
    EXPECT_TRUE(contains(holdfast({"ls", "--prefix", "app:"}).out, "\nkey "));
    const auto seen = json_of(holdfast({"status", "--prefix", "app:", "--json", "key"}).out);
    EXPECT_EQ(seen.at("key"), "key");
    EXPECT_EQ(seen.at("state"), "held");
    EXPECT_EQ(json_of(holdfast({"ls", "--json"}).out).at("key"), "app:key") << "without a prefix";
    const auto ran =
        holdfast({"run", "--prefix", "app:", "other", "sh", "-c", "echo $HOLDFAST_KEY"});
    EXPECT_EQ(ran.out, "other\n");
}

TEST_F(connecting, with_a_prefix_means_it_to_the_letter) {
    holdfast({"lock", "--prefix", "app[1]*\\:", "mine"});
    holdfast({"lock", "--prefix", "app1:", "other"});
    const auto listed = holdfast({"ls", "--prefix", "app[1]*\\:", "--json"});
    EXPECT_EQ(json_of(listed.out).at("key"), "mine") << listed.out;
    EXPECT_EQ(holdfast({"ls", "--prefix", "app*", "--json"}).out, "");
}

class authenticating : public connecting {
  protected:
    authenticating() {
        redis_options options;
        options.password = "open sesame";
        guarded_ = std::make_unique<redis_server>(options);
        std::ofstream(scratch_ / "password") << "open sesame\n";
    }

    std::unique_ptr<redis_server> guarded_;
};

TEST_F(authenticating, without_or_with_a_wrong_password_gives_77) {
    EXPECT_EQ(ask(probe(), {{"HOLDFAST_URL", guarded_->url()}}).exit_code, 77);
    const auto wrong =
        ask(probe(), {{"HOLDFAST_URL", guarded_->url()}, {"REDISCLI_AUTH", "open barley"}});
    EXPECT_EQ(wrong.exit_code, 77);
    EXPECT_EQ(wrong.err.find("barley"), std::string::npos) << wrong.err;
}

TEST_F(authenticating, takes_the_password_from_a_file_the_environment_or_a_url_there) {
    const std::string port = std::to_string(guarded_->port());
    EXPECT_EQ(ask(probe(), {{"HOLDFAST_URL", guarded_->url()}, {"REDISCLI_AUTH", "open sesame"}})
                  .exit_code,
              0);
    EXPECT_EQ(ask({"run", "--password-file", (scratch_ / "password").native(), "key", "true"},
                  {{"HOLDFAST_URL", guarded_->url()}})
                  .exit_code,
              0);
    EXPECT_EQ(
        ask(probe(), {{"HOLDFAST_URL", "redis://:open%20sesame@127.0.0.1:" + port}}).exit_code, 0);
}

TEST_F(authenticating, says_much_when_asked_but_not_the_password) {
    for (const char* password : {"open sesame", "open sesame seed"}) {
        const auto result = ask({"run", "-v", "-n", "key", "true"},
                                {{"HOLDFAST_URL", guarded_->url()}, {"REDISCLI_AUTH", password}});
        EXPECT_FALSE(result.err.empty());
        EXPECT_EQ(result.err.find("sesame"), std::string::npos) << result.err;
    }
}

TEST_F(authenticating, refuses_a_password_that_others_could_read_and_does_not_repeat_it) {
    const std::string port = std::to_string(guarded_->port());
    const auto result =
        ask({"run", "--url", "redis://:open%20sesame@127.0.0.1:" + port, "key", "true"}, {});
    EXPECT_EQ(result.exit_code, 64);
    EXPECT_EQ(result.err.find("sesame"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("--password-file"), std::string::npos) << result.err;
}

TEST_F(authenticating, of_a_user_without_the_rights_gives_77) {
    guarded_->command({"ACL", "SETUSER", "guest", "on", ">guest", "~*", "+ping", "+hello", "+auth",
                       "+client", "+info"});
    const auto result = ask({"run", "--user", "guest", "-n", "key", "true"},
                            {{"HOLDFAST_URL", guarded_->url()}, {"REDISCLI_AUTH", "guest"}});
    EXPECT_EQ(result.exit_code, 77) << result.err;
}

TEST_F(authenticating, refuses_a_password_of_sentinels_that_others_could_read_too) {
    const auto result = holdfast(
        {"status", "--url", "redis+sentinel://h/main?db=1&sentinel_password=hunter2", "key"});
    EXPECT_EQ(result.exit_code, 64) << result.err;
    EXPECT_NE(result.err.find("HOLDFAST_URL"), std::string::npos) << result.err;
    EXPECT_EQ(result.err.find("hunter2"), std::string::npos) << result.err;
}

TEST_F(authenticating, with_an_empty_password_file_gives_78_and_says_so) {
    std::ofstream(scratch_ / "empty") << "\n";
    const auto result =
        holdfast({"run", "--password-file", (scratch_ / "empty").native(), "key", "true"});
    EXPECT_EQ(result.exit_code, 78) << result.err;
    EXPECT_TRUE(contains(result.err, "is empty")) << result.err;
}

TEST_F(authenticating, with_a_password_file_of_another_system_says_what_is_wrong_with_it) {
    const auto file = scratch_ / "crlf";
    std::ofstream(file) << "open sesame\r\n";
    const auto result = ask({"status", "--password-file", file.native(), "key"},
                            {{"HOLDFAST_URL", guarded_->url()}});
    EXPECT_EQ(result.exit_code, 77);
    EXPECT_TRUE(contains(result.err, "ends with a carriage return")) << result.err;
}

TEST_F(authenticating, with_a_password_file_that_is_not_there_gives_78) {
    EXPECT_EQ(holdfast({"run", "--password-file", "/no/such/file", "key", "true"}).exit_code, 78);
}

TEST_F(connecting, to_a_server_that_may_evict_locks_gives_78_and_says_why) {
    server_.command({"CONFIG", "SET", "maxmemory", "100mb"});
    server_.command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
    const auto result = holdfast(probe());
    EXPECT_EQ(result.exit_code, 78);
    EXPECT_NE(result.err.find("noeviction"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace holdfast::test
