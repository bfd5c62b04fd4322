#include "runtime/operations/slot_enlisting.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/tuning.hpp"
#include "runtime/cluster.hpp"
#include "runtime/operations/failures.hpp"

namespace holdfast::runtime {
namespace {

using slot_list = std::vector<std::uint16_t>;

/// Those of one write.
class slot_batch final : public net::exchange {
  public:
    slot_batch(engine& through, core::node_index server, net::enlisting how,
               const core::replication& group)
        : engine_(through), server_(server), how_(how), group_(group), waiter_(through.driving()) {}

    void run(base::client_lock& lock, std::span<const std::uint16_t> which) HOLDFAST_LOCKED {
        missing_ = which.size();
        for (const auto slot : which) engine_.send(server_, this, slot, engine_.now());
        engine_.submit();
        engine_.driving().wait(lock, waiter_);
    }

    [[nodiscard]] const std::optional<net::failure>& why_not() const { return why_not_; }
    [[nodiscard]] core::duration quarantine() const { return longest_; }

  private:
    /// Beside the number of a slot: the replicas know that the life is noted there.
    static constexpr tag acknowledged_note = core::slot_count;

    static std::uint16_t slot_in(tag request) {
        return static_cast<std::uint16_t>(request % core::slot_count);
    }

    void encode(tag request, bool by_text, std::string& out) override HOLDFAST_LOCKED {
        auto& node = engine_.node(server_);
        net::append_slot_enlist(out, by_text, net::slot_record_key(slot_in(request)), node.facts(),
                                how_, node.judge(), group_, request >= acknowledged_note);
    }

    void have_acknowledged(tag request) HOLDFAST_LOCKED {
        if (request >= acknowledged_note) return failed(request, net::no_record());
        engine_.node(server_).acknowledge(this, request, group_);
        engine_.submit();
    }

    void acknowledged(tag request) noexcept override HOLDFAST_LOCKED {
        engine_.send(server_, this, request | acknowledged_note, engine_.now());
        engine_.submit();
    }

    void answered(tag request, std::string_view reply) override HOLDFAST_LOCKED {
        const auto found = net::read_enlist(resp::view(reply));
        if (const auto* why = std::get_if<net::failure>(&found)) return failed(request, *why);
        const auto& record = std::get<core::enlistment>(found);
        if (record.noted_only) return have_acknowledged(request);
        if (!record.agreed || record.group != 0) {
            return failed(request, engine_.node(server_).disagreement(record, group_));
        }
        longest_ = std::max(longest_, record.quarantine);
        settle();
    }

    void failed(tag request, const net::failure& why) noexcept override HOLDFAST_LOCKED {
        if (!why_not_) {
            why_not_ = net::copy_of(why);
            try {
                why_not_->message.insert(0, "slot " + std::to_string(slot_in(request)) + ": ");
            } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): without its number
            }
        }
        settle();
    }

    void settle() noexcept HOLDFAST_LOCKED {
        if (--missing_ == 0) engine_.driving().finished(waiter_);
    }

    engine& engine_;
    core::node_index server_;
    net::enlisting how_;
    core::replication group_;
    std::size_t missing_ = 0;
    core::duration longest_{};
    std::optional<net::failure> why_not_;
    waiter waiter_;
};

slot_list slots_served_by(cluster& where, const net::node& server) HOLDFAST_LOCKED {
    slot_list all;
    for (std::uint16_t slot = 0; slot < core::slot_count; ++slot) {
        const auto owner = where.map().owner_of(slot);
        if (owner && &where.server(*owner) == &server) all.push_back(slot);
    }
    return all;
}

}  // namespace

core::duration enlist_slots(engine& through, base::client_lock& lock, core::node_index server,
                            net::enlisting how) {
    const auto all = slots_served_by(*through.cluster(), through.node(server));
    const auto group = through.cluster()->group_of(through.node(server));
    if (!group) raise(net::unknown_group());
    core::duration longest{};
    for (std::size_t done = 0; done < all.size();) {
        const auto count = std::min(core::tuning::clusters::slots_at_once, all.size() - done);
        const boost::intrusive_ptr<slot_batch> next(new slot_batch(through, server, how, *group));
        next->run(lock, std::span(all).subspan(done, count));
        if (next->why_not()) raise(*next->why_not());
        longest = std::max(longest, next->quarantine());
        done += count;
    }
    // A server does not tell a connection of what it changed itself.
    through.cluster()->forget_records(through.node(server));
    return longest;
}

}  // namespace holdfast::runtime
