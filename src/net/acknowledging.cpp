#include "net/acknowledging.hpp"

#include <algorithm>
#include <utility>

#include "core/tuning.hpp"

namespace holdfast::net {

std::optional<std::size_t> acks_needed(const std::optional<replicas>& wanted, std::size_t members) {
    const auto how = wanted.value_or(members > 0 ? replicas::majority() : replicas::none());
    if (how.needs_group() && members == 0) return std::nullopt;
    switch (how.how()) {
        case replicas::kind::majority: return members / 2;
        case replicas::kind::all: return members - 1;
        case replicas::kind::exactly: return how.count();
        case replicas::kind::none: break;
    }
    return 0;
}

failure unknown_group() noexcept {
    auto why = no_answer(
        "replica_acks asks for a part of its replication group, whose size is not known: allow "
        "SENTINEL MASTER at the Sentinels, or CLUSTER SHARDS in a Cluster, or give a number, as "
        "replica_acks=1");
    why.code = errc::invalid_option;
    why.hopeless = true;
    return why;
}

/// What it confirms was received before its write is sent: it takes no more once it exists.
class acknowledging::round final : public exchange {
  public:
    round(acknowledging& of, acknowledgement::terms under) : of_(of), terms_(std::move(under)) {}

    // What all of them need: most of the replicas, and of the smallest group.
    void cover(std::vector<waiting> whom) {
        covered_ = std::move(whom);
        for (const auto& each : covered_) {
            if (!each.group) continue;
            const auto members = each.group->members;
            plain_ = false;
            terms_.needed = std::max(terms_.needed, each.group->acks);
            if (terms_.members == 0 || members < terms_.members) terms_.members = members;
        }
        if (plain_) take_over_terms();
    }

  private:
    void encode(tag request, bool, std::string& out) override HOLDFAST_LOCKED {
        acknowledgement::append(out, acknowledgement::all[request], terms_);
    }

    [[nodiscard]] bool asks_by_permission(tag request) const override HOLDFAST_LOCKED {
        return terms_.at.asking &&
               acknowledgement::all[request] == acknowledgement::question::write;
    }

    void answered(tag request, std::string_view reply) override HOLDFAST_LOCKED {
        const auto what = acknowledgement::all[request];
        if (over_) return;
        heard_.hear(what, resp::view(reply));
        if (what != acknowledgement::all.back()) return;
        if (heard_.redirected() && of_.write_elsewhere(covered_)) return end();
        of_.redirected_ = 0;
        if (plain_) take_over_terms();
        const auto life = of_.listener_.life();
        const auto why = heard_.why_not(terms_, life, "granted");
        const bool another = heard_.another_life(life);
        const bool more = more_strangers();
        if (why && more && !another) return ask_again();
        if (why && !another && !plain_) {
            conclude_each(life);
        } else {
            conclude(why);
        }
        if (another) return of_.listener_.on_another_life(*why);
        if (why) of_.listener_.on_unacknowledged();
    }

    void failed(tag, const failure& why) noexcept override HOLDFAST_LOCKED {
        if (!over_) conclude(why);
    }

    // The group may have grown since it was begun.
    void take_over_terms() {
        terms_.needed = of_.terms_.needed;
        terms_.members = of_.terms_.members;
    }

    bool more_strangers() {
        auto& known = of_.terms_.strangers;
        const auto waited_for = std::exchange(known, heard_.strangers(terms_));
        return known > waited_for;
    }

    // The answers of strangers came first: the next round waits for so many more.
    void ask_again() HOLDFAST_LOCKED {
        of_.waiting_.insert(of_.waiting_.end(), covered_.begin(), covered_.end());
        covered_.clear();
        end();
    }

    void end() noexcept HOLDFAST_LOCKED {
        over_ = true;
        if (of_.under_way_ == this) of_.under_way_ = nullptr;
    }

    // What is too few for one may be enough for another.
    void conclude_each(const core::server_facts& life) noexcept HOLDFAST_LOCKED {
        end();
        for (const auto& each : std::exchange(covered_, {})) {
            const auto why = why_not(life, *each.group);
            if (why) {
                each.who->failed(each.request, *why);
            } else {
                each.who->acknowledged(each.request);
            }
        }
    }

    [[nodiscard]] std::optional<failure> why_not(const core::server_facts& life,
                                                 const core::replication& group) const noexcept {
        try {
            return heard_.why_not({.needed = group.acks, .members = group.members}, life,
                                  "granted");
        } catch (const std::bad_alloc&) {
            return out_of_memory();
        }
    }

    // Whoever is told may ask for another one.
    void conclude(const std::optional<failure>& why) noexcept HOLDFAST_LOCKED {
        end();
        const auto all = std::exchange(covered_, {});
        if (why) return fail_all(all, *why);
        for (const auto& each : all) each.who->acknowledged(each.request);
    }

    acknowledging& of_;
    acknowledgement::terms terms_;
    std::vector<waiting> covered_;
    acknowledgement heard_;
    bool plain_ = true;  // of one server, whose group is the same for all
    bool over_ = false;
};

void acknowledging::open(connection::settings how, clock::duration answer_within,
                         clock::time_point now) {
    how.what_for = purpose::acknowledge;
    how.vouched_life.clear();
    how.loads = {};
    how.channel.clear();
    terms_ = how.acks;
    answer_within_ = answer_within;
    under_way_ = nullptr;
    redirected_ = 0;
    connection_ = std::make_unique<connection>(network_, guard_, how,
                                               static_cast<connection::owner&>(*this), now);
}

acknowledging::remains acknowledging::close() noexcept {
    remains all{.last = connection_.get(), .left = std::exchange(waiting_, {})};
    if (!connection_) return all;
    connection_->keep(std::move(retired_));
    retired_ = std::move(connection_);
    return all;
}

void acknowledging::fail(remains of, const failure& why) noexcept {
    if (of.last != nullptr) of.last->fail_all(why);
    fail_all(of.left, why);
}

void acknowledging::abandon() noexcept {
    if (connection_) connection_->abandon();
}

void acknowledging::request(boost::intrusive_ptr<exchange> who, exchange::tag request,
                            std::optional<core::replication> group) {
    waiting_.push_back({std::move(who), request, group});
}

// Along with those who came meanwhile.
bool acknowledging::write_elsewhere(std::vector<waiting>& whom) noexcept {
    if (redirected_ >= core::tuning::clusters::most_hops) return false;
    try {
        waiting_.insert(waiting_.end(), whom.begin(), whom.end());
    } catch (const std::bad_alloc&) {
        return false;
    }
    whom.clear();
    ++redirected_;
    return true;
}

void acknowledging::flush() noexcept {
    if (!connection_) return;
    if (!waiting_.empty() && !under_way_ && connection_->ready()) {
        try {
            begin_round();
        } catch (...) {
            const auto left = std::exchange(waiting_, {});
            fail_all(left, current_failure());
        }
    }
    if (connection_) connection_->flush();
}

// A request that cannot be written fails the whole round: WAIT without its write says nothing.
void acknowledging::begin_round() {
    auto terms = terms_;
    terms.needed = terms.members = 0;
    terms.at = listener_.place_to_write(redirected_ > 0);
    const boost::intrusive_ptr<round> next(new round(*this, std::move(terms)));
    next->cover(std::exchange(waiting_, {}));
    under_way_ = next.get();
    const auto now = network_.now();
    for (exchange::tag what = 0; what < acknowledgement::all.size() && connection_; ++what) {
        connection_->send(next, what, now + answer_within_, now);
    }
}

void acknowledging::fail_all(const std::vector<waiting>& whom, const failure& why) noexcept {
    for (const auto& each : whom) each.who->failed(each.request, why);
}

void acknowledging::notice_hang_up(clock::time_point now) {
    if (ready()) connection_->notice_hang_up(now);
}

void acknowledging::expire(clock::time_point now) noexcept {
    retired_.reset();
    if (connection_) connection_->expire(now);
}

clock::time_point acknowledging::wake_at() const {
    return connection_ ? connection_->wake_at() : clock::time_point::max();
}

void acknowledging::on_ready(const greeting& said) {
    facts_ = said.facts();
    listener_.on_second_ready();
}

void acknowledging::on_down(const failure& why) noexcept { listener_.on_second_down(why); }

}  // namespace holdfast::net
