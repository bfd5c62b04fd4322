// sources: src/kinds/*.cpp src/net/acknowledgement.cpp src/net/handshake.cpp
// sources: src/net/enlisting.cpp src/net/explain.cpp src/net/supported.cpp src/core/judge.cpp
// sources: src/core/clock_watch.cpp src/core/hash_slot.cpp src/net/redirect.cpp src/resp/*.cpp
/// Everything that reads a server's answers, on whatever a server may say: the handshake and the
/// decoders of the lock commands. They must not crash, and must not take nonsense for a grant.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kinds/calls.hpp"
#include "kinds/exclusive.hpp"
#include "kinds/table.hpp"
#include "net/enlisting.hpp"
#include "net/explain.hpp"
#include "net/handshake.hpp"
#include "resp/framer.hpp"
#include "resp/view.hpp"
#include "scripts/embedded.hpp"

// The texts are embedded by the build; their content does not matter to what reads answers.
namespace holdfast::scripts {
const script enlist{"enlist", "0", "enlist"};
}  // namespace holdfast::scripts
namespace holdfast::scripts::exclusive {
const script acquire{"acquire", "0", "acquire"};
const script queue_acquire{"queue_acquire", "0", "queue_acquire"};
const script commit{"commit", "0", "commit"};
const script extend{"extend", "0", "extend"};
const script release{"release", "0", "release"};
const script queue_release{"queue_release", "0", "queue_release"};
const script force{"force", "0", "force"};
const script linger{"linger", "0", "linger"};
}  // namespace holdfast::scripts::exclusive
namespace holdfast::scripts::shared {
const script acquire{"acquire", "0", "acquire"};
const script queue_acquire{"queue_acquire", "0", "queue_acquire"};
const script commit{"commit", "0", "commit"};
const script extend{"extend", "0", "extend"};
const script release{"release", "0", "release"};
const script linger{"linger", "0", "linger"};
}  // namespace holdfast::scripts::shared
namespace holdfast::scripts::election {
const script acquire{"acquire", "0", "acquire"};
const script queue_acquire{"queue_acquire", "0", "queue_acquire"};
const script commit{"commit", "0", "commit"};
const script release{"release", "0", "release"};
const script queue_release{"queue_release", "0", "queue_release"};
const script forget{"forget", "0", "forget"};
}  // namespace holdfast::scripts::election
namespace holdfast::scripts::latch {
const script look{"look", "0", "look"};
const script count_down{"count_down", "0", "count_down"};
}  // namespace holdfast::scripts::latch
namespace holdfast::scripts::several {
const script acquire{"acquire", "0", "acquire"};
const script queue_acquire{"queue_acquire", "0", "queue_acquire"};
const script commit{"commit", "0", "commit"};
const script extend{"extend", "0", "extend"};
const script release{"release", "0", "release"};
const script linger{"linger", "0", "linger"};
}  // namespace holdfast::scripts::several
namespace holdfast::scripts::semaphore {
const script acquire{"acquire", "0", "acquire"};
const script extend{"extend", "0", "extend"};
const script force{"force", "0", "force"};
const script release{"release", "0", "release"};
const script set_limit{"set_limit", "0", "set_limit"};
}  // namespace holdfast::scripts::semaphore

namespace {

using namespace holdfast;

void require(bool right) {
    if (!right) std::abort();
}

void read_everything(std::string_view frame) {
    const resp::view reply(frame);
    for (const auto* kind : kinds::all()) {
        for (const auto& vote : {kind->read_acquire(reply), kind->read_shortcut(reply)}) {
            if (!std::holds_alternative<kinds::granted>(vote)) continue;
            require(!reply.is_error() && !reply.is_null());
        }
        const auto owned = kind->read_ownership(reply);
        if (const auto* said = std::get_if<kinds::ownership>(&owned)) {
            if (*said == kinds::ownership::ours) require(reply.integer() == 1);
        }
        const auto released = kind->read_release(reply);
        if (const auto* said = std::get_if<kinds::release_found>(&released)) {
            if (*said == kinds::release_found::released) require(reply.integer() == 1);
            if (*said == kinds::release_found::passed_on) require(reply.integer() == 2);
        }
    }
    if (reply.is_text()) {
        if (const auto call = kinds::read_call(reply.text())) {
            require(call->owner.size() + call->lock.size() + 1 == reply.text().size());
        }
    }
    net::read_enlist(reply);
    if (reply.is_error()) require(!net::explain(reply).message.empty());
}

class conversation {
  public:
    conversation()
        : handshake_(
              net::introduction{.user = "user",
                                .password = "password",
                                .client_name = "name",
                                .database = 3,
                                .policy = guarded(),
                                .loads = kinds::exclusive().loads(kinds::topology::one_voter),
                                .channel = "holdfast:client:0"}) {
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
