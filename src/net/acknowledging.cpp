#include "net/acknowledging.hpp"

#include <utility>

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

/// What it confirms was received before its write is sent: it takes no more once it exists.
class acknowledging::round final : public exchange {
  public:
    explicit round(acknowledging& of) : of_(of) {}

    void cover(std::vector<waiting> whom) { covered_ = std::move(whom); }

  private:
    void encode(tag request, bool, std::string& out) override HOLDFAST_LOCKED {
        acknowledgement::append(out, acknowledgement::all[request], of_.terms_);
    }

    void answered(tag request, std::string_view reply) override HOLDFAST_LOCKED {
        const auto what = acknowledgement::all[request];
        if (over_) return;
        heard_.hear(what, resp::view(reply));
        if (what != acknowledgement::all.back()) return;
        const auto why = heard_.why_not(of_.terms_, of_.listener_.life(), "granted");
        const bool another = heard_.another_life(of_.listener_.life());
        conclude(why);
        if (another) of_.listener_.on_another_life(*why);
    }

    void failed(tag, const failure& why) noexcept override HOLDFAST_LOCKED {
        if (!over_) conclude(why);
    }

    // Whoever is told may ask for another one.
    void conclude(const std::optional<failure>& why) noexcept HOLDFAST_LOCKED {
        over_ = true;
        if (of_.under_way_ == this) of_.under_way_ = nullptr;
        const auto all = std::exchange(covered_, {});
        if (why) return fail_all(all, *why);
        for (const auto& each : all) each.who->acknowledged(each.request);
    }

    acknowledging& of_;
    std::vector<waiting> covered_;
    acknowledgement heard_;
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

void acknowledging::request(boost::intrusive_ptr<exchange> who, exchange::tag request) {
    waiting_.push_back({std::move(who), request});
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
    const boost::intrusive_ptr<round> next(new round(*this));
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
