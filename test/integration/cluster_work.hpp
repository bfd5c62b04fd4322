#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "holdfast/operate.hpp"
#include "integration/library.hpp"
#include "support/redis_cluster.hpp"

/// What the tests of a Cluster do with it, and what they look at meanwhile.
namespace holdfast::test {

/// Some key of each shard.
inline std::vector<std::string> key_in_each_shard(redis_cluster& servers,
                                                  const std::string& prefix) {
    std::vector<std::string> keys(redis_cluster::shards);
    std::size_t found = 0;
    for (int n = 0; found < keys.size(); ++n) {
        const auto key = prefix + std::to_string(n);
        auto& place = keys[redis_cluster::shard_of(servers.slot_of(key))];
        if (!place.empty()) continue;
        place = key;
        ++found;
    }
    return keys;
}

/// Who held which key until when, and by which token: T1 and T2, as they happen.
class ledger {
  public:
    explicit ledger(std::vector<std::string> keys) : keys_(std::move(keys)), pages_(keys_.size()) {}

    [[nodiscard]] const std::vector<std::string>& keys() const { return keys_; }

    /// REQUIRES: nothing happens to the lease before released().
    void acquired(std::size_t key, const lease& by, clock::time_point asked) {
        const auto now = clock::now();
        auto& page = pages_[key];
        const std::lock_guard lock(guard_);
        const auto end = page.holder == nullptr ? page.released : page.holder->valid_until();
        EXPECT_LE(end, now) << keys_[key] << " had two holders";
        if (page.holder != nullptr) over_since_[page.holder] = now;
        if (asked > page.acquired) {
            EXPECT_GT(by.token(), page.token) << keys_[key];
        }
        page.holder = &by;
        page.acquired = now;
        page.token = std::max(page.token, by.token());
        ++page.grants;
    }

    /// Call it before it is released.
    void released(std::size_t key, const lease& by) {
        auto& page = pages_[key];
        const std::lock_guard lock(guard_);
        const auto end = std::min(clock::now(), by.valid_until());
        page.released = std::max(page.released, end);
        if (page.holder == &by) page.holder = nullptr;
        const auto followed = over_since_.extract(&by);
        if (followed) {
            EXPECT_LE(by.valid_until(), followed.mapped())
                << keys_[key] << " went on beside another";
        }
    }

    void expect_grants_of_each() const {
        for (std::size_t n = 0; n < keys_.size(); ++n) EXPECT_GT(pages_[n].grants, 5) << keys_[n];
    }

  private:
    struct entry {
        const lease* holder = nullptr;
        clock::time_point acquired{};
        clock::time_point released{};
        std::uint64_t token = 0;
        int grants = 0;
    };
    std::mutex guard_;
    std::vector<std::string> keys_;
    std::vector<entry> pages_;
    std::map<const lease*, clock::time_point> over_since_;  // others have it since
};

/// Clients that take the keys of a ledger in turn, for as long as it lives.
class workers {
  public:
    workers(const options& settings, ledger& in, std::size_t count, milliseconds hold = 5ms)
        : hold_(hold), grants_(in.keys().size()) {
        for (std::size_t n = 0; n < count; ++n) {
            threads_.emplace_back([this, &in, settings, n](std::stop_token stop) {
                client own(settings);
                for (auto key = n; !stop.stop_requested(); ++key) {
                    work(own, in, key % in.keys().size(), stop);
                }
            });
        }
    }

    /// How often one of them was given the key.
    [[nodiscard]] int grants_of(std::size_t key) const { return grants_[key]; }

  private:
    void work(client& by, ledger& in, std::size_t key, const std::stop_token& stop) {
        const auto asked = clock::now();
        try {
            const auto got = by.try_acquire_for(in.keys()[key], 300ms, with_ttl(2s));
            if (got.has_value()) {
                in.acquired(key, *got, asked);
                ++grants_[key];
            }
            const auto end = clock::now() + hold_;
            do std::this_thread::sleep_for(5ms);
            while (got.has_value() && clock::now() < end && !got->lost() && !stop.stop_requested());
            if (got.has_value()) in.released(key, *got);
        } catch (const std::system_error&) {
            std::this_thread::sleep_for(20ms);  // an outage
        }
    }

    const milliseconds hold_;
    std::vector<std::atomic<int>> grants_;
    std::vector<std::jthread> threads_;  // last: uses all of the above
};

inline void vouch_for_slots(const options& settings) {
    client operators(settings);
    for (const auto left : enlist(operators, true)) ASSERT_EQ(left, 0ms);
}

}  // namespace holdfast::test
