#include "holdfast/error.hpp"

namespace holdfast {
namespace {

class category final : public std::error_category {
  public:
    [[nodiscard]] const char* name() const noexcept override { return "holdfast"; }
    [[nodiscard]] std::string message(int code) const override {
        switch (static_cast<errc>(code)) {
            case errc::unreachable: return "server unreachable";
            case errc::authentication: return "authentication refused";
            case errc::permission: return "not permitted by the server's ACL";
            case errc::untrusted: return "server certificate refused";
            case errc::protocol: return "not a Redis server";
            case errc::wrong_type: return "the key does not hold a lock of this kind";
            case errc::unsafe_server: return "the server is not fit to keep locks";
            case errc::server_error: return "the server answered with an error";
            case errc::invalid_url: return "invalid URL";
            case errc::invalid_option: return "invalid option";
            case errc::invalid_key: return "invalid key";
            case errc::not_held: return "not held by the caller";
            case errc::lost: return "the lease is lost";
            case errc::cancelled: return "cancelled";
            case errc::closed: return "the client is closed";
            case errc::forked: return "the client belongs to the parent process";
            case errc::other_max_ttl:
                return "not the max_ttl that other clients agreed on; give every client the same, "
                       "by options::max_ttl or max_ttl in the URL";
            case errc::other_limit: return "not the number of permits that was agreed on";
        }
        return "unknown error " + std::to_string(code);
    }
};

}  // namespace

const std::error_category& error_category() noexcept {
    static const category instance;
    return instance;
}

std::error_code make_error_code(errc code) noexcept {
    return {static_cast<int>(code), error_category()};
}

}  // namespace holdfast
