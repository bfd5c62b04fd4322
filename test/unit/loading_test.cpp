#include <gtest/gtest.h>

#include <chrono>

#include "kinds/shared.hpp"
#include "scripts/embedded.hpp"
#include "unit/support/client_in_memory.hpp"
#include "unit/support/stub_server.hpp"

/// Which scripts the handshakes of a client load.
namespace holdfast::testing {
namespace {

using namespace std::chrono_literals;

struct loading {
    /// The latest handshake loaded it.
    [[nodiscard]] bool loaded(const scripts::script& which) const {
        return server.count("LOAD") > 0 && server.latest("LOAD").at(2) == which.text;
    }
    /// As one who wants to read does.
    void use_readers() {
        const auto lock = client.engine->lock();
        (void)client.engine->make_owner(kinds::shared(), {});
        client.engine->submit();
    }

    world here;
    stub_server server{here, "redis:6379"};
    client_in_memory client{here, at({"redis://redis"})};
};

TEST(loading, is_of_the_kinds_that_are_used_and_of_no_other) {
    loading with;
    ASSERT_TRUE(with.client.acquire("key")->made);
    EXPECT_EQ(with.server.count("LOAD"), 3) << "to acquire, to extend, to release";
    EXPECT_TRUE(with.loaded(scripts::exclusive::queue_release));
}

TEST(loading, of_a_kind_that_is_used_later_comes_ahead_of_its_first_request) {
    loading with;
    ASSERT_TRUE(with.client.acquire("key")->made);
    with.server.forget_asked();
    with.use_readers();
    with.here.run_for(1s);
    EXPECT_EQ(with.server.asked(), (stub_server::words{"LOAD", "LOAD", "LOAD"}));
    with.use_readers();
    with.here.run_for(1s);
    EXPECT_EQ(with.server.asked().size(), 3U) << "once";
}

TEST(loading, of_all_kinds_that_were_used_is_part_of_every_later_handshake) {
    loading with;
    ASSERT_TRUE(with.client.acquire("key")->made);
    with.use_readers();
    with.here.run_for(1s);
    with.server.forget_asked();
    with.server.kill_connections();
    with.here.run_for(1s);
    ASSERT_TRUE(with.client.acquire("other")->made);
    EXPECT_EQ(with.server.count("LOAD"), 6);
    EXPECT_TRUE(with.loaded(scripts::shared::release));
}

TEST(loading, of_a_kind_that_is_used_during_the_handshake_follows_it) {
    loading with;
    const auto pending = with.client.start("key");
    with.use_readers();
    with.here.run_for(1s);
    ASSERT_TRUE(pending->made);
    EXPECT_EQ(with.server.count("LOAD"), 6);
}

}  // namespace
}  // namespace holdfast::testing
