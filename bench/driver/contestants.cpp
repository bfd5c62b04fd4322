#include "contestants.hpp"

#include <algorithm>
#include <stdexcept>
#include <thread>

#include "../floor.hpp"
#include "holdfast/holdfast.hpp"
#include "kinds.hpp"
#include "ring.hpp"

namespace holdfast::bench {
namespace {

class ours : public lockable {
  public:
    ours(client& through, const std::string& key, const acquire_options& how)
        : mutex_(through, key, how) {}
    void lock() override { mutex_.lock(); }
    void unlock() override { mutex_.unlock(); }

  private:
    mutex mutex_;
};

std::uint16_t port_of(const std::string& url) {
    return static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)));
}

/// The same two commands to all servers: written to each before the first answer is read.
class hiredis : public lockable {
  public:
    hiredis(const std::vector<std::string>& urls, std::string key) : key_(std::move(key)) {
        for (const auto& url : urls) {
            servers_.push_back(std::make_unique<floor>("127.0.0.1", port_of(url)));
        }
    }
    void lock() override {
        for (auto& server : servers_) server->ask_lock(key_);
        for (auto& server : servers_) server->read_answer();
    }
    void unlock() override {
        for (auto& server : servers_) server->ask_unlock(key_);
        for (auto& server : servers_) server->read_answer();
    }

  private:
    std::vector<std::unique_ptr<floor>> servers_;
    std::string key_;
};

class sleeper : public lockable {
  public:
    void begin_round(std::chrono::steady_clock::time_point end) override { end_ = end; }
    void lock() override { std::this_thread::sleep_until(end_); }
    void unlock() override {}

  private:
    std::chrono::steady_clock::time_point end_;
};

/// Whether this version of the library has it.
template <typename Options>
constexpr bool knows_fair = requires(Options how) {
    how.fair;
};

template <typename Options>
void make_fair(Options& how) {
    if constexpr (knows_fair<Options>) how.fair = true;
}

acquire_options how_to_acquire(const std::string& variant) {
    acquire_options how;
    how.fencing = !variant.starts_with("plain");
    how.await_release = !variant.ends_with("unawaited");
    if (variant == "fair") make_fair(how);
    return how;
}

lock_maker open_ring(const std::string& variant, const std::string& url) {
    const auto colon = variant.find(':');
    if (colon == std::string::npos) return {};
    const auto size = std::stoul(variant.substr(colon + 1));
    const bool awaited = variant.substr(0, colon) == "ring";
    return [port = port_of(url), size, awaited](const std::string& key) {
        return std::make_unique<ring_member>(port, key, size, awaited);
    };
}

lock_maker open_floor(const std::vector<std::string>& urls) {
    return [urls](const std::string& key) { return std::make_unique<hiredis>(urls, key); };
}

lock_maker open_ours(const std::string& variant, const std::vector<std::string>& urls) {
    options settings;
    settings.urls = urls;
    settings.spin = variant != "no-spin";
    auto through = std::make_shared<client>(settings);
    return [through, how = how_to_acquire(variant)](const std::string& key) {
        return std::make_unique<ours>(*through, key, how);
    };
}

}  // namespace

std::vector<std::string> variants() {
    std::vector<std::string> all{"holdfast", "plain", "unawaited", "plain-unawaited",
                                 "no-spin",  "floor", "ring",      "ring-unawaited",
                                 "asleep"};
    if (knows_fair<acquire_options>) all.emplace_back("fair");
    const auto others = kinds();
    all.insert(all.end(), others.begin(), others.end());
    return all;
}

lock_maker open(const std::string& variant, const std::vector<std::string>& urls) {
    const auto known = variants();
    if (std::ranges::find(known, variant.substr(0, variant.find(':'))) == known.end()) return {};
    if (variant.starts_with("ring")) return open_ring(variant, urls.front());
    if (variant == "asleep") return [](const auto&) { return std::make_unique<sleeper>(); };
    if (variant == "floor") return open_floor(urls);
    if (auto kind = open_kind(variant, urls)) return kind;
    return open_ours(variant, urls);
}

}  // namespace holdfast::bench
