#include <gtest/gtest.h>

#include "unit/support/crowd.hpp"

/// Releases that a server has not carried out.
namespace holdfast::testing {
namespace {

/// The server has become a replica, which refuses to write.
void demote(stub_server& which) {
    const std::string master = "role:master";
    which.info.replace(which.info.find(master), master.size(), "role:slave");
    which.answer("queue_release", "-READONLY You can't write against a read only replica.\r\n");
}

TEST(owed, a_replica_is_not_connected_to_again_and_again_for_what_it_refuses) {
    crowd all(1);
    all.hold({.ttl = 20s, .await_release = false});
    demote(all.server);
    all.holder->made.reset();
    all.here.run_for(10s);
    EXPECT_LE(all.server.count("HELLO"), 12) << "the pauses grow";
    EXPECT_GE(all.server.count("queue_release"), 4) << "and it is asked again";
    EXPECT_TRUE(all.server.owner_of("key"));
}

TEST(owed, what_a_replica_has_refused_it_is_asked_again_when_it_is_a_master) {
    crowd all(1);
    all.hold({.ttl = 20s, .await_release = false});
    const auto as_master = all.server.info;
    demote(all.server);
    all.holder->made.reset();
    all.here.run_for(2s);
    all.server.info = as_master;
    all.server.answer_as_usual("queue_release");
    all.here.run_for(6s);
    EXPECT_FALSE(all.server.owner_of("key"));
}

}  // namespace
}  // namespace holdfast::testing
