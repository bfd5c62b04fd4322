#include "support/certificates.hpp"
#include "tool.hpp"

namespace holdfast::test {
namespace {

/// A server with a certificate of a private authority, and the command pointed at it.
class tls : public testing::Test {
  protected:
    redis_options served_by(const certificate_files& identity, bool ask_back = false) const {
        return {.tls = tls_files{.certificate = identity.certificate,
                                 .key = identity.key,
                                 .authority = authority_.file(),
                                 .require_client_certificate = ask_back}};
    }

    command_result run(const redis_server& server, const words& options) const {
        // Instrumented, and on a busy machine, a handshake takes its time.
        words arguments{"run", "--url", server.tls_url() + "?connect_timeout=20s"};
        arguments.insert(arguments.end(), options.begin(), options.end());
        arguments.insert(arguments.end(), {"-n", "key", "echo", "ran"});
        return run_command(holdfast_with(arguments));
    }

    void expect_refused(const command_result& result) const {
        EXPECT_EQ(result.exit_code, 77) << result.err;
        EXPECT_EQ(result.out, "");
    }

    scratch_directory directory_{"tls"};
    certificate_authority authority_{directory_.path()};
    certificate_authority stranger_{directory_.path(), "stranger"};
    std::string trusted_ = authority_.file().native();
    certificate_files local_ = authority_.issue_server("local", {"127.0.0.1"});
    certificate_files distant_ = authority_.issue_server("distant", {"db.example.com"});
};

TEST_F(tls, trusts_the_authority_that_cacert_names) {
    const redis_server server(served_by(local_));
    const auto result = run(server, {"--cacert", trusted_});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "ran\n");
}

TEST_F(tls, refuses_a_server_of_another_authority) {
    const redis_server server(served_by(local_));
    expect_refused(run(server, {"--cacert", stranger_.file().native()}));
    expect_refused(run(server, {}));
}

TEST_F(tls, takes_no_certificate_without_its_key) {
    const redis_server server(served_by(local_));
    const auto result = run(server, {"--cacert", trusted_, "--cert", local_.certificate.native()});
    EXPECT_EQ(result.exit_code, 64) << result.err;
    EXPECT_TRUE(contains(result.err, "holds no private key; name the file that does by --key"))
        << result.err;
}

TEST_F(tls, expects_the_name_that_sni_gives_instead_of_the_host) {
    const redis_server server(served_by(distant_));
    expect_refused(run(server, {"--cacert", trusted_}));
    EXPECT_EQ(run(server, {"--cacert", trusted_, "--sni", "db.example.com"}).out, "ran\n");
    expect_refused(run(server, {"--cacert", trusted_, "--sni", "other.example.com"}));
}

TEST_F(tls, verifies_nothing_when_insecure) {
    const redis_server server(served_by(distant_));
    EXPECT_EQ(run(server, {"--insecure"}).out, "ran\n");
}

TEST_F(tls, shows_its_own_certificate_to_a_server_that_asks) {
    const redis_server server(served_by(local_, true));
    const auto ours = authority_.issue_client("client");
    const words shown{"--cacert", trusted_,         "--cert", ours.certificate.native(),
                      "--key",    ours.key.native()};
    EXPECT_EQ(run(server, shown).out, "ran\n");
    // It says what it wants, and hangs up: which of the two is seen first is chance.
    for (int turn = 0; turn < 10; ++turn) {
        const auto refused = run(server, {"--cacert", trusted_});
        EXPECT_EQ(refused.out, "");
        EXPECT_TRUE(contains(refused.err, "--cert")) << refused.err;
    }
}

// Each attempt to connect takes a second, and tells only then what is wrong.
TEST_F(tls, with_a_server_that_has_none_is_named_also_when_a_wait_ends_in_mid_attempt) {
    const redis_server server;
    const std::string url = "rediss://127.0.0.1:" + std::to_string(server.port());
    for (const char* wait : {"1600ms", "2200ms"}) {
        const auto result = run_command(holdfast_with({"lock", "--url", url, "-w", wait, "key"}));
        EXPECT_EQ(result.exit_code, 69) << result.err;
        EXPECT_TRUE(contains(result.err, "use redis://")) << result.err;
    }
}

TEST_F(tls, names_a_file_that_it_cannot_use) {
    const redis_server server(served_by(local_));
    const auto result = run(server, {"--cacert", "/no/such/file"});
    EXPECT_EQ(result.exit_code, 78) << result.err;
    EXPECT_NE(result.err.find("/no/such/file"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace holdfast::test
