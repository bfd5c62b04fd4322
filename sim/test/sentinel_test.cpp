// A simulated Sentinel beside a real one.

#include "sim/server/sentinel.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "net/sentinel_report.hpp"
#include "resp/view.hpp"
#include "sim/test/both_servers.hpp"

namespace holdfast::sim {
namespace {

class sentinels : public testing::Test {
  protected:
    std::string of_real(const command& words) {
        theirs.send(encoded({words, {"mark"}}));
        auto answer = theirs.receive_until(end);
        answer.resize(answer.size() - end.size());
        return answer;
    }
    std::string of_ours(const command& words) {
        ours.receive(here, encoded({words}));
        return std::exchange(out.written[here], {});
    }
    void compare(const command& words) {
        EXPECT_EQ(masked(of_real(words), mask::identity), masked(of_ours(words), mask::identity))
            << words.front();
    }

    const std::string end = "-ERR unknown command 'mark', with args beginning with: \r\n";
    real_server real{real_server::sentinel_of{"main"}};
    raw_connection theirs{real.socket()};
    recorder out;
    sentinel ours{
        out, {.name = "main", .replicas = 0, .sentinels = 1}, {.host = "127.0.0.1", .port = 1}};
    const sentinel::connection here = ours.open();
};

TEST_F(sentinels, answer_as_a_real_one_does) {
    for (const auto* const protocol : {"3", "2"}) {
        compare({"HELLO", protocol});
        compare({"PING"});
        compare({"CLIENT", "SETNAME", "x"});
        compare({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main"});
        compare({"SENTINEL", "get-master-addr-by-name", "other"});
        compare({"SENTINEL", "MASTER", "other"});
        compare({"SENTINEL", "nothing", "main"});
        compare({"GET", "x"});
        compare({"SCRIPT", "LOAD", "return 1"});
    }
    compare({"HELLO", "3"});
    compare({"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"});
    compare({"SUBSCRIBE", "+switch-master"});
}

// Of what a real one says of a master, ours says a part, in the same words.
TEST_F(sentinels, say_the_same_of_the_group) {
    for (const auto* const protocol : {"3", "2"}) {
        compare({"HELLO", protocol});
        const command asks{"SENTINEL", "MASTER", "main"};
        const auto real_said = of_real(asks);
        const auto said = of_ours(asks);
        EXPECT_EQ(real_said.front(), said.front());
        net::sentinel_report one;
        net::sentinel_report other;
        net::read_group(resp::view(real_said), one);
        net::read_group(resp::view(said), other);
        EXPECT_EQ(one, other);
        EXPECT_EQ(one.members, 1U);
        EXPECT_EQ(one.epoch, 0U);
        EXPECT_EQ(net::watched_masters(of_real({"INFO"})), net::watched_masters(of_ours({"INFO"})));
    }
}

TEST_F(sentinels, tell_of_another_master_those_who_listen) {
    of_ours({"HELLO", "3"});
    ours.learn({.host = "10.0.0.1", .epoch = 1});
    EXPECT_EQ(std::exchange(out.written[here], {}), "");
    of_ours({"SUBSCRIBE", "+switch-master"});
    ours.learn({.host = "10.0.0.2", .epoch = 2});
    const auto told = std::exchange(out.written[here], {});
    EXPECT_TRUE(net::tells_of_switch(resp::view(told), "main")) << told;
    ours.learn({.host = "10.0.0.2", .epoch = 3});
    EXPECT_EQ(out.written[here], "") << "it is the same";
}

}  // namespace
}  // namespace holdfast::sim
