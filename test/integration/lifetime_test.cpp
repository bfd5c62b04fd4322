#include <dirent.h>
#include <sys/wait.h>

#include <atomic>
#include <boost/asio/use_future.hpp>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

#include "holdfast/asio.hpp"
#include "holdfast/operate.hpp"
#include "integration/client_list.hpp"
#include "integration/library.hpp"
#include "integration/quorum.hpp"

/// Clients that end before what was made with them, and processes that fork.
namespace holdfast::test {
namespace {

class lifetime : public testing::Test {
  protected:
    static int threads_of_this_process() {
        int count = 0;
        auto* const directory = ::opendir("/proc/self/task");
        while (::readdir(directory) != nullptr) ++count;
        ::closedir(directory);
        return count;
    }

    redis_server server_;
    client other_{server_.url()};
    std::optional<client> client_{std::in_place, server_.url()};
};

TEST_F(lifetime, destroying_the_client_completes_a_waiting_lock_with_closed) {
    const auto theirs = mutex(other_, "k").acquire();
    mutex one(*client_, "k");
    auto waiter = std::async(std::launch::async, [&] { return error_of([&] { one.lock(); }); });
    EXPECT_TRUE(eventually(surely, [&] { return client_->statistics().denied > 0; }));
    const stopwatch watch;
    client_.reset();
    EXPECT_EQ(waiter.get().code, errc::closed);
    EXPECT_LT(watch.elapsed(), promptly);
}

TEST_F(lifetime, destroying_the_client_completes_a_whole_line_of_waiters) {
    const auto theirs = mutex(other_, "k").acquire();
    mutex one(*client_, "k");
    std::vector<std::future<thrown_error>> waiters;
    for (int n = 0; n < 20; ++n) {
        waiters.push_back(
            std::async(std::launch::async, [&] { return error_of([&] { one.lock(); }); }));
    }
    EXPECT_TRUE(eventually(surely, [&] { return client_->statistics().denied > 0; }));
    client_.reset();
    for (auto& waiter : waiters) EXPECT_EQ(waiter.get().code, errc::closed);
}

TEST_F(lifetime, destroying_the_client_completes_its_own_blocking_calls) {
    const auto theirs = mutex(other_, "k").acquire();
    auto waiter = std::async(std::launch::async, [through = &*client_] {
        return error_of([&] { through->with_lock("k", [](lease&) {}); });
    });
    EXPECT_TRUE(eventually(surely, [&] { return client_->statistics().denied > 0; }));
    client_.reset();
    EXPECT_EQ(waiter.get().code, errc::closed);
}

TEST_F(lifetime, destroying_the_client_completes_unanswered_requests) {
    client_->connect();
    auto held = mutex(*client_, "held", with_ttl(30s)).acquire();
    mutex one(*client_, "k");
    server_.pause();
    auto attempt =
        std::async(std::launch::async, [&] { return error_of([&] { (void)one.try_lock(); }); });
    auto release = std::async(std::launch::async, [&] { return held.release(); });
    EXPECT_EQ(attempt.wait_for(50ms), std::future_status::timeout);
    const stopwatch watch;
    client_.reset();
    EXPECT_EQ(attempt.get().code, errc::closed);
    EXPECT_EQ(release.get(), release_result::unknown);
    EXPECT_LT(watch.elapsed(), promptly);
    server_.resume();
}

// The server answers one release, is busy when the next one comes, and would find the connection
// broken when it writes that answer: an earlier one lay unread when it was closed.
TEST_F(lifetime, destroying_the_client_waits_until_releases_that_nobody_awaits_have_arrived) {
    acquire_options how;
    how.await_release = false;
    std::vector<lease> held;
    for (const auto* key : {"read", "answered", "last"}) {
        held.push_back(client_->acquire(key, how));
    }
    const auto standing = [&](const std::string& key) {
        return server_.command({"EXISTS", key}) == "1";
    };
    held.erase(held.begin());
    EXPECT_TRUE(eventually(surely, [&] { return !standing("read"); }));

    auto busy = raw_client::connect_tcp(server_.port());
    server_.pause();
    held.erase(held.begin());
    // Not until some time has passed: newer servers stop the clock while a script runs.
    busy.send({"EVAL", "for n = 1, 10000000 do end", "0"});
    server_.resume();
    std::this_thread::sleep_for(20ms);  // while the script runs
    held.clear();
    client_.reset();
    EXPECT_TRUE(eventually(surely, [&] { return !standing("answered"); }));
    EXPECT_FALSE(standing("last"));
}

TEST_F(lifetime, destroying_a_client_that_cannot_connect_does_not_wait) {
    server_.pause();
    mutex one(*client_, "k");
    auto attempt =
        std::async(std::launch::async, [&] { return error_of([&] { (void)one.try_lock(); }); });
    EXPECT_EQ(attempt.wait_for(50ms), std::future_status::timeout);
    const stopwatch watch;
    client_.reset();
    EXPECT_LT(watch.elapsed(), promptly);
    EXPECT_EQ(attempt.get().code, errc::closed);
    server_.resume();
}

TEST_F(lifetime, the_background_thread_and_the_connection_end_with_the_client) {
    client_.reset();
    const auto before = threads_of_this_process();
    for (int round = 0; round < 5; ++round) {
        client_.emplace(server_.url());
        const auto held = mutex(*client_, std::to_string(round)).acquire();
        EXPECT_GT(threads_of_this_process(), before);
        client_.reset();
        EXPECT_TRUE(eventually(surely, [&] { return threads_of_this_process() == before; }));
    }
    EXPECT_TRUE(eventually(surely, [&] {
        return connections_named(server_, "holdfast").size() <= 1;  // other_'s
    }));
}

TEST_F(lifetime, a_lease_that_outlives_its_client_is_lost_and_safe_to_use) {
    auto held = mutex(*client_, "k", with_ttl(30s)).acquire();
    const auto stop = held.stop_token();
    client_.reset();
    EXPECT_TRUE(held.lost());
    EXPECT_TRUE(stop.stop_requested());
    EXPECT_EQ(held.key(), "k");
    EXPECT_EQ(held.remaining(), clock::duration{0});
    EXPECT_EQ(error_of([&] { held.ensure_held(); }).code, errc::lost);
    EXPECT_EQ(error_of([&] { held.extend(10s); }).code, errc::closed);
    EXPECT_EQ(error_of([&] { (void)held.verify(); }).code, errc::closed);
    EXPECT_EQ(held.release(), release_result::unknown);
    EXPECT_TRUE(server_.exists("k")) << "it runs out, as after a crash";
}

TEST_F(lifetime, a_mutex_that_outlives_its_client_fails_with_closed) {
    mutex one(*client_, "k");
    mutex two(*client_, "l");
    recursive_mutex three(*client_, "m");
    two.lock();
    three.lock();
    client_.reset();
    EXPECT_EQ(error_of([&] { one.lock(); }).code, errc::closed);
    EXPECT_EQ(error_of([&] { (void)one.try_lock(); }).code, errc::closed);
    EXPECT_EQ(error_of([&] { (void)one.try_lock_for(1h); }).code, errc::closed);
    std::error_code error;
    one.lock(error);
    EXPECT_EQ(error, errc::closed);
    two.unlock();
    three.unlock();
}

TEST_F(lifetime, assigning_a_client_closes_the_old_one) {
    mutex one(*client_, "k");
    *client_ = client(server_.url());
    EXPECT_EQ(error_of([&] { one.lock(); }).code, errc::closed);
    EXPECT_TRUE(mutex(*client_, "k").try_acquire());
}

TEST_F(lifetime, clients_come_and_go_while_threads_use_them) {
    for (int round = 0; round < 20; ++round) {
        client_.emplace(server_.url());
        mutex one(*client_, "k");
        std::vector<std::thread> workers;
        for (int n = 0; n < 4; ++n) {
            workers.emplace_back([&] {
                for (std::error_code error; !error;) {
                    one.lock(error);
                    if (!error) one.unlock();
                }
            });
        }
        std::this_thread::sleep_for(milliseconds(round % 5));
        client_.reset();
        for (auto& worker : workers) worker.join();
        server_.command({"DEL", "k"});
    }
}

bool other_threads_sleep() {
    const auto self = std::to_string(::getpid());
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream stat(task.path() / "stat");
        std::string id, name, state;
        stat >> id >> name >> state;
        if (id != self && state != "S") return false;
    }
    return true;
}

/// The C library's malloc is whole in a forked child. The address sanitizer's is not: a thread that
/// allocates while another forks leaves its locks taken.
void until_nobody_allocates() {
    EXPECT_TRUE(eventually(surely, [] { return other_threads_sleep() && other_threads_sleep(); }));
}

/// Runs `work` in a forked child and returns whether it returned true.
template <typename Work>
bool in_child(Work&& work) {
    const auto child = ::fork();
    if (child == 0) {
        bool well = false;
        try {
            well = std::forward<Work>(work)();
        } catch (...) {
            well = false;
        }
        ::_exit(well ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(lifetime, in_a_forked_child_every_operation_fails_with_forked) {
    mutex one(*client_, "k");
    auto held = std::make_optional(mutex(*client_, "held").acquire());
    until_nobody_allocates();
    EXPECT_TRUE(in_child([&] {
        const auto forked = [](const thrown_error& e) { return e.code == errc::forked; };
        return forked(error_of([&] { one.lock(); })) &&
               forked(error_of([&] { (void)one.try_lock(); })) &&
               forked(error_of([&] { client_->connect(); })) &&
               forked(error_of([&] { (void)client_->statistics(); })) &&
               forked(error_of([&] { held->extend(10s); })) &&
               forked(error_of([&] { (void)held->verify(); })) &&
               forked(error_of([&] { held->ensure_held(); })) && held->lost() &&
               held->stop_token().stop_requested() && held->release() == release_result::unknown;
    }));
    EXPECT_TRUE(held->verify());
}

TEST_F(lifetime, in_a_forked_child_unlock_reports_forked_and_the_parent_still_holds) {
    mutex one(*client_, "k");
    recursive_mutex many(*client_, "many");
    one.lock();
    many.lock();
    many.lock();
    until_nobody_allocates();
    EXPECT_TRUE(in_child([&] {
        std::error_code first;
        std::error_code second;
        std::error_code again;
        one.unlock(first);
        many.lock(again);
        many.unlock(second);
        const bool nothing =
            one.current() == nullptr && many.current() == nullptr && many.depth() == 0;
        return nothing && first == errc::forked && second == errc::forked && again == errc::forked;
    }));
    EXPECT_TRUE(server_.exists("k"));
    EXPECT_TRUE(server_.exists("many"));
    one.unlock();
    many.unlock();
    many.unlock();
    EXPECT_FALSE(server_.exists("k"));
    EXPECT_FALSE(server_.exists("many"));
}

TEST_F(lifetime, a_fork_leaves_the_first_acquire_of_a_quorum_under_way_to_the_parent) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the thread sanitizer cannot follow threads of a forked child";
#endif
    quorum servers(3);
    servers.proxy(2).silence();
    auto settings = servers.settings();
    settings.node_timeout = 500ms * slowness;
    client through(settings);
    mutex lock(through, "k");
    auto won = lock.async_acquire({}, boost::asio::use_future);
    until_nobody_allocates();
    EXPECT_EQ(won.wait_for(0s), std::future_status::timeout) << "it is not under way any more";
    EXPECT_TRUE(in_child([&] {
        const auto error = error_of([&] { (void)mutex(through, "l").try_acquire(); });
        client another(settings);
        return error.code == errc::forked && mutex(another, "l").try_acquire();
    }));
    EXPECT_TRUE(won.get());
}

// The parent may hand the lease off, and knows nothing of what its child has shown to others.
TEST_F(lifetime, a_child_has_only_those_owners_that_were_asked_for_before_the_fork) {
    const auto known = mutex(*client_, "known").acquire();
    const auto unknown = mutex(*client_, "unknown").acquire();
    const auto owner = known.owner();
    until_nobody_allocates();
    EXPECT_TRUE(in_child([&] { return known.owner() == owner && unknown.owner().empty(); }));
    EXPECT_EQ(unlock(*client_, "unknown", unknown.owner()), release_result::released);
}

TEST_F(lifetime, what_a_child_destroys_touches_nothing_of_the_parents) {
    std::optional<mutex> one(std::in_place, *client_, "k", with_ttl(400ms * slowness));
    one->lock();
    auto held = std::make_optional(mutex(*client_, "held", with_ttl(400ms * slowness)).acquire());
    until_nobody_allocates();
    EXPECT_TRUE(in_child([&] {
        held.reset();
        one->unlock();
        one.reset();
        client_.reset();
        return true;
    }));
    EXPECT_TRUE(server_.exists("k"));
    EXPECT_TRUE(server_.exists("held"));
    const auto before = client_->statistics().renewed;
    EXPECT_TRUE(eventually(surely, [&] { return client_->statistics().renewed > before + 3; }));
    EXPECT_FALSE(held->lost());
    EXPECT_EQ(client_->statistics().connected, 1U) << "the connection is still the parent's";
    one->unlock();
    EXPECT_FALSE(server_.exists("k"));
}

TEST_F(lifetime, a_child_can_make_a_client_of_its_own) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the thread sanitizer cannot follow threads of a forked child";
#endif
    const auto held = mutex(*client_, "k").acquire();
    until_nobody_allocates();
    EXPECT_TRUE(in_child([&] {
        client own(server_.url());
        return !mutex(own, "k").try_acquire() && mutex(own, "other").try_acquire().has_value();
    }));
}

TEST_F(lifetime, a_fork_while_other_threads_lock_harms_neither_side) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the address sanitizer's allocator is not whole in a forked child";
#endif
    std::atomic<bool> done = false;
    std::vector<std::thread> workers;
    for (int n = 0; n < 3; ++n) {
        workers.emplace_back([&, n] {
            mutex own(*client_, std::to_string(n));
            while (!done) {
                const std::scoped_lock held(own);
            }
        });
    }
    for (int round = 0; round < 10; ++round) {
        EXPECT_TRUE(in_child([&] {
            client_.reset();
            return true;
        }));
    }
    done = true;
    for (auto& worker : workers) worker.join();
    EXPECT_EQ(client_->statistics().failed, 0U);
}

}  // namespace
}  // namespace holdfast::test
