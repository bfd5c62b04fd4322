#include "runtime/operations/proclaiming.hpp"

#include <utility>

namespace holdfast::runtime {

void proclaiming::start(engine& through, plan_pointer what, std::string owner,
                        core::fencing_token term, core::time_point now) {
    const auto voters = through.voters_of(what->keys.lock);
    if (voters.size() == 1) return;
    const boost::intrusive_ptr<proclaiming> self(
        new proclaiming(through, std::move(what), std::move(owner), term));
    for (const auto each : voters.voters()) {
        const auto node = voters.node_of(each);
        through.send(node, self, node.value, now);
    }
    through.submit();
}

proclaiming::proclaiming(engine& through, plan_pointer what, std::string owner,
                         core::fencing_token term)
    : engine_(through), what_(std::move(what)), owner_(std::move(owner)), term_(term) {}

void proclaiming::encode(tag, bool by_text, std::string& out) {
    what_->kind->commit(out, by_text, what_->claim_by(owner_), term_);
}

void proclaiming::answered(tag, std::string_view) { engine_.changed_here(what_->keys.lock); }

}  // namespace holdfast::runtime
