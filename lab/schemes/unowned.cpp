// UNSAFE, on purpose. The lower rungs: locks that do not say whose they are, and are deleted
// without a question.

#include "lab/connection.hpp"
#include "lab/scheme.hpp"

namespace holdfast::lab::unsafe {
namespace {

class unowned_lock : public scheme {
  public:
    explicit unowned_lock(const ports& servers) : server_(servers.front()) {}
    void connect() override { server_.open(); }
    void release(const std::string& key) override { server_.command({"DEL", key}); }

  protected:
    connection& server() { return server_; }

  private:
    connection server_;
};

class exists_set_lock final : public unowned_lock {
  public:
    using unowned_lock::unowned_lock;
    std::optional<grant> acquire(const std::string& key, milliseconds) override {
        if (server().integer({"EXISTS", key}) == 1) return std::nullopt;
        server().command({"SET", key, "1"});
        return grant{};
    }
};

class setnx_expire_lock final : public unowned_lock {
  public:
    using unowned_lock::unowned_lock;
    std::optional<grant> acquire(const std::string& key, milliseconds ttl) override {
        if (server().integer({"SETNX", key, "1"}) == 0) return std::nullopt;
        server().command({"EXPIRE", key, in_seconds(ttl)});
        return grant{};
    }
};

class getset_lock final : public unowned_lock {
  public:
    using unowned_lock::unowned_lock;
    std::optional<grant> acquire(const std::string& key, milliseconds ttl) override {
        const std::string expires = std::to_string(wall_clock() + ttl.count());
        if (server().integer({"SETNX", key, expires}) == 1) return grant{};
        const auto current = server().command({"GET", key});
        if (current.is_nil() || std::stoll(current.text) >= wall_clock()) return std::nullopt;
        const auto previous = server().command({"GETSET", key, expires});
        if (previous.is_nil() || previous.text != current.text) return std::nullopt;
        return grant{};
    }

  private:
    static std::int64_t wall_clock() {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        return std::chrono::duration_cast<milliseconds>(now).count();
    }
};

class lua_setnx_lock final : public unowned_lock {
  public:
    using unowned_lock::unowned_lock;
    std::optional<grant> acquire(const std::string& key, milliseconds ttl) override {
        constexpr auto script =
            "if redis.call('setnx',KEYS[1],ARGV[1]) == 1 then "
            "redis.call('expire',KEYS[1],ARGV[2]) return 1 else return 0 end";
        if (server().integer({"EVAL", script, "1", key, "1", in_seconds(ttl)}) == 0) {
            return std::nullopt;
        }
        return grant{};
    }
};

class set_nx_lock final : public unowned_lock {
  public:
    using unowned_lock::unowned_lock;
    std::optional<grant> acquire(const std::string& key, milliseconds ttl) override {
        if (!server().ok({"SET", key, "1", "EX", in_seconds(ttl), "NX"})) return std::nullopt;
        return grant{};
    }
};

}  // namespace

std::unique_ptr<scheme> exists_then_set(const ports& servers) {
    return std::make_unique<exists_set_lock>(servers);
}
std::unique_ptr<scheme> setnx_then_expire(const ports& servers) {
    return std::make_unique<setnx_expire_lock>(servers);
}
std::unique_ptr<scheme> expiry_in_value(const ports& servers) {
    return std::make_unique<getset_lock>(servers);
}
std::unique_ptr<scheme> setnx_expire_in_lua(const ports& servers) {
    return std::make_unique<lua_setnx_lock>(servers);
}
std::unique_ptr<scheme> set_then_delete(const ports& servers) {
    return std::make_unique<set_nx_lock>(servers);
}

}  // namespace holdfast::lab::unsafe
