#include <fstream>
#include <regex>

#include "support/certificates.hpp"
#include "tool.hpp"

/// What the options mean, and how the command speaks of what went wrong.
namespace holdfast::test {
namespace {

class identity : public tool_test {
  protected:
    identity() {
        server_.command({"ACL", "SETUSER", "guest", "on", "nopass", "~*", "+@all"});
        server_.command({"ACL", "SETUSER", "strict", "on", ">secret", "~*", "+@all"});
    }

    std::string url_of(const std::string& user) const {
        return "redis://" + user + "@127.0.0.1:" + std::to_string(server_.port());
    }

    /// As whom the server knows the connection that holds the lock.
    std::string user_seen(words options) const {
        options.insert(options.begin(), "run");
        options.insert(options.end(), {"key", "redis-cli", "-s", server_.socket_path().native(),
                                       "CLIENT", "LIST"});
        const auto result = holdfast(options);
        std::smatch found;
        const std::regex ours("name=holdfast [^\n]* user=([^ \n]*)");
        return std::regex_search(result.out, found, ours) ? found[1].str() : result.err;
    }
};

TEST_F(identity, a_user_without_a_password_is_that_user) {
    EXPECT_EQ(user_seen({"--url", url_of("guest")}), "guest");
    EXPECT_EQ(user_seen({"--user", "guest"}), "guest");
    EXPECT_EQ(user_seen({}), "default");
}

TEST_F(identity, a_user_who_needs_a_password_and_has_none_is_nobody_else) {
    for (const words& options : {words{"--url", url_of("strict")}, words{"--user", "strict"},
                                 words{"--user", "no-such-user"}}) {
        words arguments{"run"};
        arguments.insert(arguments.end(), options.begin(), options.end());
        arguments.insert(arguments.end(), {"-n", "key", "echo", "ran"});
        const auto result = holdfast(arguments);
        EXPECT_EQ(result.exit_code, 77) << result.err;
        EXPECT_EQ(result.out, "");
        EXPECT_TRUE(contains(result.err, "--password-file")) << result.err;
    }
}

class options : public tool_test {
  protected:
    command_result with_url(const std::string& url, words arguments) const {
        command_options how;
        how.environment = {{"HOLDFAST_URL", url}};
        return holdfast(std::move(arguments), how);
    }
};

TEST_F(options, valkey_is_another_name_for_redis) {
    const std::string url = "valkey://127.0.0.1:" + std::to_string(server_.port());
    EXPECT_EQ(holdfast({"run", "--url", url, "-n", "key", "true"}).exit_code, 0);
}

TEST_F(options, eviction_can_be_allowed_by_option_and_in_the_url) {
    server_.command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
    const auto refused = holdfast({"run", "-n", "key", "true"});
    EXPECT_EQ(refused.exit_code, 78);
    EXPECT_TRUE(contains(refused.err, "--allow-eviction")) << refused.err;
    EXPECT_EQ(holdfast({"run", "--allow-eviction", "-n", "key", "true"}).exit_code, 0);
    const words probe{"run", "-n", "key", "true"};
    EXPECT_EQ(with_url(server_.url() + "?allow_eviction=on", probe).exit_code, 0);
    EXPECT_EQ(with_url(server_.url() + "?allow_eviction=off", probe).exit_code, 78);
    EXPECT_EQ(with_url(server_.url() + "?allow_eviction=yes", probe).exit_code, 64);
}

TEST_F(options, several_urls_between_commas_or_semicolons_are_explained) {
    const words probe{"status", "key"};
    for (const std::string& several :
         {server_.url() + "," + server_.url(), server_.url() + ";" + server_.url(),
          std::string("redis://a:1,b:2"), std::string("redis://a,b")}) {
        const auto by_variable = with_url(several, probe);
        EXPECT_EQ(by_variable.exit_code, 64);
        EXPECT_TRUE(contains(by_variable.err, "HOLDFAST_URL")) << by_variable.err;
        EXPECT_TRUE(contains(by_variable.err, "spaces")) << by_variable.err;
        const auto by_option = holdfast({"status", "--url", several, "key"});
        EXPECT_EQ(by_option.exit_code, 64);
        EXPECT_TRUE(contains(by_option.err, "several times")) << by_option.err;
    }
    command_options how;
    how.environment = {{"HOLDFAST_URL", ""}, {"REDIS_URL", "redis://a,b"}};
    EXPECT_TRUE(contains(holdfast(probe, how).err, "HOLDFAST_URL"));
    EXPECT_EQ(with_url("redis://:a,b@127.0.0.1:1", probe).exit_code, 69)
        << "a comma in a password is one";
}

TEST_F(options, a_url_is_one_word_and_what_follows_it_is_another) {
    const auto held = holdfast({"lock", "lab:1"});
    ASSERT_EQ(held.exit_code, 0) << held.err;
    for (const words& named : {words{"--url", server_.url()}, words{"--url=" + server_.url()}}) {
        words list{"ls"};
        list.insert(list.end(), named.begin(), named.end());
        list.emplace_back("lab*");
        const auto result = holdfast(list);
        EXPECT_EQ(result.exit_code, 0) << result.err;
        EXPECT_TRUE(contains(result.out, "lab:1")) << result.out;
    }
    const auto three = holdfast({"status", "--url", server_.url(), "redis://b", "redis://c", "k"});
    EXPECT_EQ(three.exit_code, 64) << "no quorum that nobody asked for: " << three.out;
}

TEST_F(options, a_directory_is_no_file) {
    for (const char* option : {"--password-file", "--cacert", "--cert", "--key"}) {
        const auto result = holdfast({"status", option, scratch_.path().native(), "key"});
        EXPECT_EQ(result.exit_code, 78) << result.err;
        EXPECT_TRUE(contains(result.err, "is a directory")) << result.err;
    }
}

TEST_F(options, come_after_the_command) {
    const auto result = holdfast({"--url", server_.url(), "status", "key"});
    EXPECT_EQ(result.exit_code, 64);
    EXPECT_TRUE(contains(result.err, "options come after the command")) << result.err;
}

TEST_F(options, beyond_their_limits_are_refused_by_their_own_names) {
    for (const char* command : {"run", "lock"}) {
        words arguments{command, "--ttl", "48h", "key"};
        if (arguments.front() == "run") arguments.emplace_back("true");
        const auto result = holdfast(arguments);
        EXPECT_EQ(result.exit_code, 64);
        EXPECT_TRUE(contains(result.err, "--ttl takes ")) << result.err;
    }
    const auto result = holdfast({"run", "--at-least", "400d", "key", "true"});
    EXPECT_EQ(result.exit_code, 64);
    EXPECT_TRUE(contains(result.err, "--at-least takes 365d at most")) << result.err;
    const auto says = [&](const words& arguments, const char* what) {
        const auto refused = holdfast(arguments);
        EXPECT_EQ(refused.exit_code, 64) << refused.err;
        EXPECT_TRUE(contains(refused.err, what)) << refused.err;
    };
    for (const char* ttl : {"10ms", "0"}) {
        says({"lock", "--ttl", ttl, "key"}, "--ttl takes 50ms to ");
        says({"renew", "--owner", "x", "--ttl", ttl, "key"}, "--ttl takes 50ms to ");
    }
    const std::string large(500, 'x');
    says({"lock", "--label", large, "key"}, "--label takes 128 bytes at most, not 500");
    says({"run", "--label", large, "key", "true"}, "--label takes 128 bytes at most, not 500");
    says({"run", "-E", "abc", "key", "true"},
         "--conflict-exit-code: 'abc' is not a number from 0 to 255");
    says({"run", "-E", "256", "key", "true"},
         "--conflict-exit-code: '256' is not a number from 0 to 255");
}

TEST_F(options, that_do_not_exist_are_blamed_themselves) {
    const auto result = holdfast({"lock", "-E", "3", "-n", "key"});
    EXPECT_EQ(result.exit_code, 64);
    EXPECT_TRUE(contains(result.err, "lock: there is no option -E")) << result.err;
    EXPECT_TRUE(contains(holdfast({"status", "--ttl", "3", "k"}).err, "there is no option --ttl"));
}

TEST_F(options, and_words_that_others_expect_are_answered_with_what_helps) {
    const auto says = [&](const words& arguments, const char* what) {
        const auto refused = holdfast(arguments);
        EXPECT_EQ(refused.exit_code, 64) << refused.err;
        EXPECT_TRUE(contains(refused.err, what)) << refused.err;
        EXPECT_FALSE(contains(refused.err, "secret")) << refused.err;
    };
    says({"status", "-a", "secret", "k"}, "it is --password-file, or REDISCLI_AUTH, here");
    says({"help", "run", "x"}, "one COMMAND at a time");
    says({"renew", "k"}, "needs --owner\nTry 'holdfast renew --help'.");
    says({"ls", "a", "b"}, "quote the PATTERN");
}

TEST_F(options, after_the_key_are_not_taken_for_a_command) {
    for (const words& arguments :
         {words{"run", "key", "-n", "true"}, {"run", "key", "--url", "x"}}) {
        const auto result = holdfast(arguments);
        EXPECT_EQ(result.exit_code, 64) << result.err;
        EXPECT_TRUE(contains(result.err, "options end at the KEY")) << result.err;
    }
    EXPECT_EQ(holdfast({"run", "key", "--", "-n"}).exit_code, 127);
}

TEST_F(options, at_most_zero_means_never) {
    EXPECT_EQ(holdfast({"run", "--at-most", "0", "key", "sh", "-c", "sleep 0.3; exit 7"}).exit_code,
              7);
}

TEST_F(options, lock_takes_a_label) {
    EXPECT_EQ(holdfast({"lock", "--label", "by hand", "key"}).exit_code, 0);
    const auto said = json_of(holdfast({"status", "--json", "key"}).out);
    EXPECT_EQ(said.at("holder").as_object().at("label"), "by hand");
}

TEST_F(options, help_of_a_command_can_be_asked_for_by_name) {
    for (const char* command : {"run", "unlock", "version"}) {
        const auto result = holdfast({"help", command});
        EXPECT_EQ(result.exit_code, 0);
        EXPECT_EQ(result.out, holdfast({command, "--help"}).out);
    }
    EXPECT_EQ(holdfast({"help"}).out, holdfast({"--help"}).out);
    EXPECT_EQ(holdfast({"help", "walk"}).exit_code, 64);
}

TEST_F(options, help_of_help_is_the_overview) {
    for (const words& asked : {words{"help", "help"}, words{"help", "--help"}}) {
        const auto result = holdfast(asked);
        EXPECT_EQ(result.exit_code, 0) << result.err;
        EXPECT_EQ(result.out, holdfast({"--help"}).out);
    }
}

TEST_F(options, close_to_one_that_exists_are_answered_with_it) {
    for (const auto& [arguments, meant] :
         {std::pair{words{"run", "--labl", "x", "key", "true"}, "did you mean --label?"},
          {words{"run", "--at-mots=1s", "key", "true"}, "did you mean --at-most?"},
          {words{"status", "--jsno", "key"}, "did you mean --json?"},
          {words{"ls", "--quite"}, ""},
          {words{"satus", "key"}, "did you mean 'status'?"},
          {words{"unlcok", "key"}, "did you mean 'unlock'?"},
          {words{"dance"}, ""}}) {
        const auto result = holdfast(arguments);
        EXPECT_EQ(result.exit_code, 64);
        EXPECT_TRUE(contains(result.err, meant)) << result.err;
        const bool suggests = contains(result.err, "did you mean");
        EXPECT_EQ(suggests, !std::string(meant).empty()) << result.err;
    }
}

TEST_F(options, of_flock_and_redis_cli_are_answered_with_ours) {
    for (const auto& [option, ours] : {std::pair{"--timeout", "it is -w, --wait here"},
                                       {"--timeout=5", "it is -w, --wait here"},
                                       {"--nb", "it is -n, --nonblock here"},
                                       {"-e", "it is -x, --exclusive here"},
                                       {"-p", "it is --url redis://HOST:PORT here"},
                                       {"--password", "--password-file, or REDISCLI_AUTH"}}) {
        const auto result = holdfast({"run", option, "key", "true"});
        EXPECT_EQ(result.exit_code, 64);
        EXPECT_TRUE(contains(result.err, ours)) << result.err;
    }
    const auto nothing_to_wait_for = holdfast({"status", "--timeout", "key"});
    EXPECT_FALSE(contains(nothing_to_wait_for.err, "--wait")) << nothing_to_wait_for.err;
}

TEST_F(options, x_is_understood_and_is_the_default) {
    for (const char* option : {"-x", "--exclusive", "-xn"}) {
        EXPECT_EQ(holdfast({"run", option, "key", "echo", "ran"}).out, "ran\n") << option;
    }
}

TEST_F(options, v_tells_of_the_lock_from_its_beginning_to_its_end) {
    const auto result = holdfast({"run", "-v", "--ttl", "3s", "--kill-after", "500ms", "key", "sh",
                                  "-c", "sleep 1.5; echo $HOLDFAST_TOKEN"});
    const auto token = result.out.substr(0, result.out.find('\n'));
    EXPECT_TRUE(std::regex_search(
        result.err, std::regex("'key': acquired after [0-9.]+m?s, token " + token + ", for 3s")))
        << result.err;
    EXPECT_TRUE(std::regex_search(
        result.err, std::regex("'key': released, held for [0-9.]+s, renewed [1-9] times\n")))
        << result.err;
    EXPECT_EQ(holdfast({"run", "key", "true"}).err, "");
}

TEST_F(options, v_names_the_node) {
    const auto result = holdfast({"run", "-v", "key", "true"});
    EXPECT_TRUE(contains(result.err, "127.0.0.1:" + std::to_string(server_.port()) + ": connected"))
        << result.err;
}

TEST_F(options, a_missing_password_names_the_options_that_give_one) {
    redis_options guarded;
    guarded.password = "open sesame";
    const redis_server server(guarded);
    const auto missing = with_url(server.url(), {"run", "-n", "key", "true"});
    EXPECT_EQ(missing.exit_code, 77);
    EXPECT_TRUE(contains(missing.err, "--password-file or REDISCLI_AUTH")) << missing.err;
}

/// A server that speaks TLS on one port, and does not on another.
class speaking_tls : public options {
  protected:
    scratch_directory directory_{"tls"};
    certificate_authority authority_{directory_.path()};
    certificate_files identity_ = authority_.issue_server("local", {"127.0.0.1"});
    redis_server secure_{{.tls = tls_files{.certificate = identity_.certificate,
                                           .key = identity_.key,
                                           .authority = authority_.file()}}};
    const words probe_{"run", "-n", "key", "true"};
};

TEST_F(speaking_tls, errors_name_the_options_of_the_command) {
    const auto untrusted = with_url(secure_.tls_url(), probe_);
    EXPECT_EQ(untrusted.exit_code, 77);
    EXPECT_TRUE(contains(untrusted.err, "--cacert")) << untrusted.err;
    const auto elsewhere =
        with_url(secure_.tls_url(), {"run", "--cacert", authority_.file().native(), "--sni",
                                     "db.example.com", "-n", "key", "true"});
    EXPECT_TRUE(contains(elsewhere.err, "see --sni")) << elsewhere.err;
    for (const auto& result : {untrusted, elsewhere}) {
        EXPECT_FALSE(contains(result.err, "tls.")) << result.err;
    }
}

TEST_F(speaking_tls, a_plain_connection_there_suggests_rediss) {
    const auto result = with_url("redis://127.0.0.1:" + std::to_string(secure_.tls_port()), probe_);
    EXPECT_NE(result.exit_code, 0);
    EXPECT_TRUE(contains(result.err, "use rediss://")) << result.err;
    const auto diagnosed =
        with_url("redis://127.0.0.1:" + std::to_string(secure_.tls_port()), {"doctor"});
    EXPECT_TRUE(contains(diagnosed.out, "fix: rediss:// instead of redis:// in the URL"))
        << diagnosed.out;
}

TEST_F(speaking_tls, and_where_nobody_does_suggests_redis) {
    const auto result = with_url("rediss://127.0.0.1:" + std::to_string(secure_.port()), probe_);
    EXPECT_NE(result.exit_code, 0);
    EXPECT_TRUE(contains(result.err, "use redis://")) << result.err;
}

}  // namespace
}  // namespace holdfast::test
