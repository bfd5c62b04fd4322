#include "net/node.hpp"

#include <algorithm>
#include <utility>

#include "core/tuning.hpp"
#include "holdfast/duration.hpp"
#include "resp/encoder.hpp"

namespace holdfast::net {

using namespace core::tuning::servers;

namespace {

failure more_than_all(std::size_t needed, std::size_t members) {
    return {.code = errc::invalid_option,
            .message = "replica_acks asks for " + std::to_string(needed) +
                       " replicas, and its group has " + std::to_string(members - 1)};
}

failure regrouping() noexcept {
    auto why = no_answer("replicas have joined its group meanwhile");
    why.emptied = true;
    return why;
}

failure two_servers() noexcept {
    auto why = no_answer("two connections to it lead to two servers, or to two lives of one");
    why.code = errc::unsafe_server;
    return why;
}

/// Loads a script, whatever the server says to it: one that it does not know it is sent by text.
class loading final : public exchange {
  public:
    explicit loading(const scripts::script& which) : which_(which) {}

  private:
    void encode(tag, bool, std::string& out) override HOLDFAST_LOCKED {
        resp::append_command(out, {"SCRIPT", "LOAD", which_.text});
    }
    void answered(tag, std::string_view) override HOLDFAST_LOCKED {}
    void failed(tag, const failure&) noexcept override HOLDFAST_LOCKED {}

    const scripts::script& which_;
};

/// `, 10.0.0.1:6379`, by what a replica says of itself.
std::string master_of(const greeting& said) {
    const auto host = said.field("master_host");
    return host.empty() ? ""
                        : ", " + std::string(host) + ":" + std::string(said.field("master_port"));
}

}  // namespace

node::node(network& through, base::client_mutex& guard, settings how, listener& whom)
    : network_(through),
      guard_(guard),
      settings_(std::move(how)),
      given_(settings_.link.where),
      listener_(whom),
      delay_(first_delay, longest_delay),
      judge_(settings_.link.policy) {
    if (!settings_.prepared) settings_.link.shows = network_.prepare(settings_.link.where);
    if (!settings_.resolves) {
        settings_.resolves = std::make_shared<fixed_address>(settings_.link.where);
    }
}

node::~node() {
    stop_resolving();
    settings_.resolves->close();
}

std::string node::name() const {
    if (!given_.sentinels) return settings_.link.where.name();
    if (!located_) return given_.name();
    return given_.sentinels->master_name + " at " + settings_.link.where.name();
}

void node::send(boost::intrusive_ptr<exchange> who, exchange::tag request,
                clock::time_point deadline, clock::time_point now) noexcept {
    waiting asked{std::move(who), request, deadline};
    try {
        accept(asked, now);
    } catch (...) {
        asked.who->failed(asked.request, current_failure());
    }
}

// Whatever throws does so before the request is handed on.
void node::accept(waiting& asked, clock::time_point now) {
    if (state_ == state::ready) notice_hang_up(now);
    if (state_ == state::ready && asked.who->asks_for_vote(asked.request)) {
        look_again_if_unfit(asked, now);
    }
    if (state_ == state::ready) return transmit(asked, now);
    if (!must_wait(now)) return asked.who->failed(asked.request, last_failure_);
    waiting_.push_back(std::move(asked));
}

// Nobody reads an idle connection, so nobody saw it go. No request has failed: connect at once.
void node::notice_hang_up(clock::time_point now) {
    connection_->notice_hang_up(now);
    if (replicas_) replicas_->notice_hang_up(now);
    if (state_ == state::out) connect(now, state::connecting);
}

// So is one that kept the right to enlist it from us: the right may have been given since.
void node::look_again_if_unfit(const waiting& asked, clock::time_point now) {
    const bool kept = said_.not_enlisted && asked.who->asks_for_token(asked.request);
    const bool unfit = judge_.at(now) == core::judge::standing::unfit;
    if (!(unfit || kept) || now - assessed_at_ < unfit_for || !connection_->idle()) return;
    start_over(unfit ? why_unfit() : *said_.not_enlisted);
}

bool node::must_wait(clock::time_point now) {
    if (state_ == state::idle) connect(now, state::connecting);
    // One that was emptied is there: it only has to be met anew.
    const bool at_once = settings_.patient || last_failure_.emptied;
    if (state_ == state::out && at_once) connect(now, state::connecting);
    return state_ == state::connecting;
}

void node::transmit(waiting& request, clock::time_point now) {
    if (const auto why = why_no_vote(*request.who, request.request, now)) {
        return request.who->failed(request.request, *why);
    }
    connection_->send(std::move(request.who), request.request, request.deadline, now);
}

void node::flush() noexcept {
    if (connection_) connection_->flush();
    if (replicas_) replicas_->flush();
}

void node::acknowledge(boost::intrusive_ptr<exchange> who, exchange::tag request,
                       std::optional<core::replication> group) {
    if (state_ == state::ready) return replicas_->request(std::move(who), request, group);
    who->failed(request, last_failure_);
}

void node::expire(clock::time_point now) noexcept {
    retired_.reset();
    if (state_ == state::out && now >= retry_at_) {
        connect(now, settings_.patient ? state::connecting : state::probing);
    }
    if (resolving_ && now >= resolved_by()) {
        stop_resolving();
        on_down(no_answer("no address in time"));
    }
    if (connection_) connection_->expire(now);
    if (replicas_) replicas_->expire(now);
    settings_.resolves->expire(now);
    expire_waiting(now);
}

clock::time_point node::wake_at() const {
    auto earliest = clock::time_point::max();
    if (state_ == state::out) earliest = retry_at_;
    if (resolving_) earliest = resolved_by();
    if (connection_) earliest = connection_->wake_at();
    if (replicas_) earliest = std::min(earliest, replicas_->wake_at());
    earliest = std::min(earliest, settings_.resolves->wake_at());
    for (const auto& request : waiting_) earliest = std::min(earliest, request.deadline);
    return earliest;
}

void node::connect(clock::time_point now, state as) noexcept {
    stop_resolving();
    state_ = as;
    connecting_since_ = now;
    resolving_ = true;
    settings_.resolves->ask(*this);
    if (resolving_) listener_.on_change(*this);
}

void node::stop_resolving() noexcept {
    if (std::exchange(resolving_, false)) settings_.resolves->withdraw();
}

void node::on_found(const net::location& found) noexcept {
    resolving_ = false;
    const auto needed = acks_needed(settings_.replica_acks, found.members);
    if (!needed) return on_down(unknown_group());
    settings_.link.group = {.members = found.members, .acks = *needed};
    settings_.link.acks.needed = *needed;
    settings_.link.acks.members = found.members;
    try {
        located_ = true;
        location_ = found;
        const bool too_few = found.members > 0 && *needed >= found.members;
        if (too_few) return on_down(more_than_all(*needed, found.members));
        open(found.where);
    } catch (...) {
        return on_down(current_failure());
    }
    listener_.on_change(*this);
}

void node::load(std::span<const scripts::script* const> which) noexcept {
    settings_.link.loads = which;
    const auto now = network_.now();
    if (state_ == state::ready) notice_hang_up(now);
    if (state_ == state::ready) load_rest(now);
}

// Ahead of whatever is asked next: nobody has to be told that a script is missing.
void node::load_rest(clock::time_point now) noexcept {
    const auto rest = settings_.link.loads.subspan(loaded_);
    loaded_ = settings_.link.loads.size();
    for (const auto* script : rest) {
        try {
            connection_->send(new loading(*script), 0, now + settings_.answer_within, now);
        } catch (const std::bad_alloc&) {
            return;
        }
    }
}

void node::open(const endpoint& where) {
    auto& link = settings_.link;
    loaded_ = link.loads.size();
    if (where != link.where) link.where = where;
    if (paired() && !replicas_) {
        replicas_ = std::make_unique<acknowledging>(network_, guard_,
                                                    static_cast<acknowledging::listener&>(*this));
    }
    connection_ = std::make_unique<connection>(
        network_, guard_, link, static_cast<connection::owner&>(*this), connecting_since_);
    if (paired()) replicas_->open(link, settings_.answer_within, connecting_since_);
}

void node::on_not_found(const failure& why) noexcept {
    resolving_ = false;
    located_ = false;
    on_down(why);
}

// Whoever waits for the connection goes on waiting; what was asked over it may be asked again. A
// server that stands still would say nothing for long, and one that was replaced what does not
// count any more.
void node::on_moved(const net::location& found) noexcept {
    if (state_ == state::closed) return;
    if (found.where == location_.where) return regrouped(found.members);
    const auto why = [&]() noexcept {
        auto moved = no_answer("another server has taken its place");
        moved.emptied = true;
        return moved;
    }();
    const auto as = opening() ? state_ : state::connecting;
    if (state_ == state::ready) {
        connection_->hang_up(why);
    } else if (connection_) {
        connection_->fail_all(why);
        retire(std::move(connection_));
        acknowledging::fail(stop_acknowledging(), why);
        state_ = state::out;
    }
    if (state_ == state::out) connect(network_.now(), as);
}

// A majority of fewer servers than there are may have nobody in common with one of all. So more are
// asked for from now on; where none were, there is no connection to ask them by. A group that is
// said to be smaller is asked about when it is connected to anew.
void node::regrouped(std::size_t members) noexcept {
    location_.members = members;
    if (state_ != state::ready || members <= settings_.link.group.members) return;
    const auto needed = acks_needed(settings_.replica_acks, members);
    if (!needed) return;
    if (*needed > 0 && !acknowledges()) return connection_->hang_up(regrouping());
    raise_acks({.members = members, .acks = *needed});
}

void node::raise_acks(core::replication group) noexcept {
    if (!acknowledges()) return;
    group.acks = std::max(settings_.link.group.acks, core::acks_when_grown(group, agreed_on_));
    settings_.link.group = group;
    replicas_->need(group);
}

void node::take_in(int descriptor) noexcept {
    if (connection_ && connection_->descriptor() == descriptor) return connection_->take_in();
    const bool two = replicas_ && replicas_->is_open();
    if (two && replicas_->descriptor() == descriptor) return replicas_->take_in();
    auto& book = *settings_.resolves;
    if (!book.silent() && book.descriptor() == descriptor) book.take_in();
}

void node::watch() {
    if (connection_) connection_->watch();
    if (replicas_ && replicas_->is_open()) replicas_->watch();
    if (!settings_.resolves->silent()) settings_.resolves->watch();
}

void node::stop_vouching() noexcept {
    settings_.link.what_for = purpose::lock;
    settings_.link.vouched_life.clear();
}

void node::vouch(std::string life, clock::time_point now) {
    settings_.link.what_for = purpose::vouch;
    settings_.link.vouched_life = std::move(life);
    if (state_ != state::out && !opening()) return;
    if (connection_) connection_->hang_up({.message = "is connected to anew, to vouch for it"});
    connect(now, state::connecting);
}

std::optional<failure> node::why_no_master(const greeting& said) const {
    if (!follows()) return std::nullopt;
    const auto role = said.role();
    if (role == "master") return std::nullopt;
    if (!role.empty()) {
        return failure{.code = errc::unsafe_server,
                       .message = "is a replica, though a Sentinel named it as the master"};
    }
    if (settings_.link.what_for == purpose::look) return std::nullopt;
    return failure{
        errc::permission,
        "does not say whether it is a master; with Sentinel that needs HELLO 3, or INFO, "
        "which the ACL refuses",
        true};
}

void node::on_ready(const greeting& said) {
    if (const auto why = why_no_master(said)) return connection_->hang_up(*why);
    said_ = said;
    facts_ = said.facts();
    const auto grown_from = said.enlisted ? said.enlisted->grown_from : 0;
    agreed_on_ = grown_from > 0 ? grown_from : settings_.link.group.members;
    raise_acks(settings_.link.group);
    if (!paired() || replicas_->ready()) begin();
}

void node::on_second_ready() {
    if (connection_->ready()) begin();
}

// Whatever one of them is told, the other says nothing of it.
void node::on_second_down(const failure& why) noexcept {
    if (connection_) connection_->hang_up(why);
}

void node::on_another_life(const failure& why) noexcept {
    if (connection_) start_over(why);
}

// Which of them looked first is not known. That both lead to one server has to be seen once; in
// which life that is, is asked anew behind every WAIT.
void node::begin() {
    if (location_.members > settings_.link.group.members) return start_over(regrouping());
    if (paired()) {
        const auto& second = replicas_->facts();
        const bool one_server =
            facts_.run_id == second.run_id && facts_.is_replica == second.is_replica;
        if (!one_server) return start_over(two_servers());
    }
    const auto now = network_.now();
    state_ = state::ready;
    tried_ = true;
    delay_.reset();
    assessed_at_ = now;
    judge_.assess(facts_, now);
    if (said_.enlisted) enlisted(*said_.enlisted, now);
    load_rest(now);
    listener_.on_ready(*this);
    // Not transmit(): what is sent first may find that the connection has broken again. The rest
    // then waits for the next one, or fails, like what comes later.
    for (auto& request : std::exchange(waiting_, {})) {
        if (request.who->wanted(request.request)) {
            send(std::move(request.who), request.request, request.deadline, now);
        } else {
            request.who->failed(request.request, no_answer("not connected in time"));
        }
    }
    if (state_ == state::ready) listener_.on_caught_up(*this);
}

void node::rest() noexcept {
    const bool needed = !waiting_.empty() || (connection_ && !connection_->idle());
    if (needed || state_ == state::closed || state_ == state::idle) return;
    stop_resolving();
    auto last = std::move(connection_);
    auto unacknowledged = stop_acknowledging();
    state_ = state::idle;
    judge_.disconnected();
    const auto why = no_answer("not needed at present");
    if (last) last->fail_all(why);
    retire(std::move(last));
    acknowledging::fail(std::move(unacknowledged), why);
    listener_.on_change(*this);
}

std::uint64_t node::time_at(clock::time_point now) const {
    if (time_ == 0) return 0;
    const auto since = std::chrono::floor<std::chrono::microseconds>(now - told_time_at_);
    return time_ + static_cast<std::uint64_t>(since.count());
}

void node::on_down(const failure& why) noexcept {
    const bool met = state_ == state::ready;
    if (connection_ && !met) settings_.resolves->doubt();
    state_ = state::out;
    tried_ = true;
    last_failure_ = copy_of(why);
    retry_at_ = network_.now() + delay_.next(listener_.chance());
    judge_.disconnected();
    retire(std::move(connection_));
    const auto waited = std::exchange(waiting_, {});
    auto unacknowledged = stop_acknowledging();
    listener_.on_change(*this);
    listener_.on_down(*this, why);
    acknowledging::fail(std::move(unacknowledged), why);
    fail_all(waited, why);
}

void node::on_push(resp::view message) { listener_.on_push(*this, message); }

void node::retire(std::unique_ptr<connection> last) noexcept {
    if (!last) return;
    last->keep(std::move(retired_));
    retired_ = std::move(last);
}

void node::fail_all(const std::vector<waiting>& whom, const failure& why) noexcept {
    for (const auto& request : whom) request.who->failed(request.request, why);
}

// Whoever is told may ask again, and then stands at the end.
void node::expire_waiting(clock::time_point now) noexcept {
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

std::optional<failure> node::why_no_vote(const exchange& who, exchange::tag request,
                                         clock::time_point now) const {
    if (!who.asks_for_vote(request)) return std::nullopt;
    if (barred_) return barred_;
    if (!settings_.patient && connection_->stalled()) {
        return failure{.message = "owes an answer for too long already"};
    }
    if (said_.not_enlisted && who.asks_for_token(request)) {
        return said_.not_enlisted;
    }
    switch (judge_.at(now)) {
        case core::judge::standing::fit: return std::nullopt;
        case core::judge::standing::voided:
            return failure{.code = errc::unsafe_server,
                           .message = "its clock jumped; it may not vote yet"};
        case core::judge::standing::quarantined:
            return failure{.code = errc::unsafe_server,
                           .message = "it is in quarantine; it may not vote yet",
                           .quarantine = judge_.quarantined_until() - now};
        case core::judge::standing::unjudged:
        case core::judge::standing::unfit: break;
    }
    return why_unfit();
}

// Sentinels that were set up anew find the replicas by and by.
failure node::disagreement(const core::enlistment& found, const core::replication& group) const {
    if (found.group != 0) {
        const std::string who = settings_.link.clustered ? "the Cluster" : "a Sentinel";
        return {.code = errc::unsafe_server,
                .message =
                    "its clients agreed on a replication group of " + std::to_string(found.group) +
                    " servers, and " + who + " knows " + std::to_string(group.members) +
                    "; if replicas were taken out for good, stop all programs that lock here, and "
                    "'holdfast enlist --fresh' notes it"};
    }
    return {errc::other_max_ttl,
            "its clients agreed on a max_ttl of " + format_duration(found.max_ttl) +
                ", and this one has " + format_duration(judge_.max_ttl()),
            true};
}

failure node::why_unfit() const {
    using flaw = core::judge::flaw;
    switch (judge_.reason()) {
        case flaw::replica:
            return {.code = errc::unsafe_server,
                    .message = "is a replica; give the master's address" + master_of(said_) +
                               ", or write redis+sentinel://host:port/<master-name> where "
                               "Sentinels watch it"};
        case flaw::untracked:
            return {errc::unsafe_server,
                    "does not tell when it is emptied (CLIENT TRACKING with RESP3), which the "
                    "restart guard needs",
                    true};
        case flaw::other_group:
        case flaw::other_max_ttl: return disagreement(*said_.enlisted);
        case flaw::evicts:
        case flaw::none: break;
    }
    return {errc::unsafe_server,
            "maxmemory-policy is " + facts_.eviction_policy +
                ", which may evict lock keys; set it to noeviction, or set allow_eviction",
            true};
}

void node::close(const failure& why) noexcept {
    stop_resolving();
    settings_.resolves->close();
    auto last = std::move(connection_);
    state_ = state::closed;
    last_failure_ = copy_of(why);
    const auto waited = std::exchange(waiting_, {});
    auto unacknowledged = stop_acknowledging();
    if (last) last->fail_all(why);
    retire(std::move(last));
    acknowledging::fail(std::move(unacknowledged), why);
    fail_all(waited, why);
}

void node::abandon() noexcept {
    if (connection_) connection_->abandon();
    if (replicas_) replicas_->abandon();
    settings_.resolves->abandon();
}

}  // namespace holdfast::net
