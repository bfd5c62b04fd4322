#include <atomic>
#include <thread>

#include "integration/library.hpp"
#include "support/fault_proxy.hpp"

/// Releases that a server answers with an error: the key stands, and stays owed.
namespace holdfast::test {
namespace {

constexpr milliseconds long_ttl = 60s;

class refused_release : public testing::Test {
  protected:
    refused_release() { mutex(client_, "k").acquire().release(); }  // it knows our scripts

    options settings() {
        auto result = settings_for(network_.url());
        result.node_timeout = 300ms * slowness;
        return result;
    }

    /// What nobody waits for is released by text.
    void refuse_clean_ups() { server_.command({"ACL", "SETUSER", "default", "-eval"}); }
    void allow_everything() { server_.command({"ACL", "SETUSER", "default", "+@all"}); }

    /// As the server has noted them: what rejected_calls of INFO counts Redis 6.0 does not count.
    std::int64_t refused_clean_ups() {
        std::int64_t count = 0;
        for (const auto& entry : server_.query({"ACL", "LOG", "128"}).elements) {
            const auto field = [&](const std::string& name) {
                for (std::size_t n = 0; n + 1 < entry.elements.size(); n += 2) {
                    if (entry.elements[n].text == name) return entry.elements[n + 1];
                }
                return reply{};
            };
            if (field("object").text == "eval") count += field("count").integer;
        }
        return count;
    }

    /// A grant that nobody heard of, and whose release was refused.
    void leave_a_key_behind() {
        refuse_clean_ups();
        network_.silence(direction::to_client);
        const auto error =
            error_of([&] { (void)mutex(client_, "k", with_ttl(long_ttl)).try_acquire(); });
        EXPECT_EQ(error.code, errc::unreachable) << error.what;
        network_.heal();
        EXPECT_TRUE(eventually(surely, [&] { return refused_clean_ups() > 0; }));
        EXPECT_TRUE(server_.exists("k"));
    }

    redis_server server_;
    fault_proxy network_{server_.port()};
    client client_{settings()};
};

TEST_F(refused_release, of_a_clean_up_is_repeated_until_the_server_takes_it) {
    leave_a_key_behind();
    EXPECT_TRUE(eventually(surely, [&] { return refused_clean_ups() > 1; }));
    EXPECT_TRUE(server_.exists("k"));
    allow_everything();
    EXPECT_TRUE(eventually(surely, [&] { return !server_.exists("k"); }));
}

TEST_F(refused_release, of_a_lease_is_repeated_until_the_server_takes_it) {
    auto held = mutex(client_, "k", with_ttl(long_ttl)).acquire();
    server_.command({"ACL", "SETUSER", "default", "-eval", "-evalsha"});
    EXPECT_EQ(held.release(), release_result::unknown);
    EXPECT_TRUE(server_.exists("k"));
    allow_everything();
    EXPECT_TRUE(eventually(surely, [&] { return !server_.exists("k"); }));
}

TEST_F(refused_release, is_not_repeated_in_a_hurry) {
    leave_a_key_behind();
    const auto before = refused_clean_ups();
    std::this_thread::sleep_for(2s);
    EXPECT_LE(refused_clean_ups() - before, 8) << "100 ms, 200, 400, ..., and answers take a while";
}

TEST_F(refused_release, that_succeeds_later_is_told_to_those_who_wait_in_this_client) {
    leave_a_key_behind();
    const auto orphan = server_.get("k");
    std::atomic<bool> got = false;
    std::thread waiter([&] {
        const auto held = mutex(client_, "k").acquire();
        got = true;
    });
    EXPECT_TRUE(eventually(surely, [&] { return client_.statistics().denied > 1; }));
    allow_everything();
    EXPECT_TRUE(eventually(surely, [&] { return server_.get("k") != orphan; }));
    EXPECT_TRUE(eventually(promptly, [&] { return got.load(); })) << "it looks every 5 s, too";
    waiter.join();
}

// A request that nobody answered may have been carried out as late as the client stopped waiting
// for it, so that is what the key's ttl is counted from.
TEST_F(refused_release, is_given_up_when_the_key_is_gone_by_itself) {
    const auto short_ttl = 700ms * slowness;
    refuse_clean_ups();
    network_.silence(direction::to_client);
    (void)error_of([&] { (void)mutex(client_, "k", with_ttl(short_ttl)).try_acquire(); });
    network_.heal();
    std::this_thread::sleep_for(short_ttl + 1s);  // one may have been under way
    EXPECT_FALSE(server_.exists("k"));
    const auto before = refused_clean_ups();
    EXPECT_GT(before, 0);
    std::this_thread::sleep_for(4s);  // longer than the next pause would have been
    EXPECT_EQ(refused_clean_ups(), before);
}

}  // namespace
}  // namespace holdfast::test
