#include "runtime/operations/watching.hpp"

#include <gtest/gtest.h>

#include "resp/encoder.hpp"
#include "unit/support/client_in_memory.hpp"
#include "unit/support/stub_server.hpp"

/// Somebody waits until a key is there, without threads and without servers.
namespace holdfast::testing {
namespace {

using namespace std::chrono_literals;
using runtime::watching;

/// Satisfied by a key.
class key_watch final : public runtime::watched {
  public:
    [[nodiscard]] const std::string& lock() const override { return key_; }
    [[nodiscard]] const std::string& key() const override { return key_; }
    [[nodiscard]] std::size_t questions() const override { return 2; }
    void ask(std::size_t question, bool, std::string& out) const override {
        resp::append_command(out, {"PTTL", question == 0 ? key_ : "other"});
    }
    finding judge(runtime::engine&, const runtime::electorate&, const answers& all) override {
        ++looks;
        for (const auto& each : all) {
            if (const auto* why = std::get_if<net::failure>(&each)) return {.failed = *why};
        }
        const auto left = resp::view(std::get<std::string>(all[0])).integer();
        return {.satisfied = left >= 0, .changes_in = changes_in};
    }

    int looks = 0;
    std::optional<core::duration> changes_in;

  private:
    std::string key_ = "key";
};

class watching_a_key : public ::testing::Test {
  protected:
    explicit watching_a_key(options how = at({"redis://one"})) : client(here, std::move(how)) {}

    void start(watching::request wish = {}) {
        wish.what = what;
        const auto lock = client.engine->lock();
        client.engine->driving().require_background();
        client.engine->begin_unattended();
        operation = new watching(client.engine, wish, [this](watching& over) {
            client.engine->end_unattended();
            result = over.take_result();
        });
        operation->start(client.engine->now());
        client.engine->driving().attend_by(client.engine->now());
    }
    [[nodiscard]] bool over() const { return result.how != watching::outcome::none; }

    world here;
    stub_server server{here, "one:6379"};
    watching::result result;  // until the client is closed: that ends what is under way
    client_in_memory client;
    std::shared_ptr<key_watch> what = std::make_shared<key_watch>();
    boost::intrusive_ptr<watching> operation;
};

TEST_F(watching_a_key, ends_at_once_where_there_is_nothing_to_wait_for) {
    server.put("key", "somebody", 1h);
    start();
    here.settle();
    EXPECT_EQ(result.how, watching::outcome::satisfied);
    EXPECT_EQ(what->looks, 1);
}

TEST_F(watching_a_key, asks_to_be_told_of_the_first_key_alone_and_then_waits) {
    start();
    here.run_for(4s);
    EXPECT_EQ(server.count("CACHING"), 1);
    EXPECT_EQ(server.count("PTTL"), 2);
    EXPECT_FALSE(over());
}

TEST_F(watching_a_key, looks_when_it_is_told_of_a_change_and_is_told_again) {
    start();
    here.run_for(1s);
    server.touch("key");
    here.settle();
    EXPECT_EQ(what->looks, 2);
    EXPECT_FALSE(over());
    const auto before = here.now();
    server.put("key", "somebody", 1h);
    server.touch("key");
    here.settle();
    EXPECT_EQ(result.how, watching::outcome::satisfied);
    EXPECT_EQ(here.now(), before);
}

TEST_F(watching_a_key, looks_every_five_seconds_whatever_it_is_told) {
    start();
    here.run_for(1s);
    server.lose_pushes(true);
    server.put("key", "somebody", 1h);
    server.touch("key");
    here.run_for(3s);
    EXPECT_FALSE(over());
    here.run_for(2s);
    EXPECT_TRUE(over());
}

TEST_F(watching_a_key, looks_when_something_changes_by_itself) {
    what->changes_in = 300ms;
    start();
    here.run_for(290ms);
    EXPECT_EQ(what->looks, 1);
    here.run_for(20ms);
    EXPECT_EQ(what->looks, 2);
}

TEST_F(watching_a_key, looks_when_this_client_itself_has_changed_it) {
    start();
    here.run_for(1s);
    {
        const auto lock = client.engine->lock();
        client.engine->changed_here("another");
        client.engine->changed_here("key");
    }
    here.settle();
    EXPECT_EQ(what->looks, 2);
}

TEST_F(watching_a_key, polls_where_the_server_does_not_tell) {
    server.answer("TRACKING", "-ERR unknown subcommand\r\n");
    start();
    here.run_for(5s);
    EXPECT_GT(what->looks, 10);
    EXPECT_LT(what->looks, 40) << "less and less often";
    EXPECT_EQ(server.count("CACHING"), 0);
    server.put("key", "somebody", 1h);
    here.run_for(500ms);
    EXPECT_TRUE(over());
}

TEST_F(watching_a_key, looks_again_on_a_new_connection) {
    start();
    here.run_for(1s);
    server.put("key", "somebody", 1h);
    server.kill_connections();
    here.run_for(1s);
    EXPECT_EQ(result.how, watching::outcome::satisfied);
}

TEST_F(watching_a_key, gives_up_when_its_time_is_over) {
    start({.give_up_at = here.now() + 700ms});
    here.run_for(690ms);
    EXPECT_FALSE(over());
    here.run_for(20ms);
    EXPECT_EQ(result.how, watching::outcome::not_satisfied);
}

TEST_F(watching_a_key, fails_when_its_time_is_over_before_the_first_answer) {
    server.answer("PTTL", "");
    start({.give_up_at = here.now() + 700ms});
    here.run_for(710ms);
    ASSERT_TRUE(result.failed);
    EXPECT_EQ(result.failed->code, errc::unreachable);
}

TEST_F(watching_a_key, looks_once_without_time_to_wait_and_asks_nobody_to_tell) {
    start({.waits = false});
    here.settle();
    EXPECT_EQ(result.how, watching::outcome::not_satisfied);
    EXPECT_EQ(server.count("CACHING"), 0);
}

TEST_F(watching_a_key, is_patient_while_nobody_answers_and_then_fails) {
    start();
    here.run_for(1s);
    server.stop();
    here.run_for(4s);
    EXPECT_FALSE(over());
    here.run_for(3s);
    ASSERT_TRUE(result.failed);
    EXPECT_EQ(result.failed->code, errc::unreachable);
}

TEST_F(watching_a_key, goes_on_when_somebody_answers_in_time) {
    start();
    here.run_for(1s);
    server.stop();
    here.run_for(3s);
    server.put("key", "somebody", 1h);
    server.start();
    here.run_for(2s);
    EXPECT_EQ(result.how, watching::outcome::satisfied);
}

TEST_F(watching_a_key, can_be_cancelled_and_ends_with_its_client) {
    start();
    here.run_for(1s);
    {
        const auto lock = client.engine->lock();
        operation->cancel();
        operation->cancel();
    }
    EXPECT_EQ(result.failed->code, errc::cancelled);
    server.touch("key");
    here.settle();
    EXPECT_EQ(what->looks, 1) << "nobody looks any more";
    result = {};
    start();
    here.run_for(1s);
    client.engine->close();
    EXPECT_EQ(result.failed->code, errc::closed);
    result = {};
    start();
    EXPECT_EQ(result.failed->code, errc::closed);
}

TEST_F(watching_a_key, that_changes_while_it_is_looked_at_is_looked_at_once_more) {
    server.answer("PTTL", "");
    start();
    here.run_for(100ms);
    {
        const auto lock = client.engine->lock();
        client.engine->changed_here("key");
        client.engine->changed_here("key");
    }
    EXPECT_EQ(server.count("PTTL"), 2) << "not while the first look is under way";
}

}  // namespace
}  // namespace holdfast::testing
