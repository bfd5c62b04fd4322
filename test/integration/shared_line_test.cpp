#include <atomic>
#include <future>
#include <thread>

#include "holdfast/operate.hpp"
#include "integration/client_list.hpp"
#include "integration/library.hpp"
#include "scripts/shared/embedded.hpp"
#include "support/lock_process.hpp"

/// Readers and writers stand in one line at the server.
namespace holdfast::test {
namespace {

constexpr auto shared_queue = "holdfast:{k}:queue";

class shared_line : public testing::Test {
  protected:
    [[nodiscard]] std::size_t length() const {
        return std::stoul(server_.command({"LLEN", shared_queue}));
    }

    /// Somebody who waits, in a thread and with a client of its own, and notes when it has it. It
    /// holds the lock until the test lets it go.
    struct waiter {
        std::atomic<bool> has = false;
        std::atomic<bool> may_go = false;
        std::jthread thread;

        void let_go() {
            may_go = true;
            thread.join();
        }
    };

    waiter& join(bool reads) {
        const auto before = length();
        auto& made = *waiters_.emplace_back(std::make_unique<waiter>());
        made.thread = std::jthread([this, &made, reads] {
            client own(server_.url());
            shared_mutex lock(own, "k");
            const auto held = reads ? lock.acquire_shared() : lock.acquire();
            made.has = true;
            EXPECT_TRUE(eventually(surely, [&] { return made.may_go.load(); }));
        });
        EXPECT_TRUE(eventually(surely, [&] { return length() == before + 1; }));
        return made;
    }
    waiter& reader() { return join(true); }
    waiter& writer() { return join(false); }

    static bool soon(const waiter& who) {
        return eventually(surely, [&] { return who.has.load(); });
    }

    redis_server server_;
    client client_{server_.url()};
    shared_mutex here_{client_, "k"};
    std::vector<std::unique_ptr<waiter>> waiters_;
};

TEST_F(shared_line, a_waiting_writer_holds_newcomers_back) {
    auto reads = here_.acquire_shared();
    auto& waits = writer();
    EXPECT_FALSE(here_.try_acquire_shared()) << "of a client that reads already";
    client other(server_.url());
    EXPECT_FALSE(shared_mutex(other, "k").try_acquire_shared());
    EXPECT_TRUE(reads.verify());
    reads.release();
    EXPECT_TRUE(soon(waits));
    waits.let_go();
    EXPECT_TRUE(here_.try_acquire_shared());
}

TEST_F(shared_line, a_writer_gets_the_lock_although_readers_come_all_the_time) {
    std::atomic<bool> enough = false;
    std::atomic<int> reading = 0;
    std::vector<std::jthread> readers;
    for (int n = 0; n < 4; ++n) {
        readers.emplace_back([&] {
            client own(server_.url());
            shared_mutex lock(own, "k");
            while (!enough) {
                const auto reads = lock.acquire_shared();
                ++reading;
                std::this_thread::sleep_for(2ms);  // so that they overlap
            }
        });
    }
    ASSERT_TRUE(eventually(surely, [&] { return reading > 20; }));
    for (int n = 0; n < 5; ++n) {
        const auto before = reading.load();
        const auto writes = here_.try_acquire_for(surely);
        ASSERT_TRUE(writes);
        EXPECT_LT(reading - before, 200) << "bounded";
    }
    enough = true;
}

TEST_F(shared_line, a_writer_of_the_same_client_as_readers_holds_newcomers_back_too) {
    auto reads = here_.acquire_shared();
    auto writes = std::async(std::launch::async, [&] { return here_.acquire(); });
    ASSERT_TRUE(eventually(surely, [&] { return length() == 1; }));
    client other(server_.url());
    EXPECT_FALSE(shared_mutex(other, "k").try_acquire_shared());
    const stopwatch watch;
    reads.release();
    EXPECT_TRUE(writes.get().verify());
    EXPECT_LT(watch.elapsed(), promptly);
}

TEST_F(shared_line, readers_next_to_each_other_have_it_at_once_up_to_the_next_writer) {
    auto writes = here_.acquire();
    auto& one = reader();
    auto& two = reader();
    auto& three = reader();
    auto& next = writer();
    auto& last = reader();
    const stopwatch watch;
    writes.release();
    EXPECT_TRUE(soon(one) && soon(two) && soon(three));
    EXPECT_LT(watch.elapsed(), promptly) << "they were called";
    EXPECT_FALSE(next.has);
    EXPECT_FALSE(last.has);
    EXPECT_EQ(length(), 2U);
    two.let_go();
    one.let_go();
    EXPECT_FALSE(next.has);
    three.let_go();
    EXPECT_TRUE(soon(next));
    EXPECT_FALSE(last.has);
    next.let_go();
    EXPECT_TRUE(soon(last));
    last.let_go();
    EXPECT_FALSE(server_.exists("k"));
    EXPECT_FALSE(server_.exists(shared_queue));
}

TEST_F(shared_line, a_plain_mutex_passes_the_lock_to_readers) {
    auto plain = mutex(client_, "k").acquire();
    auto& one = reader();
    auto& two = reader();
    plain.release();
    EXPECT_TRUE(soon(one) && soon(two));
    EXPECT_FALSE(mutex(client_, "k").try_acquire());
    one.let_go();
    two.let_go();
}

TEST_F(shared_line, readers_who_wait_are_let_in_when_a_writer_goes_on_reading) {
    auto writes = here_.acquire();
    auto& one = reader();
    auto& two = reader();
    auto& next = writer();
    const stopwatch watch;
    auto reads = here_.downgrade(std::move(writes));
    EXPECT_TRUE(soon(one) && soon(two));
    EXPECT_LT(watch.elapsed(), promptly);
    EXPECT_FALSE(next.has);
    reads.release();
    one.let_go();
    two.let_go();
    EXPECT_TRUE(soon(next));
    next.let_go();
}

TEST_F(shared_line, readers_behind_a_writer_that_gave_up_join_those_who_read) {
    auto reads = here_.acquire_shared();
    client other(server_.url());
    std::stop_source stop;
    auto gives_up = std::async(std::launch::async, [&] {
        return error_of([&] { (void)mutex(other, "k").acquire(stop.get_token()); }).code;
    });
    ASSERT_TRUE(eventually(surely, [&] { return length() == 1; }));
    auto& one = reader();
    auto& two = reader();
    stop.request_stop();
    EXPECT_EQ(gives_up.get(), errc::cancelled);
    EXPECT_TRUE(soon(one) && soon(two));
    EXPECT_TRUE(reads.verify());
    one.let_go();
    two.let_go();
}

TEST_F(shared_line, a_writer_that_died_in_line_does_not_keep_readers_back_for_long) {
    auto reads = here_.acquire_shared();
    auto dead = std::make_unique<lock_process>(server_.url());
    dead->tell("acquire k 30000");
    ASSERT_TRUE(eventually(surely, [&] { return length() == 1; }));
    dead->child().kill(SIGKILL);
    client other(server_.url());
    const auto too = shared_mutex(other, "k").try_acquire_shared_for(surely);
    ASSERT_TRUE(too);
    EXPECT_TRUE(too->verify());
    EXPECT_TRUE(reads.verify()) << "nobody had to let go for that";
    EXPECT_FALSE(server_.exists(shared_queue));
}

TEST_F(shared_line, a_writer_that_died_in_line_does_not_keep_out_who_does_not_wait) {
    auto reads = here_.acquire_shared();
    auto dead = std::make_unique<lock_process>(server_.url());
    dead->tell("acquire k 30000");
    ASSERT_TRUE(eventually(surely, [&] { return length() == 1; }));
    client other(server_.url());
    shared_mutex there(other, "k");
    EXPECT_FALSE(there.try_acquire_shared()) << "it waits";
    EXPECT_EQ(length(), 1U);
    dead->child().kill(SIGKILL);
    EXPECT_TRUE(eventually(promptly, [&] { return there.try_acquire_shared().has_value(); }));
    EXPECT_FALSE(server_.exists(shared_queue));
}

TEST_F(shared_line, a_reader_that_died_in_line_is_passed_over) {
    auto writes = here_.acquire();
    auto dead = std::make_unique<lock_process>(server_.url());
    dead->tell("read k 30000");
    ASSERT_TRUE(eventually(surely, [&] { return length() == 1; }));
    auto& one = reader();
    dead->child().kill(SIGKILL);
    ASSERT_TRUE(
        eventually(surely, [&] { return connections_named(server_, "holdfast").size() == 2; }));
    const stopwatch watch;
    writes.release();
    EXPECT_TRUE(soon(one));
    EXPECT_LT(watch.elapsed(), promptly);
    one.let_go();
}

TEST_F(shared_line, a_reader_that_stands_still_costs_the_others_little) {
    auto writes = here_.acquire();
    auto frozen = std::make_unique<lock_process>(server_.url());
    frozen->tell("read k 30000");
    ASSERT_TRUE(eventually(surely, [&] { return length() == 1; }));
    auto& one = reader();
    auto& next = writer();
    frozen->child().kill(SIGSTOP);
    writes.release();
    EXPECT_TRUE(soon(one));
    one.let_go();
    EXPECT_TRUE(soon(next)) << "what was kept for the one that stands still is over after 2 s";
    frozen->child().kill(SIGCONT);
    EXPECT_TRUE(eventually(surely, [&] { return length() == 1; })) << "it stands in line again";
    next.let_go();
    EXPECT_TRUE(frozen->listen().starts_with("held"));
}

TEST_F(shared_line, inspect_tells_who_of_those_waiting_would_read) {
    auto writes = here_.acquire();
    auto& one = reader();
    auto& two = writer();
    const auto found = inspect(client_, "k");
    ASSERT_TRUE(found.waiters);
    ASSERT_EQ(found.waiters->size(), 2U);
    EXPECT_TRUE(found.waiters->at(0).who.reads);
    EXPECT_FALSE(found.waiters->at(1).who.reads);
    writes.release();
    EXPECT_TRUE(soon(one));
    one.let_go();
    EXPECT_TRUE(soon(two));
    two.let_go();
}

TEST_F(shared_line, those_who_cannot_be_called_get_their_turn) {
    server_.command({"ACL", "SETUSER", "app", "on", ">pw", "~*", "resetchannels", "+@all"});
    auto writes = here_.acquire();
    client app(settings_for("redis://app:pw@127.0.0.1:" + std::to_string(server_.port())));
    auto waits =
        std::async(std::launch::async, [&] { return shared_mutex(app, "k").acquire_shared(); });
    ASSERT_TRUE(eventually(surely, [&] { return length() == 1; }));
    writes.release();
    EXPECT_TRUE(waits.get().verify());
}

// A grant outlasts a short ttl, so that there is nothing to extend: a script that writes nothing is
// run by replicas, too.
TEST_F(shared_line, a_replica_lets_nobody_claim_its_grant) {
    server_.command({"SET", "k", "hr1:somebody", "PX", "2000"});
    const auto claim = [&] {
        return server_.command({"EVAL", std::string(scripts::shared::queue_acquire.text), "3", "k",
                                "q", "r", "hr1:somebody", "600", "- 1 ", "1"});
    };
    EXPECT_EQ(claim(), "1\n0");
    server_.command({"REPLICAOF", "127.0.0.1", "1"});
    EXPECT_THROW(claim(), std::runtime_error);
}

}  // namespace
}  // namespace holdfast::test
