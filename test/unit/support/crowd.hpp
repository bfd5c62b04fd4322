#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "unit/support/client_in_memory.hpp"
#include "unit/support/stub_server.hpp"

namespace holdfast::testing {

using namespace std::chrono_literals;

/// Clients of one server, as processes that are after one lock. The first of them has it.
class crowd {
  public:
    using words = std::vector<std::string>;
    using pending = std::shared_ptr<pending_result>;

    explicit crowd(std::size_t count = 2, options how = {}) {
        how.urls = {"redis://redis"};
        for (std::size_t n = 0; n < count; ++n) {
            clients.push_back(std::make_unique<client_in_memory>(here, how, n + 1));
        }
    }
    crowd(const crowd&) = delete;
    crowd& operator=(const crowd&) = delete;

    /// The first client has the lock, and all are connected.
    crowd& hold(const acquire_options& how = {}) {
        for (const auto& each : clients) EXPECT_TRUE(each->acquire("another")->made);
        holder = client(0).acquire("key", how);
        EXPECT_TRUE(holder->made);
        server.forget_asked();
        return *this;
    }
    /// That client waits, and has been denied.
    pending wait(std::size_t which, const acquire_options& how = {},
                 core::time_point give_up_at = core::never) {
        auto result = client(which).start("key", how, true, give_up_at);
        here.settle();
        EXPECT_FALSE(result->done);
        return result;
    }
    /// Without waiting for anything that comes of it.
    void release() { release(*holder); }
    void release(pending_result& whose) {
        EXPECT_EQ(whose.made->release(), release_result::released);
        here.settle();
    }

    client_in_memory& client(std::size_t which) { return *clients[which]; }
    /// The connection of that client, if nobody has connected again since.
    memory_stream& stream(std::size_t which) { return *client(which).around->streams().back(); }
    [[nodiscard]] words line() const { return server.line_of("key"); }
    [[nodiscard]] static std::string owner_in(const std::string& entry) {
        return entry.substr(entry.find(' ', entry.find(' ') + 1) + 1);
    }

    world here;
    stub_server server{here, "redis:6379"};
    std::vector<std::unique_ptr<client_in_memory>> clients;
    pending holder;
};

}  // namespace holdfast::testing
