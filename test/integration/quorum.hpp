#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <vector>

#include "holdfast/operate.hpp"
#include "integration/library.hpp"
#include "support/fault_proxy.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {

/// N independent servers, each behind a faulty network that passes everything on at first.
///
/// The servers have been vouched for, as an operator does once for new ones: they vote at once.
class quorum {
  public:
    explicit quorum(std::size_t nodes = 5, const redis_options& how = {},
                    milliseconds max_ttl = options{}.max_ttl)
        : max_ttl_(max_ttl) {
        for (std::size_t n = 0; n < nodes; ++n) {
            servers_.emplace_back(how);
            proxies_.emplace_back(servers_.back().port());
        }
        client operator_of_them(settings());
        const auto left = enlist(operator_of_them, true);
        for (const auto& quarantine : left) EXPECT_EQ(quarantine, 0ms);
    }

    [[nodiscard]] std::size_t size() const { return servers_.size(); }
    [[nodiscard]] redis_server& server(std::size_t n) { return servers_[n]; }
    [[nodiscard]] fault_proxy& proxy(std::size_t n) { return proxies_[n]; }

    /// Through the proxies.
    [[nodiscard]] options settings() const {
        options result;
        for (const auto& proxy : proxies_) result.urls.push_back(proxy.url());
        result.max_ttl = max_ttl_;
        return result;
    }

    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> result;
        for (const auto& proxy : proxies_) {
            result.push_back("127.0.0.1:" + std::to_string(proxy.port()));
        }
        return result;
    }

    /// On how many of the running servers the key stands.
    [[nodiscard]] std::size_t holders_of(const std::string& key) {
        return static_cast<std::size_t>(
            std::count_if(servers_.begin(), servers_.end(),
                          [&](redis_server& each) { return each.running() && each.exists(key); }));
    }

    /// How many commands the server has carried out, INFO included.
    [[nodiscard]] static std::int64_t commands_of(const redis_server& server,
                                                  const std::string& name) {
        const auto text = server.command({"INFO", "commandstats"});
        const auto at = text.find("cmdstat_" + name + ":calls=");
        if (at == std::string::npos) return 0;
        return std::stoll(text.substr(at + name.size() + 15));
    }

  private:
    milliseconds max_ttl_;  // that all clients agree on
    std::deque<redis_server> servers_;
    std::deque<fault_proxy> proxies_;
};

}  // namespace holdfast::test
