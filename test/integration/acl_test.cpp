#include <future>
#include <thread>

#include "integration/library.hpp"

/// Users that may not do everything. What the library cannot do without is an error that says so,
/// at once; what it can do without is done without.
namespace holdfast::test {
namespace {

class acl : public testing::Test {
  protected:
    options as_user(const std::vector<std::string>& rules) {
        std::vector<std::string> command{"ACL", "SETUSER", "app", "on", ">pw", "resetkeys"};
        command.insert(command.end(), rules.begin(), rules.end());
        server_.command(command);
        return settings_for("redis://app:pw@127.0.0.1:" + std::to_string(server_.port()));
    }

    thrown_error failure_as(const std::vector<std::string>& rules,
                            const acquire_options& how = {}) {
        client through(as_user(rules));
        const stopwatch watch;
        auto error = error_of([&] { mutex(through, "k", how).lock(); });
        EXPECT_LT(watch.elapsed(), 2s * slowness) << "asking again changes nothing";
        EXPECT_TRUE(contains(error.what, "127.0.0.1:" + std::to_string(server_.port())));
        return error;
    }

    redis_server server_;
};

TEST_F(acl, a_user_without_scripts_is_refused) {
    const auto error = failure_as({"~*", "+@all", "-eval", "-evalsha"});
    EXPECT_EQ(error.code, errc::permission) << error.what;
    EXPECT_TRUE(contains(error.what, "eval")) << error.what;
}

TEST_F(acl, a_user_who_may_not_use_what_the_script_uses_is_refused) {
    const auto error = failure_as({"~*", "+@all", "-set"});
    EXPECT_EQ(error.code, errc::permission) << error.what;
}

TEST_F(acl, a_user_without_the_key_is_refused) {
    const auto error = failure_as({"~app:*", "~holdfast:*", "+@all"});
    EXPECT_EQ(error.code, errc::permission) << error.what;
}

TEST_F(acl, a_user_without_the_fencing_counter_is_refused_unless_it_is_not_needed) {
    const auto error = failure_as({"~k", "~holdfast:{k}:queue", "+@all"});
    EXPECT_EQ(error.code, errc::permission) << error.what;
    EXPECT_FALSE(server_.exists("k"));
    acquire_options unfenced;
    unfenced.fencing = false;
    client through(as_user({"~k", "~holdfast:{k}:queue", "+@all"}));
    EXPECT_TRUE(mutex(through, "k", unfenced).try_acquire());
}

TEST_F(acl, without_set_an_unfenced_lock_is_refused_too) {
    acquire_options unfenced;
    unfenced.fencing = false;
    const auto error = failure_as({"~*", "+@all", "-set"}, unfenced);
    EXPECT_EQ(error.code, errc::permission) << error.what;
}

TEST_F(acl, a_user_with_no_more_rights_than_the_scripts_need_can_lock_wait_and_renew) {
    auto settings = as_user({"~k", "~holdfast:*", "-@all", "+eval", "+evalsha", "+set", "+get",
                             "+del", "+pttl", "+pexpire", "+mget", "+time"});
    client one(settings);
    client two(settings);
    auto held = mutex(one, "k", with_ttl(300ms * slowness)).acquire();
    std::thread waiter([&] { EXPECT_TRUE(mutex(two, "k").try_acquire_for(surely)); });
    EXPECT_TRUE(eventually(surely, [&] { return one.statistics().renewed > 1; }));
    EXPECT_TRUE(eventually(surely, [&] { return two.statistics().denied > 0; }));
    EXPECT_TRUE(held.verify());
    EXPECT_EQ(held.release(), release_result::released);
    waiter.join();
}

TEST_F(acl, rights_that_are_taken_away_later_end_the_lease_before_its_deadline) {
    client through(as_user({"~*", "+@all"}));
    const auto held = mutex(through, "k", with_ttl(1200ms * slowness)).acquire();
    std::promise<bool> lost_when_told;
    const std::stop_callback told(held.stop_token(),
                                  [&] { lost_when_told.set_value(held.lost()); });
    server_.command({"ACL", "SETUSER", "app", "-evalsha", "-eval"});
    EXPECT_FALSE(lost_when_told.get_future().get());
    EXPECT_TRUE(eventually(surely, [&] { return held.lost(); }));
}

TEST_F(acl, verify_does_not_take_a_refusal_for_an_answer) {
    client through(as_user({"~*", "+@all"}));
    const auto held = mutex(through, "k").acquire();
    server_.command({"ACL", "SETUSER", "app", "-get"});
    EXPECT_EQ(error_of([&] { (void)held.verify(); }).code, errc::permission);
}

TEST_F(acl, a_release_that_is_refused_is_unknown) {
    client through(as_user({"~*", "+@all"}));
    auto held = mutex(through, "k").acquire();
    server_.command({"ACL", "SETUSER", "app", "-evalsha", "-eval"});
    EXPECT_EQ(held.release(), release_result::unknown);
    EXPECT_TRUE(server_.exists("k"));
}

}  // namespace
}  // namespace holdfast::test
