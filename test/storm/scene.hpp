#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "storm/worker.hpp"
#include "support/fault_proxy.hpp"
#include "support/process.hpp"
#include "support/redis_cluster.hpp"
#include "support/redis_server.hpp"
#include "support/sentinel_group.hpp"
#include "support/shifted_clock.hpp"

namespace holdfast::storm {

struct scene_settings {
    std::size_t servers = 1;
    bool replicated = false;     // three servers that replicate each other, and three Sentinels
    bool clustered = false;      // three shards of three servers, by a network that can be cut;
                                 // every other worker is on the side of who is cut off
    std::string replica_acks{};  // what replicas have to acknowledge; empty: by default
    std::size_t workers = 5;
    std::uint64_t seed = 1;
    std::filesystem::path directory{};
    std::string program{};  // this one: it is its own worker
};

/// Servers, each behind a faulty network and with a wall clock of its own, or a group of them that
/// Sentinels watch, or a Cluster; workers; and the server with the registers, which nobody touches.
/// All of it is gone with the object.
///
/// Thread safety: one object from one thread at a time.
class scene {
  public:
    explicit scene(const scene_settings& settings);

    [[nodiscard]] std::size_t servers() const {
        if (cluster_) return cluster_->size();
        return group_ ? group_->size() : servers_.size();
    }
    /// As a group that Sentinels watch, or in shards.
    [[nodiscard]] bool replicated() const { return group_.has_value() || clustered(); }
    [[nodiscard]] bool clustered() const { return cluster_.has_value(); }
    /// REQUIRES: replicated, and not clustered.
    test::sentinel_group& group() { return *group_; }
    /// REQUIRES: clustered.
    test::redis_cluster& cluster() { return *cluster_; }
    /// Every other worker reaches the Sentinels over a network of its own, which may fall silent,
    /// and the servers as all do. REQUIRES: replicated, and not clustered.
    void keep_news_from_some(bool on);
    /// All Sentinels name one master, which is one, and has all others for replicas; or so it is in
    /// each shard. REQUIRES: replicated.
    [[nodiscard]] bool settled();
    [[nodiscard]] std::size_t workers() const { return workers_.size(); }
    test::redis_server& server(std::size_t n) {
        if (cluster_) return cluster_->server(n);
        return group_ ? group_->server(n) : servers_[n];
    }
    /// REQUIRES: not replicated, for both.
    test::fault_proxy& proxy(std::size_t n) { return proxies_[n]; }
    test::shifted_clock& clock_of(std::size_t n) { return clocks_[n]; }
    test::process& worker(std::size_t n) { return workers_[n].child; }
    [[nodiscard]] const std::string& name_of_worker(std::size_t n) const {
        return workers_[n].orders.name;
    }
    /// Nothing if there is none of that name.
    [[nodiscard]] std::optional<std::size_t> worker_called(const std::string& name) const;
    /// The worker that stands first in line for a key at the only server, if any does.
    [[nodiscard]] std::optional<std::size_t> first_in_line(std::string_view key) const;

    /// Whether all workers are to be after the popular lock all the time.
    void rush(bool on);

    /// Another process in the place of one that is gone.
    void replace_worker(std::size_t n);
    /// Throws if a worker that should be there has ended by itself.
    void inspect();
    /// Lets the workers finish what they are at, and end.
    void dismiss();
    /// Which keys of locks and queues there are at the first server.
    [[nodiscard]] std::vector<std::string> keys_left() const;

  private:
    struct employee {
        worker_orders orders;
        test::process child;
    };

    void start_servers(std::size_t count);
    void start_group();
    [[nodiscard]] std::vector<std::string> urls() const;
    /// Of the group, by way of those who may be cut off from the Sentinels, or not.
    [[nodiscard]] std::string group_url(bool may_be_cut_off) const;
    /// The same of the Cluster, from who is cut off with some of its servers.
    [[nodiscard]] std::string cluster_url(bool may_be_cut_off) const;
    [[nodiscard]] std::string with_acks(const std::string& url) const;
    void vouch();
    [[nodiscard]] worker_orders orders_for(std::size_t n) const;
    [[nodiscard]] test::process start(const worker_orders& orders) const;

    scene_settings settings_;
    std::deque<test::shifted_clock> clocks_;
    std::deque<test::redis_server> servers_;
    std::deque<test::fault_proxy> proxies_;
    std::optional<test::sentinel_group> group_;
    std::optional<test::redis_cluster> cluster_;
    std::deque<test::fault_proxy> to_sentinels_;  // of those who may be cut off from them
    test::redis_server registers_;
    std::vector<employee> workers_;
};

}  // namespace holdfast::storm
