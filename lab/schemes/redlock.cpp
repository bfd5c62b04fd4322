// UNSAFE, on purpose: Redlock in its five steps, one server after the other, with no memory of
// servers that restarted.

#include <deque>

#include "lab/connection.hpp"
#include "lab/scheme.hpp"

namespace holdfast::lab::unsafe {
namespace {

constexpr milliseconds node_timeout{50};  // far below any ttl

class redlock_lock final : public scheme {
  public:
    explicit redlock_lock(const ports& servers) {
        for (const std::uint16_t port : servers) servers_.emplace_back(port, node_timeout);
    }

    void connect() override {
        for (connection& server : servers_) (void)attempt([&] { return server.open(), true; });
    }

    std::optional<grant> acquire(const std::string& key, milliseconds ttl) override {
        const auto began = std::chrono::steady_clock::now();
        std::size_t granted = 0;
        for (connection& server : servers_) {
            if (attempt([&] {
                    return server.ok({"SET", key, value_, "NX", "PX", std::to_string(ttl.count())});
                })) {
                ++granted;
            }
        }
        const auto validity = ttl - (std::chrono::steady_clock::now() - began);
        if (granted >= servers_.size() / 2 + 1 && validity.count() > 0) return grant{};
        release(key);
        return std::nullopt;
    }

    /// On all of them: where the SET seemed to fail, its answer may have been lost.
    void release(const std::string& key) override {
        for (connection& server : servers_) {
            (void)attempt([&] {
                return server.integer({"EVAL", compare_and_delete, "1", key, value_}) == 1;
            });
        }
    }

  private:
    /// A server that does not answer is one that did not grant.
    template <typename Ask>
    static bool attempt(Ask ask) {
        try {
            return ask();
        } catch (const std::exception&) {
            return false;
        }
    }

    std::deque<connection> servers_;
    const std::string value_ = unique_value();
};

}  // namespace

std::unique_ptr<scheme> redlock(const ports& servers) {
    return std::make_unique<redlock_lock>(servers);
}

}  // namespace holdfast::lab::unsafe
