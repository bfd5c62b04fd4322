#include <fcntl.h>
#include <netinet/in.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "integration/library.hpp"
#include "support/certificates.hpp"
#include "support/fault_proxy.hpp"
#include "support/file_descriptor.hpp"
#include "support/hostile_server.hpp"

namespace holdfast::test {
namespace {

class tls : public testing::Test {
  protected:
    tls_files files_for(const certificate_files& server, bool require_client = false) const {
        return {.certificate = server.certificate,
                .key = server.key,
                .authority = authority_.file(),
                .require_client_certificate = require_client};
    }

    // A handshake is much work for a busy machine.
    static options patient(const std::string& url) {
        auto settings = settings_for(url);
        settings.connect_timeout = surely / 2;
        return settings;
    }

    options trusting(const std::string& url) const {
        auto settings = patient(url);
        settings.tls.ca_file = authority_.file();
        return settings;
    }

    static thrown_error failure_of(const options& settings) {
        client through(settings);
        const stopwatch watch;
        auto error = error_of([&] { mutex(through, "k").lock(); });
        if (error.code != errc::unreachable) {
            EXPECT_LT(watch.elapsed(), 2s) << "asking again changes nothing";
        }
        return error;
    }

    static bool has_ipv6_loopback() {
        const file_descriptor probe(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in6 address{};
        address.sin6_family = AF_INET6;
        address.sin6_addr = in6addr_loopback;
        return ::bind(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
               0;
    }

    scratch_directory directory_{"tls"};
    certificate_authority authority_{directory_.path()};
    certificate_files good_ = authority_.issue_server("good", {"localhost", "127.0.0.1"});
};

TEST_F(tls, a_certificate_for_the_address_or_the_name_is_accepted) {
    const redis_server server({.tls = files_for(good_)});
    client by_address(trusting(server.tls_url()));
    EXPECT_TRUE(mutex(by_address, "k").try_acquire());
    client by_name(trusting("rediss://localhost:" + std::to_string(server.tls_port())));
    EXPECT_TRUE(mutex(by_name, "k").try_acquire());
}

TEST_F(tls, a_certificate_for_another_host_is_refused) {
    const auto other = authority_.issue_server("other", {"db.example.com"});
    const redis_server server({.tls = files_for(other)});
    const auto error = failure_of(trusting(server.tls_url()));
    EXPECT_EQ(error.code, errc::untrusted) << error.what;
    EXPECT_TRUE(contains(error.what, "mismatch")) << error.what;
    EXPECT_TRUE(contains(error.what, "127.0.0.1")) << error.what;
    const auto by_name =
        failure_of(trusting("rediss://localhost:" + std::to_string(server.tls_port())));
    EXPECT_EQ(by_name.code, errc::untrusted) << by_name.what;
    EXPECT_TRUE(contains(by_name.what, "hostname mismatch")) << by_name.what;
}

TEST_F(tls, the_zone_of_an_address_is_not_compared_and_the_address_is) {
    if (!has_ipv6_loopback()) GTEST_SKIP() << "needs ::1";
    const auto url_of = [](const redis_server& server) {
        return "rediss://[::1%25lo]:" + std::to_string(server.tls_port());
    };
    const std::vector<std::string> both{"bind 127.0.0.1 ::1"};
    const auto other = authority_.issue_server("other", {"db.example.com", "127.0.0.1"});
    const redis_server stranger({.configuration = both, .tls = files_for(other)});
    const auto error = failure_of(trusting(url_of(stranger)));
    EXPECT_EQ(error.code, errc::untrusted) << error.what;
    EXPECT_TRUE(contains(error.what, "mismatch")) << error.what;
    const auto right = authority_.issue_server("right", {"::1"});
    const redis_server server({.configuration = both, .tls = files_for(right)});
    client through(trusting(url_of(server)));
    EXPECT_TRUE(mutex(through, "k").try_acquire());
}

TEST_F(tls, the_name_to_expect_can_be_given) {
    const auto other = authority_.issue_server("other", {"db.example.com"});
    const redis_server server({.tls = files_for(other)});
    auto settings = trusting(server.tls_url());
    settings.tls.server_name = "db.example.com";
    client through(settings);
    EXPECT_TRUE(mutex(through, "k").try_acquire());
}

TEST_F(tls, an_expired_certificate_is_refused) {
    const auto old = authority_.issue_server("old", {"127.0.0.1"}, validity::expired);
    const redis_server server({.tls = files_for(old)});
    const auto error = failure_of(trusting(server.tls_url()));
    EXPECT_EQ(error.code, errc::untrusted) << error.what;
    EXPECT_TRUE(contains(error.what, "expired")) << error.what;
}

TEST_F(tls, a_certificate_that_is_not_valid_yet_is_refused) {
    const auto future = authority_.issue_server("future", {"127.0.0.1"}, validity::not_yet);
    const redis_server server({.tls = files_for(future)});
    EXPECT_EQ(failure_of(trusting(server.tls_url())).code, errc::untrusted);
}

TEST_F(tls, a_self_signed_certificate_is_refused) {
    const auto own = make_self_signed(directory_.path(), "own", {"127.0.0.1"});
    const redis_server server({.tls = files_for(own)});
    const auto error = failure_of(trusting(server.tls_url()));
    EXPECT_EQ(error.code, errc::untrusted) << error.what;
    EXPECT_TRUE(contains(error.what, "tls.ca_file")) << error.what;
    auto trusted = settings_for(server.tls_url());
    trusted.tls.ca_file = own.certificate;
    client through(trusted);
    EXPECT_TRUE(mutex(through, "k").try_acquire()) << "unless it is itself what we trust";
}

TEST_F(tls, a_certificate_of_an_unknown_authority_is_refused) {
    const redis_server server({.tls = files_for(good_)});
    EXPECT_EQ(failure_of(settings_for(server.tls_url())).code, errc::untrusted);
    const certificate_authority another(directory_.path(), "another");
    auto settings = patient(server.tls_url());
    settings.tls.ca_file = another.file();
    EXPECT_EQ(failure_of(settings).code, errc::untrusted);
}

TEST_F(tls, verification_can_be_switched_off) {
    const auto own = make_self_signed(directory_.path(), "own", {"elsewhere"});
    const redis_server server({.tls = files_for(own)});
    auto settings = patient(server.tls_url());
    settings.tls.verify = false;
    client through(settings);
    EXPECT_TRUE(mutex(through, "k").try_acquire());
}

TEST_F(tls, a_server_that_answers_in_plain_text_is_refused) {
    hostile_behaviour plain = hostile::always("-ERR unknown command\r\n");
    plain.answer_each = hostile_behaviour::occasion::chunk;
    const hostile_server server(plain);
    const auto error = failure_of(trusting("rediss://127.0.0.1:" + std::to_string(server.port())));
    EXPECT_EQ(error.code, errc::protocol) << error.what;
    EXPECT_TRUE(contains(error.what, "no TLS there")) << error.what;
}

TEST_F(tls, the_plain_port_of_a_real_server_is_refused) {
    const redis_server server;
    auto settings = trusting("rediss://127.0.0.1:" + std::to_string(server.port()));
    settings.connect_timeout = 300ms;
    settings.patience = 0ms;
    const auto error = failure_of(settings);
    EXPECT_TRUE(error.code == errc::protocol || error.code == errc::unreachable) << error.what;
    EXPECT_TRUE(contains(error.what, "TLS")) << error.what;
}

TEST_F(tls, a_plain_client_on_a_tls_port_fails) {
    const redis_server server({.tls = files_for(good_)});
    auto settings = settings_for("redis://127.0.0.1:" + std::to_string(server.tls_port()));
    settings.patience = 0ms;
    settings.connect_timeout = 300ms;
    EXPECT_TRUE(failure_of(settings).code);
}

TEST_F(tls, a_client_certificate_is_shown_when_there_is_one) {
    const redis_server server({.tls = files_for(good_, true)});
    const auto mine = authority_.issue_client("me");
    auto settings = trusting(server.tls_url());
    settings.tls.certificate_file = mine.certificate;
    settings.tls.key_file = mine.key;
    client through(settings);
    EXPECT_TRUE(mutex(through, "k").try_acquire());
}

TEST_F(tls, a_missing_or_foreign_client_certificate_is_an_error) {
    const redis_server server({.tls = files_for(good_, true)});
    auto settings = trusting(server.tls_url());
    settings.patience = 100ms;
    // Whether the alert or the reset behind it is read first is up to the kernel.
    const auto is_refusal = [](const thrown_error& error) {
        return error.code == errc::authentication || error.code == errc::unreachable;
    };
    const auto missing = failure_of(settings);
    EXPECT_TRUE(is_refusal(missing)) << missing.what;
    certificate_authority another(directory_.path(), "another");
    const auto foreign_files = another.issue_client("foreign");
    settings.tls.certificate_file = foreign_files.certificate;
    settings.tls.key_file = foreign_files.key;
    const auto foreign = failure_of(settings);
    EXPECT_TRUE(is_refusal(foreign)) << foreign.what;
}

TEST_F(tls, files_that_cannot_be_used_are_refused_when_the_client_is_made) {
    const auto refused = [&](const tls_options& files) {
        auto settings = settings_for("rediss://127.0.0.1:1");
        settings.tls = files;
        const auto error = error_of([&] { client through(settings); });
        EXPECT_EQ(error.code, errc::invalid_option) << error.what;
        return error.what;
    };
    const auto garbage = directory_ / "garbage.pem";
    std::ofstream(garbage) << "no certificate";
    const auto mine = authority_.issue_client("me");
    EXPECT_TRUE(contains(refused({.ca_file = "/nowhere/ca.pem"}), "/nowhere/ca.pem"));
    EXPECT_TRUE(contains(refused({.ca_file = garbage}), garbage));
    EXPECT_TRUE(contains(refused({.certificate_file = garbage, .key_file = mine.key}), garbage));
    EXPECT_TRUE(
        contains(refused({.certificate_file = mine.certificate, .key_file = garbage}), garbage));
    EXPECT_TRUE(contains(refused({.certificate_file = mine.certificate, .key_file = good_.key}),
                         good_.key));
}

/// Authorities in a file that changes while a client uses it.
class tls_rotation : public tls {
  protected:
    tls_rotation() { replace_by(authority_.file()); }

    /// As those do who know how: the name is never without a whole file behind it.
    void replace_by(const std::filesystem::path& other) {
        std::filesystem::copy_file(other, directory_ / "next.pem");
        std::filesystem::rename(directory_ / "next.pem", trusted_);
    }

    options settings() const {
        auto result = patient("rediss://127.0.0.1:" + std::to_string(network_.port()));
        result.tls.ca_file = trusted_;
        return result;
    }

    bool reconnects(client& through) {
        const auto before = through.statistics().connected;
        network_.reset_connections();
        return eventually(surely, [&] {
            std::error_code error;  // of a connection that is just going down
            return mutex(through, "k").try_acquire({}, error) &&
                   through.statistics().connected > before;
        });
    }

    std::filesystem::path trusted_ = directory_ / "trusted.pem";
    redis_server server_{{.tls = files_for(good_)}};
    fault_proxy network_{server_.tls_port()};
};

TEST_F(tls_rotation, files_are_read_while_others_use_the_client) {
    client through(settings());
    through.connect();
    std::filesystem::remove(trusted_);
    ASSERT_EQ(::mkfifo(trusted_.c_str(), 0600), 0) << "to read it takes as long as we like";
    network_.reset_connections();
    std::thread locks([&] { EXPECT_TRUE(mutex(through, "k").try_acquire_for(surely)); });
    file_descriptor writes;
    ASSERT_TRUE(eventually(surely, [&] {  // and that works only when somebody reads
        writes = file_descriptor(::open(trusted_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
        return static_cast<bool>(writes);
    }));
    auto other = std::async(std::launch::async, [&] { return through.statistics().acquired; });
    EXPECT_EQ(other.wait_for(promptly), std::future_status::ready);
    std::ofstream(trusted_) << std::ifstream(authority_.file()).rdbuf();
    writes.reset();
    locks.join();
}

TEST_F(tls_rotation, files_that_have_not_changed_are_not_read_again) {
    client through(settings());
    through.connect();
    const file_descriptor watch(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    ASSERT_GE(::inotify_add_watch(watch.get(), trusted_.c_str(), IN_OPEN), 0);
    for (int round = 0; round < 3; ++round) EXPECT_TRUE(reconnects(through));
    inotify_event opened{};
    EXPECT_LT(::read(watch.get(), &opened, sizeof opened), 0) << "it was opened";
    (void)std::ifstream(trusted_).get();
    EXPECT_GT(::read(watch.get(), &opened, sizeof opened), 0) << "this would have been noticed";
}

TEST_F(tls_rotation, files_that_have_changed_are_read_for_the_next_connection) {
    client through(settings());
    through.connect();
    replace_by(certificate_authority(directory_.path(), "another").file());
    network_.reset_connections();
    EXPECT_EQ(error_of([&] { mutex(through, "k").lock(); }).code, errc::untrusted);
    replace_by(authority_.file());
    EXPECT_TRUE(reconnects(through));
}

TEST_F(tls_rotation, files_that_have_gone_bad_cost_connections_until_they_are_mended) {
    client through(settings());
    through.connect();
    std::ofstream(trusted_, std::ios::trunc) << "half a file";
    network_.reset_connections();
    thrown_error error;
    EXPECT_TRUE(eventually(surely, [&] {
        error = error_of([&] { (void)mutex(through, "k").try_acquire(); });
        return error.code == errc::invalid_option;
    })) << error.what;
    EXPECT_TRUE(contains(error.what, trusted_)) << error.what;
    replace_by(authority_.file());
    EXPECT_TRUE(mutex(through, "k").try_acquire_for(surely));
}

TEST_F(tls, everything_works_over_it) {
    const redis_server server({.password = "s3cret", .tls = files_for(good_)});
    auto settings = trusting(server.tls_url());
    settings.password = "s3cret";
    client one(settings);
    client two(settings);
    auto theirs = mutex(one, "k", with_ttl(300ms * slowness)).acquire();
    std::thread waiter([&] { EXPECT_TRUE(mutex(two, "k").try_acquire_for(surely)); });
    EXPECT_TRUE(eventually(surely, [&] { return one.statistics().renewed > 2; }));
    EXPECT_TRUE(theirs.verify());
    EXPECT_EQ(theirs.release(), release_result::released);
    waiter.join();
}

TEST_F(tls, many_threads_share_one_connection) {
    const redis_server server({.tls = files_for(good_)});
    client through(trusting(server.tls_url()));
    std::vector<std::thread> workers;
    for (int n = 0; n < 8; ++n) {
        workers.emplace_back([&, n] {
            for (int round = 0; round < 50; ++round) {
                const auto held = mutex(through, std::to_string(n)).acquire();
            }
        });
    }
    for (auto& worker : workers) worker.join();
    EXPECT_EQ(through.statistics().acquired, 400U);
    EXPECT_EQ(through.statistics().connected, 1U);
}

TEST_F(tls, connections_are_lost_and_made_again_while_threads_work) {
    const redis_server server({.tls = files_for(good_)});
    fault_proxy network(server.tls_port());
    client through(trusting("rediss://127.0.0.1:" + std::to_string(network.port())));
    std::atomic<bool> done = false;
    std::vector<std::thread> workers;
    for (int n = 0; n < 4; ++n) {
        workers.emplace_back([&, n] {
            mutex own(through, std::to_string(n));
            while (!done) {
                std::error_code error;
                if (own.try_lock(error)) own.unlock();
            }
        });
    }
    for (int round = 0; round < 10; ++round) {
        const auto before = through.statistics();
        EXPECT_TRUE(eventually(
            surely, [&] { return through.statistics().acquired > before.acquired + 10; }));
        network.reset_connections();
    }
    done = true;
    for (auto& worker : workers) worker.join();
    EXPECT_GE(through.statistics().connected, 10U);
}

}  // namespace
}  // namespace holdfast::test
