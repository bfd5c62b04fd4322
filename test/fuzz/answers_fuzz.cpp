// sources: src/runtime/wire.cpp src/net/handshake.cpp src/net/enlisting.cpp src/net/explain.cpp
// sources: src/net/supported.cpp src/core/judge.cpp src/core/clock_watch.cpp src/resp/*.cpp
/// Everything that reads a server's answers, on whatever a server may say: the handshake and the
/// decoders of the lock commands. They must not crash, and must not take nonsense for a grant.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "net/enlisting.hpp"
#include "net/explain.hpp"
#include "net/handshake.hpp"
#include "resp/framer.hpp"
#include "resp/view.hpp"
#include "runtime/wire.hpp"
#include "scripts/embedded.hpp"

// The texts are embedded by the build; their content does not matter to what reads answers.
namespace holdfast::scripts {
const script acquire{"acquire", "0", "acquire"};
const script commit{"commit", "0", "commit"};
const script extend{"extend", "0", "extend"};
const script release{"release", "0", "release"};
const script enlist{"enlist", "0", "enlist"};
const script force{"force", "0", "force"};
const script linger{"linger", "0", "linger"};
}  // namespace holdfast::scripts

namespace {

using namespace holdfast;

void require(bool right) {
    if (!right) std::abort();
}

void read_everything(std::string_view frame) {
    const resp::view reply(frame);
    const auto vote = runtime::wire::read_acquire(reply);
    if (std::holds_alternative<runtime::wire::granted>(vote)) {
        require(!reply.is_error() && !reply.is_null());
    }
    const auto owned = runtime::wire::read_ownership(reply);
    if (const auto* said = std::get_if<runtime::wire::ownership>(&owned)) {
        if (*said == runtime::wire::ownership::ours) require(reply.integer() == 1);
    }
    net::read_enlist(reply);
    if (reply.is_error()) require(!net::explain(reply).message.empty());
}

class conversation {
  public:
    conversation() : handshake_({"user", "password", "name", 3, guarded()}) {
        handshake_.start(out_);
    }

    void hear(std::string_view frame) {
        handshake_.step(resp::view(frame), out_);
        (void)handshake_.result().facts();
    }

  private:
    static core::judge_policy guarded() {
        core::judge_policy policy;
        policy.restart_guard = true;
        policy.max_ttl = std::chrono::seconds(60);
        return policy;
    }

    std::string out_;
    net::handshake handshake_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view bytes(reinterpret_cast<const char*>(data), size);
    conversation opening;
    resp::framer framer;
    while (!bytes.empty() && framer.scan(bytes) == resp::framing::complete) {
        const auto frame = bytes.substr(0, framer.size());
        read_everything(frame);
        opening.hear(frame);
        bytes.remove_prefix(frame.size());
        framer.reset();
    }
    return 0;
}
