#pragma once

#include <deque>
#include <string>
#include <vector>

#include "holdfast/client.hpp"
#include "holdfast/operate.hpp"
#include "support/fault_proxy.hpp"
#include "support/redis_server.hpp"

namespace holdfast::bench {

/// Servers that have been vouched for, so that they vote at once.
class server_set {
  public:
    explicit server_set(std::size_t count) : servers_(count) {
        client operator_of_them(urls());
        (void)enlist(operator_of_them, true);
    }

    [[nodiscard]] std::vector<std::string> urls() const {
        std::vector<std::string> result;
        for (const auto& server : servers_) result.push_back(server.url());
        return result;
    }

    [[nodiscard]] const std::deque<test::redis_server>& servers() const { return servers_; }

  private:
    std::deque<test::redis_server> servers_;
};

/// A network in front of them, in which a round trip takes `added` longer.
class slow_network {
  public:
    slow_network(const server_set& to, std::chrono::nanoseconds added) {
        for (const auto& server : to.servers()) {
            proxies_.emplace_back(server.port()).delay(test::direction::to_server, added);
        }
    }

    [[nodiscard]] std::vector<std::string> urls() const {
        std::vector<std::string> result;
        for (const auto& proxy : proxies_) result.push_back(proxy.url());
        return result;
    }

    [[nodiscard]] test::fault_proxy& link(std::size_t node) { return proxies_[node]; }

  private:
    std::deque<test::fault_proxy> proxies_;
};

}  // namespace holdfast::bench
