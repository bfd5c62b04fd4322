// The last rungs: the library itself, through its public headers.

#include "holdfast/holdfast.hpp"

#include "lab/scheme.hpp"

namespace holdfast::lab {
namespace {

options settings_for(const ports& servers, std::optional<bool> guard) {
    options settings;
    for (const std::uint16_t port : servers) {
        settings.urls.push_back("redis://127.0.0.1:" + std::to_string(port));
    }
    settings.restart_guard = guard;
    settings.max_ttl = max_ttl;
    return settings;
}

options settings_behind(const ports& sentinels, const std::string& query) {
    options settings;
    std::string url = "redis+sentinel://";
    for (const std::uint16_t port : sentinels) url += "127.0.0.1:" + std::to_string(port) + ",";
    url.back() = '/';
    settings.urls = {url + master_name + query};
    settings.max_ttl = max_ttl;
    return settings;
}

class holdfast_lock final : public scheme {
  public:
    explicit holdfast_lock(options settings) : client_(std::move(settings)) {}

    void connect() override { client_.connect(); }

    std::optional<grant> acquire(const std::string& key, milliseconds ttl) override {
        acquire_options how;
        how.ttl = ttl;
        auto attempt = mutex(client_, key, how).try_acquire();
        if (!attempt) return std::nullopt;
        lease_ = std::move(*attempt);
        return grant{lease_->token()};
    }

    /// Who has no lease has nothing to release; unlock() by a stranger is refused in the process.
    void release(const std::string& key) override {
        if (lease_) {
            lease_->release();
        } else {
            std::error_code refused;
            mutex(client_, key).unlock(refused);
        }
        lease_.reset();
    }

    bool believes() override { return lease_ && !lease_->lost(); }

  private:
    client client_;
    std::optional<lease> lease_;
};

}  // namespace

std::unique_ptr<scheme> holdfast_plain(const ports& servers) {
    return std::make_unique<holdfast_lock>(settings_for(servers, std::nullopt));
}

std::unique_ptr<scheme> holdfast_guarded(const ports& servers) {
    return std::make_unique<holdfast_lock>(settings_for(servers, true));
}

std::unique_ptr<scheme> holdfast_watched(const ports& sentinels) {
    return std::make_unique<holdfast_lock>(settings_behind(sentinels, ""));
}

std::unique_ptr<scheme> holdfast_unacknowledged(const ports& sentinels) {
    return std::make_unique<holdfast_lock>(settings_behind(sentinels, "?replica_acks=none"));
}

}  // namespace holdfast::lab
