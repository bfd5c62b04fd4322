#include "support/acknowledgement.hpp"

#include <stdexcept>

#include "support/eventually.hpp"
#include "support/raw_client.hpp"

namespace holdfast::test {
namespace {

constexpr std::chrono::seconds patience{20};

}  // namespace

void await_acknowledgement(const redis_server& by, std::size_t replicas,
                           const std::string& password) {
    auto asks = raw_client::connect_tcp(by.port());
    if (!password.empty()) (void)asks.command({"AUTH", password});
    const bool all = eventually(patience, [&] {
        (void)asks.command({"SET", "holdfast:test:acknowledged", "1", "PX", "1000"});
        const auto count = asks.command({"WAIT", std::to_string(replicas), "100"}).integer;
        return count >= static_cast<std::int64_t>(replicas);
    });
    if (!all) throw std::runtime_error("not all replicas acknowledge:\n" + by.log());
}

}  // namespace holdfast::test
