#include "net/connection.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "kinds/exclusive.hpp"
#include "unit/support/asker.hpp"
#include "unit/support/stub_server.hpp"

namespace holdfast::net {
namespace {

using namespace std::chrono_literals;
using testing::asker;
using testing::asker_pointer;
using testing::invalidation;
using words = std::vector<std::string>;

/// One connection to one server that answers the handshake, and leaves GET to the test.
class line final : private connection::owner {
  public:
    line() { server.answer("GET", ""); }

    line& connect() {
        link = std::make_unique<connection>(around, guard, how,
                                            static_cast<connection::owner&>(*this), here.now());
        here.settle();
        return *this;
    }
    void ask(const asker_pointer& who, exchange::tag request,
             clock::duration patience = std::chrono::seconds(1)) {
        link->send(who, request, here.now() + patience, here.now());
        link->flush();
        here.settle();
    }
    /// What the server says arrives in these pieces.
    void hear(const words& pieces) {
        for (const auto& piece : pieces) {
            stream().say(piece);
            here.settle();
        }
    }
    void pass(clock::duration span) {
        here.run_for(span);
        link->expire(here.now());
        here.settle();
    }
    testing::memory_stream& stream() { return *around.streams().back(); }

    testing::world here;
    testing::stub_server server{here, "redis:6379"};
    testing::memory_environment around{here};
    base::client_mutex guard;
    connection::settings how{.where = {.host = "redis"},
                             .client_name = "me",
                             .policy = {},
                             .loads = kinds::exclusive().loads(kinds::topology::quorum),
                             .connect_timeout = 1s,
                             .silence_limit = 3s};
    std::unique_ptr<connection> link;
    int ready = 0;
    int blocked = 0;
    words pushes;
    std::vector<failure> down;
    std::optional<failure> refused;  // what would be repeated

  private:
    void on_ready(const greeting&) override { ++ready; }
    void on_down(const failure& why) noexcept override { down.push_back(why); }
    void on_push(resp::view message) override { pushes.emplace_back(message.at(0)->text()); }
    std::optional<failure> why_not_again(const exchange&, exchange::tag) override {
        return refused;
    }
    void on_blocked() override { ++blocked; }
};

words pieces_of(const std::string& all, std::size_t size) {
    words pieces;
    for (std::size_t at = 0; at < all.size(); at += size) pieces.push_back(all.substr(at, size));
    return pieces;
}

TEST(connection, takes_answers_in_any_pieces) {
    const std::string all = "+one\r\n$3\r\ntwo\r\n*2\r\n:3\r\n_\r\n";
    for (std::size_t size = 1; size <= all.size(); ++size) {
        line with;
        with.connect();
        const asker_pointer who(new asker);
        for (exchange::tag n = 1; n <= 3; ++n) with.ask(who, n);
        with.hear(pieces_of(all, size));
        EXPECT_EQ(who->said(), (words{"+one\r\n", "$3\r\ntwo\r\n", "*2\r\n:3\r\n_\r\n"})) << size;
        EXPECT_TRUE(with.link->idle());
        EXPECT_TRUE(with.down.empty());
    }
}

TEST(connection, takes_an_answer_that_is_larger_than_its_buffer) {
    line with;
    with.connect();
    const asker_pointer who(new asker);
    with.ask(who, 1);
    const auto large = testing::bulk(std::string(100'000, 'x'));
    with.hear({large});
    ASSERT_EQ(who->heard.size(), 1U);
    EXPECT_EQ(who->heard[0].said, large);
}

TEST(connection, passes_pushes_on_and_takes_none_for_an_answer) {
    line with;
    with.connect();
    const asker_pointer who(new asker);
    with.ask(who, 1);
    with.ask(who, 2);
    const auto push = invalidation({"key"});
    for (const auto& piece : pieces_of(push + "+one\r\n" + push + "+two\r\n" + push, 7)) {
        with.hear({piece});
    }
    EXPECT_EQ(who->said(), (words{"+one\r\n", "+two\r\n"}));
    EXPECT_EQ(with.pushes, (words{"invalidate", "invalidate", "invalidate"}));
}

TEST(connection, repeats_a_script_by_text_where_the_server_has_forgotten_it) {
    line with;
    with.connect();
    with.server.flush_scripts();
    const asker_pointer who(new asker);
    with.ask(asker_pointer(&who->as_script()), 1);
    EXPECT_EQ(with.server.count("release"), 2) << "by its hash, and by its text";
    EXPECT_EQ(who->said(), (words{":0\r\n"}));
}

TEST(connection, repeats_a_script_within_the_deadline_that_it_had) {
    line with;
    with.connect();
    const asker_pointer who(new asker);
    who->as_script();
    with.server.answer("release", "");
    with.ask(who, 1, 1s);
    with.pass(900ms);
    with.hear({"-NOSCRIPT No matching script\r\n"});
    EXPECT_EQ(with.server.count("release"), 2);
    EXPECT_EQ(with.link->wake_at(), with.here.now() + 100ms);
    with.pass(100ms);
    EXPECT_EQ(who->said(), (words{"failed: no answer in time"}));
    with.hear({":1\r\n"});
    EXPECT_EQ(who->heard.size(), 1U) << "it came too late";
    EXPECT_TRUE(with.down.empty());
}

TEST(connection, repeats_no_script_that_must_not_be_asked_for_any_more) {
    line with;
    with.connect();
    with.server.flush_scripts();
    with.refused = failure{.message = "not now"};
    const asker_pointer who(new asker);
    with.ask(asker_pointer(&who->as_script()), 1);
    EXPECT_EQ(with.server.count("release"), 1);
    EXPECT_EQ(who->said(), words{"failed: not now"});
}

TEST(connection, repeats_no_script_that_nobody_wants_any_more) {
    line with;
    with.connect();
    with.server.flush_scripts();
    const asker_pointer who(new asker);
    who->as_script().still_wanted = false;
    with.ask(who, 1);
    EXPECT_EQ(with.server.count("release"), 1);
    ASSERT_EQ(who->heard.size(), 1U);
    EXPECT_EQ(who->heard[0].said.substr(0, 9), "-NOSCRIPT");
}

TEST(connection, drops_a_late_answer_and_gives_nobody_else_it) {
    line with;
    with.connect();
    const asker_pointer late(new asker);
    const asker_pointer next(new asker);
    with.ask(late, 1, 100ms);
    with.ask(next, 2, 1s);
    EXPECT_FALSE(with.link->stalled());
    with.pass(100ms);
    EXPECT_EQ(late->said(), (words{"failed: no answer in time"}));
    EXPECT_TRUE(with.link->stalled());
    with.hear({"+late\r\n+in time\r\n"});
    EXPECT_EQ(late->heard.size(), 1U);
    EXPECT_EQ(next->said(), (words{"+in time\r\n"}));
    EXPECT_FALSE(with.link->stalled());
}

TEST(connection, that_owes_answers_and_is_silent_for_too_long_is_dead) {
    line with;
    with.connect();
    const asker_pointer who(new asker);
    with.ask(who, 1, 10s);
    with.pass(2999ms);
    EXPECT_TRUE(with.down.empty());
    with.pass(1ms);
    ASSERT_EQ(with.down.size(), 1U);
    EXPECT_EQ(with.down[0].message, "silent for too long");
    EXPECT_EQ(who->said(), (words{"failed: silent for too long"}));
    EXPECT_TRUE(with.stream().closed());
}

TEST(connection, that_says_anything_is_not_silent) {
    line with;
    with.connect();
    const asker_pointer who(new asker);
    with.ask(who, 1, 10s);
    with.pass(2s);
    with.hear({invalidation({"key"})});
    with.pass(2s);
    EXPECT_TRUE(with.down.empty());
    EXPECT_EQ(with.link->wake_at(), with.here.now() + 1s);
    with.pass(1s);
    EXPECT_EQ(with.down.size(), 1U);
}

TEST(connection, that_owes_nothing_may_be_silent_for_ever) {
    line with;
    with.connect();
    EXPECT_EQ(with.link->wake_at(), clock::time_point::max());
    with.pass(1h);
    EXPECT_TRUE(with.down.empty());
    const asker_pointer who(new asker);
    with.ask(who, 1, 10s);
    with.pass(1s);
    EXPECT_TRUE(with.down.empty()) << "it is silent since it was asked, not for longer";
}

TEST(connection, asks_everything_again_where_the_server_is_emptied_during_the_handshake) {
    line with;
    with.server.answer_once("enlist", invalidation({}) + with.server.enlisted);
    with.connect();
    EXPECT_EQ(with.server.count("INFO"), 2);
    EXPECT_EQ(with.server.count("enlist"), 2);
    EXPECT_EQ(with.ready, 1);
    EXPECT_TRUE(with.down.empty());
}

TEST(connection, subscribes_in_the_handshake_and_takes_the_confirmation_for_its_answer) {
    line with;
    with.how.channel = "holdfast:client:ab";
    with.connect();
    EXPECT_EQ(with.server.count("SUBSCRIBE"), 1);
    EXPECT_EQ(with.ready, 1);
    EXPECT_TRUE(with.pushes.empty()) << "it is nobody else's";
    EXPECT_TRUE(with.link->idle()) << "every answer has found its question";
}

TEST(connection, passes_what_is_published_on_among_the_answers) {
    line with;
    with.how.channel = "holdfast:client:ab";
    with.connect();
    const asker_pointer who(new asker);
    with.ask(who, 1);
    with.ask(who, 2);
    const auto push = testing::published("holdfast:client:ab", "owner\nkey");
    for (const auto& piece : pieces_of("+one\r\n" + push + "+two\r\n", 5)) with.hear({piece});
    EXPECT_EQ(who->said(), (words{"+one\r\n", "+two\r\n"}));
    EXPECT_EQ(with.pushes, words{"message"});
}

TEST(connection, hears_of_nothing_that_is_published_before_it_is_ready) {
    line with;
    with.how.channel = "holdfast:client:ab";
    with.server.answer_once("INFO", testing::published("holdfast:client:ab", "owner\nkey") +
                                        testing::bulk(with.server.info));
    with.connect();
    EXPECT_EQ(with.ready, 1);
    EXPECT_TRUE(with.pushes.empty());
}

TEST(connection, ends_where_the_server_is_emptied_and_believes_no_answer_behind_that) {
    line with;
    with.connect();
    const asker_pointer who(new asker);
    with.ask(who, 1);
    with.ask(who, 2);
    with.hear({"+before\r\n" + invalidation({}) + "+behind\r\n"});
    ASSERT_EQ(with.down.size(), 1U);
    EXPECT_TRUE(with.down[0].emptied);
    EXPECT_EQ(who->said(), (words{"+before\r\n", "failed: it was emptied; its locks may be gone"}));
    EXPECT_TRUE(who->heard[1].why.emptied);
}

TEST(connection, ends_where_the_server_is_not_the_master_any_more) {
    for (const std::string said :
         {"-READONLY You can't write against a read only replica.\r\n", "-MOVED 1 there:6379\r\n",
          "-ERR Error running script (call to f_a): @user_script:1: -READONLY You can't\r\n"}) {
        line with;
        with.connect();
        const asker_pointer who(new asker);
        with.ask(who, 1);
        with.ask(who, 2);
        with.hear({said});
        ASSERT_EQ(with.down.size(), 1U) << said;
        EXPECT_EQ(with.down[0].code, errc::unsafe_server);
        EXPECT_EQ(who->said(), (words{said, "failed: is not the master any more"}));
    }
}

TEST(connection, survives_every_other_error) {
    for (const std::string said :
         {"-LOADING Redis is loading the dataset in memory\r\n", "-OOM command not allowed\r\n",
          "-BUSY Redis is busy running a script\r\n", "-MISCONF Redis is configured to save\r\n",
          "-NOPERM this user has no permissions\r\n", "-ERR READONLY is a word\r\n"}) {
        line with;
        with.connect();
        const asker_pointer who(new asker);
        with.ask(who, 1);
        with.hear({said});
        EXPECT_TRUE(with.down.empty()) << said;
        EXPECT_EQ(who->said(), (words{said}));
    }
}

TEST(connection, ends_at_garbage_wherever_it_comes) {
    for (const std::string garbage : {"hello\r\n", "$-7\r\n", "*1\r\n>0\r\n", ":1x\r\n"}) {
        line early;
        early.server.answer("HELLO", garbage);
        early.connect();
        ASSERT_EQ(early.down.size(), 1U) << garbage;
        EXPECT_EQ(early.down[0].code, errc::protocol);
        EXPECT_EQ(early.ready, 0);

        line late;
        late.connect();
        const asker_pointer who(new asker);
        late.ask(who, 1);
        late.ask(who, 2);
        late.hear({"+one\r\n" + garbage});
        ASSERT_EQ(late.down.size(), 1U) << garbage;
        EXPECT_EQ(late.down[0].code, errc::protocol);
        EXPECT_TRUE(late.down[0].hopeless);
        ASSERT_EQ(who->heard.size(), 2U);
        EXPECT_EQ(who->heard[0].said, "+one\r\n");
        EXPECT_TRUE(who->heard[1].failed);
    }
}

TEST(connection, ends_at_an_answer_that_nobody_asked_for) {
    line with;
    with.connect();
    with.hear({"+why not\r\n"});
    ASSERT_EQ(with.down.size(), 1U);
    EXPECT_EQ(with.down[0].message, "an answer that nobody asked for");
}

TEST(connection, has_the_server_tell_before_the_request_that_reads) {
    line with;
    with.connect();
    const asker_pointer who(new asker);
    who->to_be_told();
    with.server.forget_asked();
    with.server.answer("CACHING", "");
    with.ask(who, 1);
    EXPECT_EQ(with.server.asked(), (words{"CACHING", "GET"}));
    with.hear({"-NOPERM no\r\n+one\r\n"});
    EXPECT_EQ(who->said(), (words{"+one\r\n"})) << "what comes first says nothing";
}

TEST(connection, asks_no_server_to_tell_that_cannot) {
    line with;
    with.server.answer("TRACKING", "-ERR unknown subcommand\r\n");
    with.connect();
    const asker_pointer who(new asker);
    who->to_be_told();
    with.ask(who, 1);
    EXPECT_EQ(with.server.count("CACHING"), 0);
    with.hear({"+one\r\n"});
    EXPECT_EQ(who->said(), (words{"+one\r\n"}));
}

TEST(connection, writes_the_rest_when_the_other_end_takes_it) {
    line with;
    with.connect();
    const asker_pointer who(new asker);
    with.stream().take_at_most(5);
    with.ask(who, 1);
    EXPECT_EQ(with.blocked, 1);
    EXPECT_EQ(with.server.count("GET"), 0);
    EXPECT_EQ(with.link->descriptor(), -1);
    with.ask(who, 2);
    EXPECT_TRUE(with.link->has_unsent()) << "it stands behind the other one";
    with.stream().drain();
    with.here.settle();
    EXPECT_EQ(with.server.count("GET"), 2);
    with.hear({"+one\r\n+two\r\n"});
    EXPECT_EQ(who->said(), (words{"+one\r\n", "+two\r\n"}));
}

TEST(connection, fails_all_that_is_unanswered_when_the_server_hangs_up) {
    line with;
    with.connect();
    const asker_pointer who(new asker);
    with.ask(who, 1, 100ms);
    with.ask(who, 2);
    with.pass(100ms);
    with.stream().hang_up();
    with.here.settle();
    ASSERT_EQ(with.down.size(), 1U);
    EXPECT_EQ(who->said(),
              (words{"failed: no answer in time", "failed: connection closed by the server"}))
        << "each hears of it once";
}

TEST(connection, notices_before_it_is_used_that_the_server_is_gone) {
    line with;
    with.connect();
    with.stream().stall(true);  // nobody reads what has come
    with.stream().hang_up();
    with.here.run_for(1ms);
    with.link->notice_hang_up(with.here.now());
    ASSERT_EQ(with.down.size(), 1U);
    EXPECT_EQ(with.down[0].message, "connection closed by the server");
}

TEST(connection, gives_up_connecting_in_time) {
    line with;
    with.server.answer("INFO", "");
    with.connect();
    EXPECT_EQ(with.link->wake_at(), with.here.now() + 1s);
    with.pass(999ms);
    EXPECT_TRUE(with.down.empty());
    with.pass(1ms);
    ASSERT_EQ(with.down.size(), 1U);
    EXPECT_EQ(with.down[0].message, "no answer while connecting");
}

TEST(connection, that_is_refused_goes_down_with_what_was_said) {
    line with;
    with.server.stop();
    with.connect();
    ASSERT_EQ(with.down.size(), 1U);
    EXPECT_EQ(with.down[0].message, "Connection refused");
}

TEST(connection, names_tls_where_a_server_hangs_up_at_the_first_word) {
    line with;
    with.server.answer("HELLO", "");
    with.connect();
    with.stream().hang_up();
    with.here.settle();
    ASSERT_EQ(with.down.size(), 1U);
    EXPECT_NE(with.down[0].message.find("use rediss://"), std::string::npos);
}

TEST(connection, a_request_that_cannot_be_written_fails_alone) {
    line with;
    with.connect();
    const asker_pointer well(new asker);
    const asker_pointer bad(new asker);
    bad->on_encode = [] { throw std::runtime_error("no"); };
    with.ask(well, 1);
    with.ask(bad, 2);
    with.ask(well, 3);
    EXPECT_EQ(bad->said(), (words{"failed: no"}));
    with.hear({"+one\r\n+three\r\n"});
    EXPECT_EQ(well->said(), (words{"+one\r\n", "+three\r\n"}));
}

TEST(connection, an_answer_that_cannot_be_read_fails_its_request_alone) {
    line with;
    with.connect();
    const asker_pointer well(new asker);
    const asker_pointer bad(new asker);
    bad->on_answer = [] { throw std::bad_alloc(); };
    with.ask(bad, 1);
    with.ask(well, 2);
    with.hear({"+one\r\n+two\r\n"});
    EXPECT_EQ(bad->said(), (words{"failed: out of memory"}));
    EXPECT_EQ(well->said(), (words{"+two\r\n"}));
    EXPECT_TRUE(with.down.empty());
}

TEST(connection, whoever_is_told_of_its_end_finds_it_down) {
    line with;
    with.connect();
    const asker_pointer who(new asker);
    bool ready = true;
    who->on_failure = [&] { ready = with.link->ready(); };
    with.ask(who, 1);
    with.stream().hang_up();
    with.here.settle();
    EXPECT_EQ(who->heard.size(), 1U);
    EXPECT_FALSE(ready);
}

}  // namespace
}  // namespace holdfast::net
