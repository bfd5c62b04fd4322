#include "runtime/operations/cleanup.hpp"

#include <utility>

namespace holdfast::runtime {

void cleanup::start(engine& through, core::node_index where, release_retries::release what,
                    core::time_point now) {
    through.send(where, new cleanup(through, std::move(what)), where.value, now);
    through.driving().attend_by(through.overdue_at());
}

cleanup::cleanup(engine& through, release_retries::release what)
    : engine_(through), release_(std::move(what)) {}

// By text: nobody may be there to read that the server does not know the script.
void cleanup::encode(tag, bool, std::string& out) {
    release_.what->kind->release(out, true,
                                 release_.what->claim_by(release_.owner, release_.entry));
}

void cleanup::answered(tag asked, std::string_view reply) {
    const auto node = node_of(asked);
    const auto& [what, owner, until, entry] = release_;
    const auto answer = what->kind->read_release(resp::view(reply));
    if (const auto* why = std::get_if<net::failure>(&answer)) {
        return engine_.owed().refused(node, what, owner, until, *why, entry);
    }
    engine_.owed().settled(node, owner);
    engine_.changed_here(what->keys.lock);
    if (std::get<kinds::release_found>(answer) == kinds::release_found::released) {
        for (std::size_t n = 0; n < what->keys.locks(); ++n) {
            engine_.queues().notified(what->keys.lock_at(n), node, engine_.now());
        }
    }
}

void cleanup::failed(tag asked, const net::failure&) noexcept {
    engine_.owed().owe(node_of(asked), release_.what, release_.owner, release_.until,
                       release_.entry);
}

}  // namespace holdfast::runtime
