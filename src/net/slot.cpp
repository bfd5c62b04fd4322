#include "net/slot.hpp"

#include <algorithm>
#include <utility>

#include "core/tuning.hpp"
#include "holdfast/duration.hpp"
#include "net/enlisting.hpp"
#include "net/explain.hpp"
#include "resp/encoder.hpp"

namespace holdfast::net {

using namespace core::tuning::clusters;

namespace {

failure being_moved() {
    return {.message = "its slot is being moved to another server", .moving = moving_pause};
}

failure sent_around() { return no_answer("is sent from one server of the Cluster to the next"); }

failure cluster_down(std::string_view reply) {
    return no_answer("the Cluster does not serve its slot: " + resp::to_string(resp::view(reply)));
}

failure changed_meanwhile() {
    return {.message = "the record of its slot changed while it was asked", .emptied = true};
}

}  // namespace

/// A request under way, in the name of who asked.
class slot::routed final : public exchange {
  public:
    routed(slot& of, waiting asked, node& at)
        : slot_(of), asked_(std::move(asked)), at_(&at), generation_(of.generation_) {}

    void encode(tag request, bool by_text, std::string& out) override HOLDFAST_LOCKED {
        sent_ = true;
        if (alone_ && asked_.who->encode_alone(request, by_text, out)) return;
        asked_.who->encode(request, by_text, out);
    }

    [[nodiscard]] bool wanted(tag request) const override HOLDFAST_LOCKED {
        return !outdated() && asked_.who->wanted(request);
    }
    [[nodiscard]] bool asks_for_notification(tag request) const override HOLDFAST_LOCKED {
        return asked_.who->asks_for_notification(request);
    }
    [[nodiscard]] bool asks_by_permission(tag) const override HOLDFAST_LOCKED { return asking_; }
    [[nodiscard]] bool asks_for_vote(tag request) const override HOLDFAST_LOCKED {
        return asked_.who->asks_for_vote(request);
    }
    [[nodiscard]] bool asks_for_token(tag request) const override HOLDFAST_LOCKED {
        return asked_.who->asks_for_token(request);
    }

    void answered(tag request, std::string_view reply) override HOLDFAST_LOCKED {
        const auto where = read_redirection(reply);
        const bool vote = asks_for_vote(request);
        switch (where.what) {
            case redirection::kind::moved:
                slot_.directory_.moved(slot_, where, *at_);
                return again();
            case redirection::kind::ask:
                if (vote) return fail(being_moved());
                return repeat(slot_.directory_.target_of(slot_, where, *at_), alone_, true);
            case redirection::kind::try_again:
                if (vote || alone_ || !can_be_asked_alone()) return fail(being_moved());
                return repeat(*slot_.server_, true, false);
            case redirection::kind::cluster_down:
                slot_.directory_.unsettled();
                return fail(cluster_down(reply));
            case redirection::kind::none: break;
        }
        if (outdated() && reply.starts_with("-NOSCRIPT")) return again();
        if (outdated() && vote) return fail(changed_meanwhile());
        const answering by(slot_, *at_);
        asked_.who->answered(request, reply);
    }

    void failed(tag, const failure& why) noexcept override HOLDFAST_LOCKED {
        // It was never sent: the connection that the slot was enlisted on has gone before.
        if (!sent_ && outdated() && slot_.directory_.present() < asked_.deadline) return again();
        if (why.code == errc::unreachable || why.code == errc::unsafe_server) {
            slot_.directory_.unsettled();
        }
        fail(why);
    }

  private:
    /// What is acknowledged meanwhile is acknowledged by those who replicate this server.
    class answering {
      public:
        answering(slot& of, node& by) : slot_(of), before_(std::exchange(of.answering_, &by)) {}
        ~answering() { slot_.answering_ = before_; }
        answering(const answering&) = delete;
        answering& operator=(const answering&) = delete;

      private:
        slot& slot_;
        node* before_;
    };

    [[nodiscard]] bool outdated() const HOLDFAST_LOCKED {
        return generation_ != slot_.generation_ && !asking_;
    }

    [[nodiscard]] bool can_be_asked_alone() HOLDFAST_LOCKED {
        std::string nothing;
        return asked_.who->encode_alone(asked_.request, false, nothing);
    }

    void fail(const failure& why) noexcept HOLDFAST_LOCKED {
        asked_.who->failed(asked_.request, why);
    }

    void again() noexcept HOLDFAST_LOCKED {
        const boost::intrusive_ptr<routed> alive(this);
        if (++asked_.hops > most_hops) return fail(sent_around());
        auto asked = asked_;
        try {
            slot_.accept(asked, slot_.directory_.present());
        } catch (...) {
            return fail(current_failure());
        }
        slot_.directory_.on_appended();
    }

    void repeat(node& where, bool alone, bool asking) HOLDFAST_LOCKED {
        if (asked_.hops >= most_hops) return fail(sent_around());
        const boost::intrusive_ptr<routed> next(new routed(slot_, asked_, where));
        ++next->asked_.hops;
        next->alone_ = alone;
        next->asking_ = asking;
        where.send(next, asked_.request, asked_.deadline, slot_.directory_.present());
        slot_.directory_.on_appended();
    }

    slot& slot_;
    waiting asked_;
    node* at_;
    std::uint64_t generation_;
    bool sent_ = false;
    bool alone_ = false;   // with the lock key alone
    bool asking_ = false;  // behind ASKING
};

/// Asks for the record of the slot, and to be told when it changes. Where that only notes the life,
/// the replicas are asked, and then it is asked again, so that a quarantine begins.
class slot::enlisting_request final : public exchange {
  public:
    explicit enlisting_request(slot& of)
        : slot_(of), at_(of.server_), generation_(of.generation_) {}

    // A server that does not tell whose life it lives, which only those bear who have no guard, or
    // that is a replica, has nothing to compare.
    void encode(tag, bool by_text, std::string& out) override HOLDFAST_LOCKED {
        const auto& facts = at_->facts();
        if (facts.run_id.empty() || facts.is_replica) return resp::append_command(out, {"PING"});
        const auto how = slot_.judge_.guards() ? enlisting::guarded : enlisting::unguarded;
        append_slot_enlist(out, by_text, slot_.record_, facts, how, slot_.judge_, slot_.group_,
                           acknowledged_);
    }

    [[nodiscard]] bool wanted(tag) const override HOLDFAST_LOCKED { return !outdated(); }
    [[nodiscard]] bool asks_for_notification(tag) const override HOLDFAST_LOCKED { return true; }

    void answered(tag, std::string_view reply) override HOLDFAST_LOCKED {
        if (outdated()) return;
        const auto where = read_redirection(reply);
        if (where.what == redirection::kind::cluster_down) {
            slot_.directory_.unsettled();
            return slot_.on_not_enlisted(cluster_down(reply));
        }
        if (where.what != redirection::kind::none) return slot_.on_redirected(where, *at_);
        if (at_->facts().is_replica) {
            slot_.directory_.unsettled();
            return slot_.on_not_enlisted(
                {.code = errc::unsafe_server, .message = "is a replica now"});
        }
        const resp::view said(reply);
        if (said.kind() == resp::kind::simple_string) return slot_.on_nothing_to_enlist();
        auto found = read_enlist(said);
        auto* const record = std::get_if<core::enlistment>(&found);
        if (record != nullptr && slot_.adopt_group(*record)) return ask_again();
        if (record != nullptr && record->noted_only) {
            if (acknowledged_) return slot_.on_not_enlisted(no_record());
            return at_->acknowledge(this, 0, slot_.group_);
        }
        slot_.on_enlisted(std::move(found));
    }

    void acknowledged(tag) noexcept override HOLDFAST_LOCKED {
        acknowledged_ = true;
        if (!outdated()) ask_again();
    }

    void failed(tag, const failure& why) noexcept override HOLDFAST_LOCKED {
        if (outdated()) return;
        slot_.directory_.unsettled();
        slot_.on_not_enlisted(why);
    }

    void ask(clock::time_point now) noexcept HOLDFAST_LOCKED {
        at_->send(this, 0, now + slot_.settings_.first_contact, now);
    }

  private:
    [[nodiscard]] bool outdated() const HOLDFAST_LOCKED {
        return generation_ != slot_.generation_ || slot_.state_ != state::enlisting;
    }

    void ask_again() noexcept HOLDFAST_LOCKED {
        ask(slot_.directory_.present());
        slot_.directory_.on_appended();
    }

    slot& slot_;
    node* at_;
    std::uint64_t generation_;
    bool acknowledged_ = false;  // the replicas know that this life is noted
};

/// Asks to be called. Its answer comes before that of the enlisting which follows it.
class slot::subscription final : public exchange {
  public:
    explicit subscription(slot& of)
        : slot_(of), generation_(of.generation_), sharded_(of.sharded_) {}

    // With RESP2 the connection would be good for nothing else.
    void encode(tag, bool, std::string& out) override HOLDFAST_LOCKED {
        if (!answered_by_push({})) return resp::append_command(out, {"PING"});
        resp::append_command(out, {sharded_ ? "SSUBSCRIBE" : "SUBSCRIBE", slot_.channel()});
    }
    [[nodiscard]] bool answered_by_push(tag) const override HOLDFAST_LOCKED {
        return slot_.server_->said().protocol > 2;
    }
    [[nodiscard]] bool wanted(tag) const override HOLDFAST_LOCKED {
        return generation_ == slot_.generation_;
    }
    void answered(tag, std::string_view reply) override HOLDFAST_LOCKED {
        if (generation_ != slot_.generation_) return;
        slot_.subscribed_ = reply.starts_with('>');
        const bool unknown = reply.find("unknown command") != reply.npos;
        if (sharded_ && unknown && !slot_.subscribed_) slot_.do_without_shards();
    }
    void failed(tag, const failure&) noexcept override HOLDFAST_LOCKED {}

  private:
    slot& slot_;
    std::uint64_t generation_;
    bool sharded_;
};

/// What has to be acknowledged by those who replicate two servers.
class slot::joint final : public exchange {
  public:
    joint(boost::intrusive_ptr<exchange> who, tag request)
        : who_(std::move(who)), request_(request) {}

    void encode(tag, bool, std::string&) override HOLDFAST_LOCKED {}
    void answered(tag, std::string_view) override HOLDFAST_LOCKED {}
    void acknowledged(tag) noexcept override HOLDFAST_LOCKED {
        if (--missing_ == 0 && !failed_) who_->acknowledged(request_);
    }
    void failed(tag, const failure& why) noexcept override HOLDFAST_LOCKED {
        if (!std::exchange(failed_, true)) who_->failed(request_, why);
    }

  private:
    boost::intrusive_ptr<exchange> who_;
    tag request_;
    int missing_ = 2;
    bool failed_ = false;
};

slot::slot(std::uint16_t number, const settings& how, directory& among)
    : number_(number),
      record_(slot_record_key(number)),
      channel_(how.channel.empty() ? std::string()
                                   : how.channel + ":{" + core::slot_tag(number) + "}"),
      plain_channel_(how.channel.empty() ? std::string()
                                         : how.channel + ":" + core::slot_tag(number)),
      settings_(how),
      directory_(among),
      judge_(how.policy) {}

std::string slot::name() const {
    return server_ == nullptr ? "slot " + std::to_string(number_) : server_->name();
}

std::uint64_t slot::time_at(clock::time_point now) const {
    if (!enlisted_) return 0;
    const auto since = std::chrono::floor<std::chrono::microseconds>(now - enlisted_at_);
    return enlisted_->time + static_cast<std::uint64_t>(since.count());
}

std::optional<core::replication> slot::group_of_answer() const {
    if (answering_ == nullptr || answering_ == server_) return group_;
    const auto members = directory_.size_around(*answering_).at_most;
    const auto acks = acks_needed(settings_.acks, members);
    if (!acks) return std::nullopt;
    return core::replication{.members = members, .acks = *acks};
}

// More than the map names are those that it does not name, or that were taken away: to count them
// costs nothing but that their acknowledgement is missed. Fewer: the shard has grown.
bool slot::adopt_group(const core::enlistment& found) {
    const auto members = std::max(found.group, found.grown_from);
    if (members == 0) return false;
    if (members < named_) {
        group_.acks = core::acks_when_grown(group_, members);
        return false;
    }
    const auto acks = acks_needed(settings_.acks, members);
    if (!acks || members == group_.members) return false;
    group_ = {.members = members, .acks = *acks};
    return true;
}

failure slot::disagreement() const {
    if (enlisted_->group != 0) {
        return {errc::unsafe_server,
                "its clients agreed on a shard of " + std::to_string(enlisted_->group) +
                    " servers, and this one finds " + std::to_string(named_) +
                    "; if that is right, 'holdfast enlist --fresh' notes it",
                true};
    }
    return {errc::other_max_ttl,
            "the clients of its slot agreed on a max_ttl of " +
                format_duration(enlisted_->max_ttl) + ", and this one has " +
                format_duration(judge_.max_ttl()),
            true};
}

void slot::send(boost::intrusive_ptr<exchange> who, exchange::tag request,
                clock::time_point deadline, clock::time_point now) noexcept {
    waiting asked{std::move(who), request, deadline};
    try {
        accept(asked, now);
    } catch (...) {
        asked.who->failed(asked.request, current_failure());
    }
}

void slot::acknowledge(boost::intrusive_ptr<exchange> who, exchange::tag request) {
    const auto group = group_of_answer();
    if (!group) return who->failed(request, unknown_group());
    if (answering_ == nullptr || answering_ == server_) {
        return server_->acknowledge(std::move(who), request, *group);
    }
    const boost::intrusive_ptr<joint> both(new joint(std::move(who), request));
    answering_->acknowledge(both, 0, *group);
    server_->acknowledge(both, 1, group_);
}

// Whatever throws does so before the request is handed on.
void slot::accept(waiting& asked, clock::time_point now) {
    if (state_ == state::moving && now >= moving_until_) forget();
    if (state_ == state::ready) look_again_if_kept_out(asked, now);
    if (state_ == state::ready || state_ == state::moving) return transmit(asked, now);
    wait(asked);
    call(now);
}

void slot::wait(waiting& asked) {
    if (waiting_.empty()) directory_.on_waiting(*this);
    waiting_.push_back(std::move(asked));
}

// What keeps us out may have been mended: the right to enlist, or a max_ttl that others agreed on.
void slot::look_again_if_kept_out(const waiting& asked, clock::time_point now) {
    const bool kept = not_enlisted_ && asked.who->asks_for_token(asked.request);
    const bool differs = disagrees() && asked.who->asks_for_vote(asked.request);
    const bool lately = now - enlisted_at_ < core::tuning::servers::unfit_for;
    if ((kept || differs) && !lately) forget();
}

void slot::transmit(waiting& asked, clock::time_point now) {
    if (const auto why = why_no_vote(asked, now)) {
        return asked.who->failed(asked.request, *why);
    }
    const auto tag = asked.request;
    const auto deadline = asked.deadline;
    const boost::intrusive_ptr<routed> request(new routed(*this, asked, *server_));
    server_->send(request, tag, deadline, now);
}

std::optional<failure> slot::why_no_vote(const waiting& asked, clock::time_point now) const {
    if (!asked.who->asks_for_vote(asked.request)) return std::nullopt;
    if (state_ == state::moving) return being_moved();
    if (not_enlisted_ && asked.who->asks_for_token(asked.request)) return not_enlisted_;
    if (disagrees()) return disagreement();
    if (judge_.at(now) != core::judge::standing::quarantined) return std::nullopt;
    return failure{.code = errc::unsafe_server,
                   .message = "its slot is in quarantine; it may not vote yet",
                   .quarantine = judge_.quarantined_until() - now};
}

void slot::call(clock::time_point now) noexcept {
    if (state_ != state::away) return;
    try {
        begin(now);
    } catch (...) {
        on_not_enlisted(current_failure());
    }
}

void slot::begin(clock::time_point now) {
    if (state_ != state::away) return;
    state_ = state::seeking;  // before it is asked for: that may be answered at once
    auto* const where = directory_.server_of(*this);
    if (where == nullptr) return;
    if (where != server_) assessed_ = subscribed_ = false;
    server_ = where;
    if (settings_.what_for == purpose::look) return become_ready(now);
    const auto size = directory_.size_around(*server_);
    const auto acks = acks_needed(settings_.acks, size.at_most);
    if (!acks) return on_not_enlisted(unknown_group());
    group_ = {.members = settings_.acks == replicas::none() ? 0 : size.at_most, .acks = *acks};
    named_ = size.at_least;
    enlist(now);
}

void slot::enlist(clock::time_point now) {
    const boost::intrusive_ptr<enlisting_request> request(new enlisting_request(*this));
    const boost::intrusive_ptr<subscription> called(channel_.empty() ? nullptr
                                                                     : new subscription(*this));
    state_ = state::enlisting;
    const auto deadline = now + settings_.first_contact;
    if (called && !subscribed_) server_->send(called, 0, deadline, now);
    // What the server failed at once it has not been asked: that is the end of it.
    if (state_ == state::enlisting) request->ask(now);
    directory_.on_appended();
}

void slot::placed(clock::time_point now) noexcept {
    if (state_ != state::seeking) return;
    state_ = state::away;
    if (!waiting_.empty()) call(now);
}

void slot::not_placed(const failure& why) noexcept {
    if (state_ != state::seeking) return;
    on_not_enlisted(why);
}

void slot::assess(clock::time_point now) {
    not_enlisted_.reset();
    if (!std::exchange(assessed_, true)) judge_.assess(server_->facts(), now);
    enlisted_at_ = now;
}

void slot::on_nothing_to_enlist() {
    const auto now = directory_.present();
    assess(now);
    become_ready(now);
}

void slot::on_enlisted(std::variant<core::enlistment, failure> found) {
    const auto now = directory_.present();
    assess(now);
    if (auto* const why = std::get_if<failure>(&found)) {
        const bool kept_from_us = why->code == errc::permission && !judge_.guards();
        if (!kept_from_us) return on_not_enlisted(*why);
        not_enlisted_ = std::move(*why);
    } else {
        enlisted_ = std::get<core::enlistment>(found);
        judge_.enlisted(*enlisted_, now);
        if (disagrees()) directory_.unsettled();
    }
    become_ready(now);
}

void slot::become_ready(clock::time_point now) {
    state_ = state::ready;
    hops_ = 0;
    tried_ = true;
    directory_.on_ready(*this);
    send_waiting(now);
    if (state_ == state::ready) directory_.on_caught_up(*this);
    directory_.on_appended();
}

void slot::on_not_enlisted(const failure& why) noexcept {
    forget();
    hops_ = 0;
    tried_ = true;
    last_failure_ = copy_of(why);
    fail_waiting(why);
}

void slot::on_redirected(const redirection& where, const node& by) {
    if (where.what != redirection::kind::moved) return begin_moving(directory_.present());
    if (++hops_ > most_hops) return on_not_enlisted(sent_around());
    const auto asked = generation_;
    directory_.moved(*this, where, by);
    if (asked == generation_) forget();  // it names itself
    begin_again();
}

// The record is where it moves to, or has never been: to write it there by ASKING would keep the
// one that is on its way from arriving.
void slot::begin_moving(clock::time_point now) {
    state_ = state::moving;
    tried_ = true;
    moving_until_ = now + moving_pause;
    send_waiting(now);
    directory_.on_appended();
}

void slot::forget() noexcept {
    ++generation_;
    state_ = state::away;
}

void slot::begin_again() noexcept {
    if (state_ != state::away || waiting_.empty()) return;
    call(directory_.present());
}

void slot::on_down(const failure& why) noexcept {
    assessed_ = false;
    subscribed_ = false;
    judge_.disconnected();
    if (state_ != state::ready && state_ != state::moving) return;
    last_failure_ = copy_of(why);
    forget();
}

// Nobody stands in line yet by a channel that nobody could be called by.
void slot::do_without_shards() noexcept {
    sharded_ = false;
    if (state_ != state::enlisting) return;
    forget();
    begin_again();
}

void slot::on_record_changed() noexcept {
    if (state_ == state::ready || state_ == state::enlisting) forget();
    begin_again();
}

void slot::on_unsubscribed(clock::time_point now) noexcept {
    subscribed_ = false;
    if (state_ == state::ready || state_ == state::enlisting) forget();
    call(now);
}

void slot::look_where() noexcept {
    if (state_ == state::away || state_ == state::seeking) return;
    if (directory_.server_of(*this) == server_) return;
    forget();
    begin_again();
}

void slot::expire(clock::time_point now) noexcept {
    for (std::size_t n = 0; n < waiting_.size();) {
        if (now < waiting_[n].deadline) {
            ++n;
            continue;
        }
        const auto late = std::move(waiting_[n]);
        waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(n));
        late.who->failed(late.request, no_answer("not connected in time"));
    }
}

clock::time_point slot::wake_at() const {
    auto earliest = clock::time_point::max();
    for (const auto& each : waiting_) earliest = std::min(earliest, each.deadline);
    return earliest;
}

void slot::fail_waiting(const failure& why) noexcept {
    for (const auto& each : std::exchange(waiting_, {})) each.who->failed(each.request, why);
}

// What is sent first may find that the connection has broken: the rest then waits for the next.
void slot::send_waiting(clock::time_point now) {
    for (auto& each : std::exchange(waiting_, {})) {
        if (!each.who->wanted(each.request) || now >= each.deadline) {
            each.who->failed(each.request, no_answer("not connected in time"));
            continue;
        }
        try {
            accept(each, now);
        } catch (...) {
            each.who->failed(each.request, current_failure());
        }
    }
}

}  // namespace holdfast::net
