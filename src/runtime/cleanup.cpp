#include "runtime/cleanup.hpp"

#include <utility>

namespace holdfast::runtime {

void cleanup::start(engine& through, core::node_set where, plan_pointer what, std::string owner,
                    core::time_point until, core::time_point now) {
    const boost::intrusive_ptr<net::exchange> self(
        new cleanup(through, std::move(what), std::move(owner), until));
    where.for_each([&](core::node_index node) { through.send(node, self, node.value, now); });
    through.driving().attend_by(through.overdue_at());
}

cleanup::cleanup(engine& through, plan_pointer what, std::string owner, core::time_point until)
    : engine_(through), what_(std::move(what)), owner_(std::move(owner)), until_(until) {}

// By text: nobody may be there to read that the server does not know the script.
void cleanup::encode(tag, bool, std::string& out) { wire::release(out, true, what_->keys, owner_); }

void cleanup::answered(tag request, std::string_view) {
    engine_.settle_release({static_cast<std::uint8_t>(request)}, owner_);
}

void cleanup::failed(tag request, const net::failure&) {
    engine_.owe_release({static_cast<std::uint8_t>(request)}, what_, owner_, until_);
}

}  // namespace holdfast::runtime
