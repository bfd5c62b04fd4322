#include "scarce.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <deque>
#include <functional>
#include <future>
#include <new>
#include <optional>
#include <system_error>
#include <thread>

#include "holdfast/detail/async.hpp"
#include "holdfast/holdfast.hpp"
#include "holdfast/operate.hpp"
#include "support/certificates.hpp"
#include "support/eventually.hpp"
#include "support/lock_process.hpp"
#include "support/redis_server.hpp"

/// Memory and threads that run out in the middle of everything: whoever is concerned gets an error,
/// and everything else goes on.
namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

constexpr auto surely = 20s;
constexpr auto ttl = 60s;  // far beyond all waits: what is gone was released
constexpr std::size_t too_many = 3000;

/// How an attempt to do something ended.
enum class ending { well, error };

template <typename Work>
ending ending_of(Work&& work) {
    try {
        work();
        return ending::well;
    } catch (const std::bad_alloc&) {
        return ending::error;
    } catch (const std::system_error&) {
        return ending::error;
    }
}

ending ending_of_cycle(mutex& lock) {
    return ending_of([&] {
        lock.lock();
        lock.unlock();
    });
}

std::vector<int> blocked_signals() {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    std::vector<int> blocked;
    for (int number = 1; number < SIGRTMAX; ++number) {
        if (sigismember(&mask, number) == 1) blocked.push_back(number);
    }
    return blocked;
}

/// No thread of this process spins: it gets through a while with next to no processor time.
bool at_rest() {
    return eventually(surely, [] {
        const auto before = std::clock();
        std::this_thread::sleep_for(20ms);
        return std::clock() - before < CLOCKS_PER_SEC / 200;
    });
}

class scarcity : public testing::Test {
  protected:
    static acquire_options lasting() { return {.ttl = ttl}; }

    options settings() const {
        options result;
        result.urls = {server_.url()};
        return result;
    }

    options by_name() const {
        auto result = settings();
        result.urls = {"redis://localhost:" + std::to_string(server_.port())};
        return result;
    }

    static bool is_free(const std::string& key, const redis_server& at) {
        return eventually(surely, [&] { return !at.exists(key); });
    }

    /// Nothing is left of what was tried, and the next who wants the lock gets it.
    void expect_unharmed(client& through) { expect_unharmed(through, server_); }

    static void expect_unharmed(client& through, const redis_server& at) {
        EXPECT_TRUE(is_free("k", at));
        EXPECT_EQ(through.statistics().held_now, 0U);
        auto next = mutex(through, "k", lasting()).try_acquire_for(surely);
        ASSERT_TRUE(next);
        EXPECT_EQ(next->release(), release_result::released);
    }

    /// Does it once for each request for memory that it makes, and that one fails.
    void without_each(const std::function<ending()>& work, const std::function<void()>& check) {
        const auto signals = blocked_signals();
        std::size_t errors = 0;
        std::size_t nth = 1;
        for (bool happened = true; happened && nth < too_many; ++nth) {
            SCOPED_TRACE("without the " + std::to_string(nth) + "th");
            {
                const shortage none_left(nth);
                if (work() == ending::error) ++errors;
                happened = shortage::happened();
            }
            EXPECT_EQ(blocked_signals(), signals);
            check();
            if (HasFailure()) return;
        }
        RecordProperty("allocations", static_cast<int>(nth));
        RecordProperty("errors", static_cast<int>(errors));
        EXPECT_LT(nth, too_many) << "it never ends";
        EXPECT_TRUE(at_rest());
        EXPECT_GT(errors, 0U) << "nothing was tried";
    }

    /// Each time the client has to connect.
    void lock_in_new_clients(const options& how) { lock_in_new_clients(how, {&server_}); }

    void lock_in_new_clients(const options& how, const std::vector<const redis_server*>& at) {
        std::optional<client> through(how);
        without_each(
            [&] {
                return ending_of([&] {
                    mutex lock(*through, "k", lasting());
                    lock.lock();
                    lock.unlock();
                });
            },
            [&] {
                for (const auto* const server : at) expect_unharmed(*through, *server);
                through.emplace(how);
            });
    }

    redis_server server_;
};

TEST_F(scarcity, of_memory_in_the_first_acquisition_of_a_client) {
    without_each(
        [&] {
            return ending_of([&] {
                client through(settings());
                mutex lock(through, "k", lasting());
                lock.lock();
                lock.unlock();
            });
        },
        [&] {
            client another(settings());
            expect_unharmed(another);
        });
}

TEST_F(scarcity, of_memory_while_a_client_connects) { lock_in_new_clients(settings()); }

TEST_F(scarcity, of_memory_while_a_name_is_looked_up) { lock_in_new_clients(by_name()); }

TEST_F(scarcity, of_memory_while_tls_is_agreed_on) {
    const scratch_directory directory{"scarcity"};
    certificate_authority authority(directory.path());
    const auto files = authority.issue_server("server", {"127.0.0.1"});
    const redis_server guarded({.tls = tls_files{files.certificate, files.key, authority.file()}});
    auto how = settings();
    how.urls = {guarded.tls_url()};
    how.tls.ca_file = authority.file();
    lock_in_new_clients(how, {&guarded});
}

TEST_F(scarcity, of_memory_in_a_cycle) {
    client through(settings());
    mutex lock(through, "k", lasting());
    for (int n = 0; n < 10; ++n) const std::scoped_lock held(lock);
    without_each([&] { return ending_of_cycle(lock); }, [&] { expect_unharmed(through); });
}

TEST_F(scarcity, of_memory_in_a_cycle_with_an_unawaited_release) {
    client through(settings());
    acquire_options how = lasting();
    how.await_release = false;
    how.fencing = false;
    mutex lock(through, "k", how);
    for (int n = 0; n < 10; ++n) const std::scoped_lock held(lock);
    without_each([&] { return ending_of_cycle(lock); }, [&] { expect_unharmed(through); });
}

TEST_F(scarcity, of_memory_in_the_first_cycle_of_a_recursive_mutex) {
    client through(settings());
    std::optional<recursive_mutex> lock(std::in_place, through, "k", lasting());
    without_each(
        [&] {
            return ending_of([&] {
                lock->lock();
                lock->lock();
                lock->unlock();
                lock->unlock();
            });
        },
        [&] {
            expect_unharmed(through);
            lock.emplace(through, "k", lasting());
        });
}

TEST_F(scarcity, of_memory_where_the_server_has_forgotten_the_scripts) {
    client through(settings());
    mutex lock(through, "k", lasting());
    lock.lock();
    lock.unlock();
    without_each(
        [&] {
            {
                const exempt from_it;
                server_.command({"SCRIPT", "FLUSH"});
            }
            return ending_of_cycle(lock);
        },
        [&] { expect_unharmed(through); });
}

TEST_F(scarcity, of_memory_while_another_process_is_waited_for) {
    client through(settings());
    mutex lock(through, "k", lasting());
    lock_process other(server_.url());
    without_each(
        [&] {
            const exempt from_it;
            other.expect("acquire k 60000", "held");
            const auto before = through.statistics().denied;
            std::atomic<bool> over = false;
            ending how{};
            std::thread waits([&] {
                how = ending_of_cycle(lock);
                over = true;
            });
            EXPECT_TRUE(
                eventually(surely, [&] { return over || through.statistics().denied > before; }));
            other.expect("release", "released");
            waits.join();
            return how;
        },
        [&] { expect_unharmed(through); });
}

TEST_F(scarcity, of_memory_while_a_lock_is_handed_over_in_this_process) {
    client through(settings());
    mutex lock(through, "k", lasting());
    without_each(
        [&] {
            ending first{};
            ending second{};
            const auto cycle = [&](ending& how) {
                how = ending_of([&] {
                    for (int n = 0; n < 3; ++n) const std::scoped_lock held(lock);
                });
            };
            const exempt from_it;
            std::thread one([&] { cycle(first); });
            std::thread two([&] { cycle(second); });
            one.join();
            two.join();
            return first == ending::error ? first : second;
        },
        [&] { expect_unharmed(through); });
    EXPECT_GT(through.statistics().inherited, 0U) << "nothing was handed over at all";
}

TEST_F(scarcity, of_memory_costs_no_lease_that_is_renewed) {
    client through(settings());
    auto held = mutex(through, "k", {.ttl = 3s}).acquire();
    const auto stop = held.stop_token();
    std::size_t nth = 1;
    for (bool happened = true; happened && nth < too_many; ++nth) {
        const exempt from_it;
        const shortage none_left(nth);
        const auto before = through.statistics().renewed;
        EXPECT_TRUE(eventually(surely, [&] { return through.statistics().renewed > before; }));
        happened = shortage::happened();
        ASSERT_FALSE(held.lost()) << "without the " << nth << "th";
    }
    EXPECT_GT(nth, 2U) << "nothing was tried";
    EXPECT_FALSE(stop.stop_requested());
    EXPECT_EQ(held.release(), release_result::released);
}

TEST_F(scarcity, of_memory_in_an_extension_leaves_the_lease_as_it_was) {
    client through(settings());
    auto held = mutex(through, "k", lasting()).acquire();
    without_each([&] { return ending_of([&] { held.extend(ttl); }); },
                 [&] {
                     EXPECT_FALSE(held.lost());
                     EXPECT_TRUE(held.verify());
                 });
    EXPECT_EQ(held.release(), release_result::released);
    expect_unharmed(through);
}

TEST_F(scarcity, of_memory_does_not_keep_a_loss_from_being_announced) {
    client through(settings());
    auto held = mutex(through, "k", {.ttl = 600ms, .renew = false}).acquire();
    const auto stop = held.stop_token();
    {
        const exempt from_it;
        const shortage none_left(1, shortage::extent::lasts);
        EXPECT_TRUE(eventually(surely, [&] { return stop.stop_requested(); }));
        EXPECT_TRUE(eventually(surely, [&] { return held.lost(); }));
    }
    // By the clock it is lost before anybody has noticed.
    EXPECT_TRUE(eventually(surely, [&] { return through.statistics().held_now == 0; }));
    expect_unharmed(through);
}

// What cannot even be noted is left to its ttl: so each time it is another key.
TEST_F(scarcity, of_memory_that_lasts_ends_every_call) {
    client through(settings());
    for (int n = 0; n < 10; ++n) const auto held = through.acquire("k", lasting());
    const auto signals = blocked_signals();
    bool happened = true;
    std::size_t nth = 1;
    for (; happened && nth < too_many; ++nth) {
        mutex lock(through, "k" + std::to_string(nth), lasting());
        {
            const shortage none_left(nth, shortage::extent::lasts);
            ending_of_cycle(lock);
            happened = shortage::happened();
        }
        EXPECT_EQ(blocked_signals(), signals);
        EXPECT_TRUE(mutex(through, "another").try_acquire_for(surely)) << nth;
    }
    EXPECT_GT(nth, 2U) << "it never happened";
    EXPECT_LT(nth, too_many) << "it happened again and again";
    EXPECT_TRUE(at_rest());
}

class scarcity_in_a_quorum : public scarcity {
  protected:
    scarcity_in_a_quorum() {
        for (const auto& each : servers_) {
            how_.urls.push_back(each.url());
            all_.push_back(&each);
        }
        client first(how_);
        (void)enlist(first, true);  // there is nothing to wait for
    }

    std::deque<redis_server> servers_ = std::deque<redis_server>(3);
    std::vector<const redis_server*> all_;
    options how_;
};

TEST_F(scarcity_in_a_quorum, of_memory_while_a_client_connects) { lock_in_new_clients(how_, all_); }

TEST_F(scarcity_in_a_quorum, of_memory_in_a_cycle) {
    client through(how_);
    mutex lock(through, "k", lasting());
    for (int n = 0; n < 10; ++n) const std::scoped_lock held(lock);
    without_each([&] { return ending_of_cycle(lock); },
                 [&] {
                     for (const auto* const server : all_) expect_unharmed(through, *server);
                 });
}

/// Starts something asynchronous and waits for it. What could not be started completes never, and
/// everything else once.
template <typename Start>
ending completed(Start&& start) {
    std::atomic<int> times = 0;
    std::exception_ptr why;
    const auto begun = ending_of([&] {
        start([&](const std::exception_ptr& thrown) {
            why = thrown;
            ++times;
        });
    });
    const exempt from_it;
    if (begun == ending::well) {
        EXPECT_TRUE(eventually(surely, [&] { return times == 1; }));
    }
    EXPECT_EQ(times, begun == ending::well ? 1 : 0);
    return begun == ending::error || why ? ending::error : ending::well;
}

TEST_F(scarcity, of_memory_completes_an_asynchronous_acquire_once) {
    client through(settings());
    mutex lock(through, "k", lasting());
    lock.lock();
    lock.unlock();
    without_each(
        [&] {
            std::optional<lease> held;
            return completed([&](const auto& done) {
                detail::start_acquire(
                    lock, lock.how(), clock::time_point::max(),
                    [&held, done](const std::exception_ptr& thrown, acquisition won) {
                        if (won) held.emplace(std::move(*won));
                        done(thrown);
                    });
            });
        },
        [&] { expect_unharmed(through); });
}

TEST_F(scarcity, of_memory_completes_an_asynchronous_renewal_once) {
    client through(settings());
    auto held = mutex(through, "k", lasting()).acquire();
    without_each(
        [&] { return completed([&](const auto& done) { detail::start_renew(held, ttl, done); }); },
        [&] { EXPECT_TRUE(held.verify()); });
    EXPECT_EQ(held.release(), release_result::released);
    expect_unharmed(through);
}

TEST_F(scarcity, of_memory_completes_an_asynchronous_release_once) {
    client through(settings());
    mutex lock(through, "k", lasting());
    auto held = lock.acquire();
    without_each(
        [&] {
            return completed([&](const auto& done) {
                detail::start_release(held, [done](const std::exception_ptr& thrown,
                                                   release_result) { done(thrown); });
            });
        },
        [&] {
            (void)held.release();  // it may not even have been started
            expect_unharmed(through);
            held = lock.acquire();
        });
}

TEST_F(scarcity, of_threads_is_an_error_and_leaves_nothing_behind) {
    client through(settings());
    mutex lock(through, "k", lasting());
    const auto signals = blocked_signals();
    {
        const no_more_threads today;
        for (int n = 0; n < 3; ++n) {
            std::error_code error;
            lock.lock(error);
            EXPECT_EQ(error, std::errc::resource_unavailable_try_again) << error.message();
            EXPECT_EQ(blocked_signals(), signals);
            EXPECT_TRUE(is_free("k", server_));
        }
        through.connect();  // nobody else has to look after that
        EXPECT_THROW(detail::start_acquire(lock, lock.how(), clock::time_point::max(), {}),
                     std::system_error);
    }
    EXPECT_TRUE(at_rest());
    expect_unharmed(through);
}

TEST_F(scarcity, of_threads_to_look_up_a_name_is_an_error_and_leaves_nothing_behind) {
    client through(by_name());
    const auto signals = blocked_signals();
    through.connect();
    {
        const no_more_threads today;
        client another(by_name());
        EXPECT_THROW(another.connect(), std::system_error);
        EXPECT_EQ(blocked_signals(), signals);
    }
    EXPECT_TRUE(at_rest());
    expect_unharmed(through);
}

TEST_F(scarcity, of_threads_does_not_concern_a_client_that_has_its_own) {
    client through(settings());
    auto held = mutex(through, "k", {.ttl = 600ms}).acquire();
    const no_more_threads today;
    EXPECT_TRUE(mutex(through, "another", lasting()).try_acquire());
    EXPECT_TRUE(eventually(surely, [&] { return through.statistics().renewed > 2; }));
    EXPECT_EQ(held.release(), release_result::released);
}

}  // namespace
}  // namespace holdfast::test
