#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "integration/library.hpp"

namespace holdfast::test {
namespace {

/// What was logged, kept beyond the callback.
class record_keeper {
  public:
    struct entry {
        log_level level;
        std::string event;
        std::string message;
        std::string key;
        std::string node;
    };

    log_callback callback() {
        return [this](const log_record& record) {
            const std::lock_guard lock(guard_);
            entries_.push_back({record.level, std::string(record.event),
                                std::string(record.message), std::string(record.key),
                                std::string(record.node)});
        };
    }

    std::optional<entry> find(const std::string& event) const {
        const std::lock_guard lock(guard_);
        const auto found = std::find_if(entries_.begin(), entries_.end(),
                                        [&](const entry& e) { return e.event == event; });
        return found == entries_.end() ? std::nullopt : std::optional(*found);
    }

    std::string everything() const {
        const std::lock_guard lock(guard_);
        std::string all;
        for (const auto& e : entries_) all += e.event + e.message + e.key + e.node + "\n";
        return all;
    }

  private:
    mutable std::mutex guard_;
    std::vector<entry> entries_;
};

class statistics_log : public testing::Test {
  protected:
    options logging() {
        auto settings = settings_for(server_.url());
        settings.log = log_.callback();
        return settings;
    }

    redis_server server_;
    record_keeper log_;
    client client_{logging()};
    client other_{server_.url()};
};

TEST_F(statistics_log, what_was_done_is_counted) {
    {
        const auto held = mutex(client_, "a").acquire();
        const auto second = mutex(client_, "b").acquire();
        EXPECT_EQ(client_.statistics().held_now, 2U);
    }
    const auto after = client_.statistics();
    EXPECT_EQ(after.acquired, 2U);
    EXPECT_EQ(after.released, 2U);
    EXPECT_EQ(after.held_now, 0U);
    EXPECT_EQ(after.denied, 0U);
    EXPECT_EQ(after.waited, 0U);
    EXPECT_EQ(after.lost, 0U);
    EXPECT_EQ(after.failed, 0U);
    EXPECT_EQ(after.connected, 1U);
    EXPECT_EQ(after.wait_time.count(), 2U);
    EXPECT_EQ(after.hold_time.count(), 2U);
}

TEST_F(statistics_log, denials_and_waits_are_counted) {
    auto theirs = mutex(other_, "k").acquire();
    EXPECT_FALSE(mutex(client_, "k").try_acquire());
    EXPECT_EQ(client_.statistics().denied, 1U);
    EXPECT_EQ(client_.statistics().acquired, 0U);
    std::thread waiter([&] { EXPECT_TRUE(mutex(client_, "k").try_acquire_for(surely)); });
    EXPECT_TRUE(eventually(surely, [&] { return client_.statistics().denied > 1; }));
    std::this_thread::sleep_for(30ms);
    theirs.release();
    waiter.join();
    const auto after = client_.statistics();
    EXPECT_EQ(after.waited, 1U);
    EXPECT_GE(after.wait_time.largest(), 30ms);
}

TEST_F(statistics_log, a_wait_in_the_local_line_is_a_wait_too) {
    auto mine = mutex(client_, "k").acquire();
    std::thread waiter([&] { EXPECT_TRUE(mutex(client_, "k").try_acquire_for(surely)); });
    std::this_thread::sleep_for(50ms);
    mine.release();
    waiter.join();
    EXPECT_EQ(client_.statistics().waited, 1U);
}

TEST_F(statistics_log, renewals_and_losses_are_counted_once) {
    {
        const auto held = mutex(client_, "k", with_ttl(300ms * slowness)).acquire();
        EXPECT_TRUE(eventually(surely, [&] { return client_.statistics().renewed >= 2; }));
        server_.command({"DEL", "k"});
        EXPECT_TRUE(eventually(surely, [&] { return client_.statistics().lost == 1; }));
        const auto at_loss = client_.statistics();
        EXPECT_EQ(at_loss.held_now, 0U) << "a lost lease is not held";
        EXPECT_EQ(at_loss.hold_time.count(), 1U) << "it ended with its loss";
    }
    const auto after = client_.statistics();
    EXPECT_EQ(after.lost, 1U);
    EXPECT_EQ(after.hold_time.count(), 1U);
    EXPECT_EQ(after.released, 0U);
}

TEST_F(statistics_log, failures_are_counted) {
    auto settings = settings_for("redis://127.0.0.1:1");
    client nowhere(settings);
    std::error_code error;
    EXPECT_FALSE(mutex(nowhere, "k").try_lock(error));
    EXPECT_EQ(nowhere.statistics().failed, 1U);
    EXPECT_EQ(nowhere.statistics().connected, 0U);
}

TEST_F(statistics_log, hold_times_are_measured) {
    {
        const auto held = mutex(client_, "k").acquire();
        std::this_thread::sleep_for(50ms);
    }
    const auto times = client_.statistics().hold_time;
    EXPECT_GE(times.largest(), 50ms);
    EXPECT_GE(times.sum(), 50ms);
    EXPECT_GE(times.quantile(0.5), 50ms);
    EXPECT_LT(times.largest(), 50ms + promptly);
}

TEST_F(statistics_log, connections_are_logged_with_their_node) {
    client_.connect();
    const auto entry = log_.find("connected");
    ASSERT_TRUE(entry.has_value());
    EXPECT_EQ(entry->level, log_level::info);
    EXPECT_EQ(entry->node, "127.0.0.1:" + std::to_string(server_.port()));
    server_.kill_hard();
    std::error_code error;
    client_.connect(error);
    EXPECT_TRUE(eventually(surely, [&] { return log_.find("disconnected").has_value(); }));
}

TEST_F(statistics_log, losses_are_logged_with_their_key) {
    const auto held = mutex(client_, "precious", with_ttl(200ms * slowness)).acquire();
    server_.command({"DEL", "precious"});
    EXPECT_TRUE(eventually(surely, [&] { return log_.find("lease_lost").has_value(); }));
    EXPECT_EQ(log_.find("lease_lost")->key, "precious");
    EXPECT_EQ(log_.find("lease_lost")->level, log_level::error);
}

TEST_F(statistics_log, keys_are_logged_without_the_prefix) {
    auto settings = logging();
    settings.prefix = "app:";
    client prefixed(settings);
    const auto held = mutex(prefixed, "precious", with_ttl(200ms * slowness)).acquire();
    server_.command({"DEL", "app:precious"});
    EXPECT_TRUE(eventually(surely, [&] { return log_.find("lease_lost").has_value(); }));
    EXPECT_EQ(log_.find("lease_lost")->key, "precious");
}

TEST_F(statistics_log, unlocking_what_is_not_held_is_logged_and_does_nothing_else) {
    const auto theirs = mutex(other_, "k").acquire();
    mutex one(client_, "k");
    one.unlock();
    const auto entry = log_.find("unlock_not_held");
    ASSERT_TRUE(entry.has_value());
    EXPECT_EQ(entry->key, "k");
    EXPECT_TRUE(theirs.verify());
    recursive_mutex(client_, "r").unlock();
    EXPECT_TRUE(contains(log_.everything(), "r"));
}

TEST_F(statistics_log, neither_passwords_nor_owner_tokens_are_logged) {
    server_.command({"ACL", "SETUSER", "app", "on", ">s3cret", "~*", "+@all"});
    auto settings = settings_for("redis://app:s3cret@127.0.0.1:" + std::to_string(server_.port()));
    settings.log = log_.callback();
    client through(settings);
    const auto held = mutex(through, "k", with_ttl(200ms * slowness)).acquire();
    server_.command({"DEL", "k"});
    EXPECT_TRUE(eventually(surely, [&] { return log_.find("lease_lost").has_value(); }));
    server_.command({"ACL", "SETUSER", "app", "resetpass", ">other"});
    server_.command({"CLIENT", "KILL", "USER", "app"});
    EXPECT_TRUE(eventually(surely, [&] {
        std::error_code error;
        through.connect(error);
        return error == errc::authentication;
    }));
    EXPECT_FALSE(contains(log_.everything(), "s3cret"));
    EXPECT_FALSE(contains(log_.everything(), held.owner().substr(4, 40)));
}

TEST_F(statistics_log, what_the_callback_throws_is_swallowed) {
    auto settings = settings_for(server_.url());
    settings.log = [](const log_record&) { throw std::runtime_error("logger"); };
    client through(settings);
    EXPECT_TRUE(mutex(through, "k").try_acquire());
}

}  // namespace
}  // namespace holdfast::test
