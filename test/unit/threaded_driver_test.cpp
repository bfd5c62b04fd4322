#include "platform/threaded_driver.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <future>
#include <new>
#include <string>

#include "holdfast/clock.hpp"

/// The driver that ships, with real threads and a socket, but without a client or a server. Nothing
/// sleeps: each test waits for what has to happen.
namespace holdfast::platform {
namespace {

using namespace std::chrono_literals;

/// Reads letters from a socket, and is told of each.
class machine final : public runtime::driver::machinery {
  public:
    machine() {
        if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()) != 0) std::abort();
        drives = std::make_unique<threaded_driver>(io_, guard, *this);
    }
    ~machine() {
        drives->stop();
        drives.reset();  // before the io_context
        for (const int end : ends_) ::close(end);
    }
    machine(const machine&) = delete;
    machine& operator=(const machine&) = delete;

    base::client_lock lock() { return base::client_lock(guard); }

    /// From the other end.
    void say(const std::string& letters) const {
        EXPECT_EQ(::write(ends_[1], letters.data(), letters.size()), std::ssize(letters));
    }

    base::client_mutex guard;
    std::unique_ptr<threaded_driver> drives;

    // With the lock held.
    std::function<void(char)> on_letter = [](char) {};
    std::function<void()> on_fire = [] {};
    std::function<void()> on_list = [] {};
    core::time_point next = core::never;
    bool busy = false;
    int flushed = 0;

  private:
    void flush() noexcept override { ++flushed; }
    bool list_sources(std::vector<runtime::driver::source>& all) override {
        on_list();
        all.assign(1, {.descriptor = ends_[0], .whose = 0});
        return true;
    }
    void take_in(const runtime::driver::source& from) noexcept override {
        char letter = 0;
        if (::read(from.descriptor, &letter, 1) == 1) on_letter(letter);
    }
    void watch_sources() override {}
    void fire(core::time_point now) noexcept override {
        if (now < next) return;
        next = core::never;
        on_fire();
    }
    [[nodiscard]] core::time_point wake_at() const override { return next; }
    [[nodiscard]] bool unattended() const override { return busy; }
    [[nodiscard]] bool may_spin() const override { return false; }
    [[nodiscard]] std::shared_ptr<void> keep_alive() override { return nullptr; }

    boost::asio::io_context io_{1};
    std::array<int, 2> ends_{};
};

/// One caller that waits for a letter.
void wait_for(machine& with, runtime::waiter& caller) {
    auto lock = with.lock();
    with.drives->wait(lock, caller);
}

TEST(threaded_driver, lets_a_lone_caller_read_its_answer_itself) {
    machine with;
    runtime::waiter caller(*with.drives);
    std::thread::id reader;
    with.on_letter = [&](char) {
        reader = std::this_thread::get_id();
        with.drives->finished(caller);
    };
    with.say("a");
    wait_for(with, caller);
    EXPECT_EQ(reader, std::this_thread::get_id());
    EXPECT_GT(with.flushed, 0) << "what was appended goes out before it waits";
    EXPECT_FALSE(with.drives->driving());
}

TEST(threaded_driver, returns_at_once_to_a_caller_whose_operation_is_finished) {
    machine with;
    runtime::waiter caller(*with.drives);
    caller.done = true;
    wait_for(with, caller);
    EXPECT_FALSE(with.drives->driving());
}

TEST(threaded_driver, fires_what_is_due_for_a_caller_that_waits) {
    machine with;
    runtime::waiter caller(*with.drives);
    with.next = clock::now() + 1ms;
    with.on_fire = [&] { with.drives->finished(caller); };
    wait_for(with, caller);
    EXPECT_EQ(with.next, core::never);
}

TEST(threaded_driver, ends_the_wait_of_a_caller_that_another_thread_finishes) {
    machine with;
    runtime::waiter caller(*with.drives);
    std::promise<void> polls;
    with.on_list = [&] {
        polls.set_value();
        with.on_list = [] {};
    };
    std::thread other([&] {
        polls.get_future().wait();
        const auto lock = with.lock();
        with.drives->finished(caller);
    });
    wait_for(with, caller);
    other.join();
}

TEST(threaded_driver, hands_the_role_to_another_caller_that_still_waits) {
    machine with;
    std::array<std::optional<runtime::waiter>, 2> callers;
    with.on_letter = [&](char letter) {
        with.drives->finished(*callers.at(static_cast<std::size_t>(letter - 'a')));
    };
    std::promise<void> first_drives;
    with.on_list = [&] {
        first_drives.set_value();
        with.on_list = [] {};
    };
    callers[0].emplace(*with.drives);
    std::promise<void> made;
    std::thread first([&] { wait_for(with, *callers[0]); });
    first_drives.get_future().wait();
    std::thread second([&] {
        {
            const auto lock = with.lock();
            callers[1].emplace(*with.drives);
        }
        made.set_value();
        wait_for(with, *callers[1]);
    });
    made.get_future().wait();
    with.say("a");
    first.join();
    {
        const auto lock = with.lock();
        EXPECT_FALSE(callers[1]->done);
    }
    with.say("b");
    second.join();
}

TEST(threaded_driver, completes_the_operations_of_callers_that_sleep) {
    machine with;
    runtime::waiter mine(*with.drives);
    std::optional<runtime::waiter> theirs;
    with.on_letter = [&](char letter) { with.drives->finished(letter == 'a' ? mine : *theirs); };
    std::promise<void> made;
    std::thread other([&] {
        theirs.emplace(*with.drives);
        made.set_value();
        wait_for(with, *theirs);
    });
    made.get_future().wait();
    with.say("ba");
    wait_for(with, mine);
    other.join();
}

TEST(threaded_driver, looks_at_timers_in_the_background_where_nobody_waits) {
    machine with;
    std::promise<std::thread::id> fired;
    {
        const auto lock = with.lock();
        with.drives->require_background();
        with.next = clock::now() + 1ms;
        with.on_fire = [&] { fired.set_value(std::this_thread::get_id()); };
        with.drives->attend_by(with.next);
    }
    EXPECT_NE(fired.get_future().get(), std::this_thread::get_id());
}

TEST(threaded_driver, drives_in_the_background_for_what_nobody_waits_for) {
    machine with;
    std::promise<char> heard;
    with.on_letter = [&](char letter) {
        with.busy = false;
        heard.set_value(letter);
    };
    {
        const auto lock = with.lock();
        with.busy = true;
        with.drives->require_background();
        with.drives->attend_by(clock::now());
    }
    with.say("x");
    EXPECT_EQ(heard.get_future().get(), 'x');
}

class note final : public runtime::callback {
  public:
    explicit note(std::function<void()> what) : what_(std::move(what)) {}
    void run() override { what_(); }

  private:
    std::function<void()> what_;
};

TEST(threaded_driver, runs_callbacks_in_order_and_without_the_lock) {
    machine with;
    std::string order;
    std::promise<void> done;
    note first([&] {
        const auto lock = with.lock();  // would deadlock if it was held
        order += '1';
    });
    note second([&] {
        order += '2';
        done.set_value();
    });
    {
        const auto lock = with.lock();
        with.drives->require_background();
        with.drives->call_back(first);
        with.drives->call_back(second);
    }
    done.get_future().wait();
    EXPECT_EQ(order, "12");
}

TEST(threaded_driver, stops_after_all_callbacks_have_run) {
    machine with;
    bool ran = false;
    note last([&] { ran = true; });
    {
        const auto lock = with.lock();
        with.drives->require_background();
        with.drives->call_back(last);
    }
    with.drives->stop();
    EXPECT_TRUE(ran);
    with.drives->stop();  // twice is once
}

TEST(threaded_driver, goes_on_after_a_round_for_which_there_was_no_memory) {
    machine with;
    runtime::waiter caller(*with.drives);
    int rounds = 0;
    with.on_list = [&] {
        if (++rounds == 1) throw std::bad_alloc();
    };
    with.on_letter = [&](char) { with.drives->finished(caller); };
    with.say("a");
    wait_for(with, caller);
    EXPECT_EQ(rounds, 2);
}

TEST(threaded_driver, says_whether_somebody_drives) {
    machine with;
    EXPECT_FALSE(with.drives->driving());
    runtime::waiter caller(*with.drives);
    with.on_letter = [&](char) {
        EXPECT_TRUE(with.drives->driving());
        with.drives->finished(caller);
    };
    with.say("a");
    wait_for(with, caller);
    EXPECT_FALSE(with.drives->driving());
}

}  // namespace
}  // namespace holdfast::platform
