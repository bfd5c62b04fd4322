#include "contestants.hpp"

#include <stdexcept>

#include "../floor.hpp"
#include "holdfast/holdfast.hpp"

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

/// The same two commands to all servers: written to each before the first answer is read.
class hiredis : public lockable {
  public:
    hiredis(const std::vector<std::string>& urls, std::string key) : key_(std::move(key)) {
        for (const auto& url : urls) {
            const auto port = std::stoul(url.substr(url.rfind(':') + 1));
            servers_.push_back(
                std::make_unique<floor>("127.0.0.1", static_cast<std::uint16_t>(port)));
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

}  // namespace

lock_maker open(const std::string& variant, const std::vector<std::string>& urls) {
    if (variant == "floor") {
        return [urls](const std::string& key) { return std::make_unique<hiredis>(urls, key); };
    }
    acquire_options how;
    how.fencing = !variant.starts_with("plain");
    how.await_release = !variant.ends_with("unawaited");
    const bool known = variant == "holdfast" || variant == "plain" || variant == "unawaited" ||
                       variant == "plain-unawaited";
    if (!known) return {};
    auto through = std::make_shared<client>(urls);
    return [through, how](const std::string& key) {
        return std::make_unique<ours>(*through, key, how);
    };
}

}  // namespace holdfast::bench
