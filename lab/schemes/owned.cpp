// UNSAFE, on purpose. The middle rungs: the value says whose lock it is, on one server.

#include <sys/random.h>

#include <array>
#include <atomic>
#include <future>
#include <map>
#include <thread>

#include "lab/connection.hpp"
#include "lab/scheme.hpp"

namespace holdfast::lab {

std::string unique_value() {
    constexpr std::string_view digits = "0123456789abcdef";
    std::array<unsigned char, 16> random{};
    if (::getrandom(random.data(), random.size(), 0) != std::ssize(random)) {
        throw std::runtime_error("getrandom failed");
    }
    std::string text;
    for (const unsigned char byte : random) {
        text.append(1, digits[byte >> 4U]).append(1, digits[byte & 15U]);
    }
    return text;
}

namespace unsafe {
namespace {

class owned_lock : public scheme {
  public:
    explicit owned_lock(const ports& servers) : server_(servers.front()) {}
    void connect() override { server_.open(); }

    std::optional<grant> acquire(const std::string& key, milliseconds ttl) override {
        if (!server_.ok({"SET", key, value_, "NX", "PX", std::to_string(ttl.count())})) {
            return std::nullopt;
        }
        return grant{};
    }

  protected:
    connection& server() { return server_; }
    [[nodiscard]] const std::string& value() const { return value_; }

  private:
    connection server_;
    const std::string value_ = unique_value();
};

class get_delete_lock final : public owned_lock {
  public:
    using owned_lock::owned_lock;
    void release(const std::string& key) override {
        if (server().command({"GET", key}).text == value()) server().command({"DEL", key});
    }
};

class lua_delete_lock : public owned_lock {
  public:
    using owned_lock::owned_lock;
    void release(const std::string& key) override {
        server().command({"EVAL", compare_and_delete, "1", key, value()});
    }
};

/// Renews as the articles do: at once, then after sleeping for a whole ttl, by which time it is
/// too late or nearly so; four times at most; and one flag for all locks of the object.
class renewed_lock final : public lua_delete_lock {
  public:
    explicit renewed_lock(const ports& servers)
        : lua_delete_lock(servers), port_(servers.front()) {}

    std::optional<grant> acquire(const std::string& key, milliseconds ttl) override {
        int& count = entered()[key];
        if (count == 0 && !lua_delete_lock::acquire(key, ttl)) return std::nullopt;
        if (++count == 1) start_renewing(key, ttl);
        return grant{};
    }

    void release(const std::string& key) override {
        int& count = entered()[key];
        if (count == 0 || --count > 0) return;
        renewing_ = false;
        lua_delete_lock::release(key);
    }

  private:
    static constexpr int most_renewals = 4;

    static std::map<std::string, int>& entered() {
        thread_local std::map<std::string, int> counts;
        return counts;
    }

    // Never joined, like a pool's thread: the process ends first.
    void start_renewing(const std::string& key, milliseconds ttl) {
        renewing_ = true;
        std::promise<void> first;  // a renewal on its way would blur what is done to the lock next
        auto renewed_once = first.get_future();
        std::thread([this, key, ttl, first = std::move(first)]() mutable {
            constexpr auto script =
                "if redis.call('get',KEYS[1]) == ARGV[1] then "
                "return redis.call('pexpire',KEYS[1],ARGV[2]) else return 0 end";
            connection server(port_);
            for (int n = 0; n < most_renewals && renewing_; ++n) {
                try {
                    server.command(
                        {"EVAL", script, "1", key, value(), std::to_string(ttl.count())});
                } catch (const std::exception&) {  // logged there, and gone on
                }
                if (n == 0) first.set_value();
                std::this_thread::sleep_for(ttl);
            }
        }).detach();
        renewed_once.wait();
    }

    std::uint16_t port_;
    std::atomic<bool> renewing_ = false;
};

}  // namespace

std::unique_ptr<scheme> get_then_delete(const ports& servers) {
    return std::make_unique<get_delete_lock>(servers);
}
std::unique_ptr<scheme> delete_in_lua(const ports& servers) {
    return std::make_unique<lua_delete_lock>(servers);
}
std::unique_ptr<scheme> renewed(const ports& servers) {
    return std::make_unique<renewed_lock>(servers);
}

}  // namespace unsafe
}  // namespace holdfast::lab
