#include <gtest/gtest.h>

#include <mutex>

#include "counted.hpp"
#include "holdfast/holdfast.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {
namespace {

/// A lock on one server that nobody else wants, after everything that grows has grown.
class hot_path : public testing::Test {
  protected:
    /// Of many cycles together: what happens now and then, as in a deque, counts as well.
    double allocations_per_cycle(acquire_options how) {
        // Longer than what fits into a std::string itself, as most keys are.
        mutex lock(through_, "allocations:of:a:lock:that:nobody:else:wants", std::move(how));
        for (int n = 0; n < 100; ++n) const std::scoped_lock held(lock);
        constexpr int cycles = 1000;
        const auto before = allocations_of_this_thread();
        for (int n = 0; n < cycles; ++n) const std::scoped_lock held(lock);
        return static_cast<double>(allocations_of_this_thread() - before) / cycles;
    }

    redis_server server_;
    client through_{server_.url()};
};

TEST(counting, sees_every_new) {
    const auto before = allocations_of_this_thread();
    ::operator delete(::operator new(1));  // called by name: the compiler may not leave it out
    EXPECT_EQ(allocations_of_this_thread(), before + 1);
}

/// The objects of a cycle: acquisition, attempt, its owner token, hold, releasing.
constexpr double at_most = 5;

TEST_F(hot_path, of_a_fenced_lock_allocates_no_more_than_its_objects) {
    EXPECT_LE(allocations_per_cycle({}), at_most);
}

TEST_F(hot_path, without_fencing_allocates_no_more_than_its_objects) {
    EXPECT_LE(allocations_per_cycle({.fencing = false}), at_most);
}

TEST_F(hot_path, with_an_unawaited_release_allocates_no_more_than_its_objects) {
    EXPECT_LE(allocations_per_cycle({.await_release = false}), at_most);
}

}  // namespace
}  // namespace holdfast::test
