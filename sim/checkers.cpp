#include "sim/checkers.hpp"

#include <algorithm>

namespace holdfast::sim {
namespace {

std::string seconds(instant at) {
    return std::to_string(at.count() / 1'000'000'000) + "." +
           std::to_string(at.count() % 1'000'000'000 + 1'000'000'000).substr(1, 6) + " s";
}

// What clock_watch tolerates by default, and a margin: a jump beyond this must be noticed.
// Long enough for a release to find no script and be sent again, each leg as slow as is not yet
// called a disturbance.
core::duration cleanup_time(const plan& settings) { return settings.base_delay * 16; }

constexpr core::duration surely_noticed = std::chrono::milliseconds(150);

}  // namespace

const char* name_of(rule r) {
    switch (r) {
        case rule::exclusion: return "exclusion (T1)";
        case rule::token_order: return "token order (T2)";
        case rule::lost_update: return "lost update";
        case rule::staleness: return "staleness";
        case rule::ownership: return "ownership";
        case rule::orphan: return "orphan key";
        case rule::notice: return "notice";
        case rule::voided_vote: return "voided vote";
        case rule::outsider: return "outsider";
        case rule::needless_loss: return "needless loss";
        case rule::recovery: return "recovery";
    }
    return "?";
}

checkers::checkers(world& in, const network& on)
    : world_(in),
      network_(on),
      exclusion_promised_(in.settings().promises_exclusion()),
      order_promised_(in.settings().promises_token_order()),
      attempts_(1) {
    attempts_.reserve(128);
}

owner_id checkers::begin_attempt(std::uint32_t client, std::uint32_t worker, instant at) {
    attempts_.push_back({.client = client, .worker = worker, .started = at});
    return static_cast<owner_id>(attempts_.size() - 1);
}

void checkers::decided(owner_id who, core::fencing_token token, instant at, instant deadline) {
    ++acquired_;
    if (deadline <= at) {
        report(rule::staleness, name_of_attempt(who) +
                                    " was told that it holds, although its "
                                    "deadline had passed at " +
                                    seconds(deadline));
    }
    if (!world_.settings().fencing) return;
    check_order(who, token);
    const auto before = successes_.empty() ? core::fencing_token{} : successes_.back().largest;
    successes_.push_back({who, at, token, std::max(before, token)});
}

// Real-time order: who asked after another was decided must have the larger token.
void checkers::check_order(owner_id who, core::fencing_token token) {
    if (!order_promised_) return;
    for (const auto& earlier : successes_) {
        if (earlier.token == token) {
            report(rule::token_order, name_of_attempt(who) + " and " +
                                          name_of_attempt(earlier.who) + " both got token " +
                                          std::to_string(token.value));
        }
    }
    const auto started = attempts_[who].started;
    const auto after = std::ranges::upper_bound(successes_, started, {}, &success::decided);
    if (after == successes_.begin() || std::prev(after)->largest < token) return;
    report(rule::token_order, name_of_attempt(who) + " asked at " + seconds(started) +
                                  " and got token " + std::to_string(token.value) + ", not above " +
                                  std::to_string(std::prev(after)->largest.value) +
                                  " that had been given out before");
}

void checkers::returned(owner_id who, instant at, instant deadline) {
    check_exclusion(who, at, deadline);
    leases_.push_back({who, deadline});
}

void checkers::handed_off(owner_id who, owner_id owner) {
    const auto other = attempts_[owner].shown_by;
    if (other == 0) return;
    report(rule::ownership, name_of_attempt(who) + " goes on under the owner that " +
                                name_of_attempt(other) + " has shown, which has let go");
}

void checkers::shown(owner_id who, owner_id owner) {
    auto& other = attempts_[owner].shown_by;
    if (other != 0 && other != who) {
        report(rule::ownership, name_of_attempt(who) + " and " + name_of_attempt(other) +
                                    " show one and the same owner");
    }
    other = who;
}

void checkers::renewed(owner_id who, instant at, instant deadline) {
    check_exclusion(who, at, deadline);
    for (auto& held : leases_) {
        if (held.who != who) continue;
        if (held.deadline <= at) {
            report(rule::staleness, name_of_attempt(who) +
                                        " was renewed although its deadline had "
                                        "passed at " +
                                        seconds(held.deadline));
        }
        held.deadline = deadline;
    }
}

// Two intervals overlap exactly if one begins inside the other.
void checkers::check_exclusion(owner_id who, instant at, instant deadline) {
    if (!exclusion_promised_ || deadline <= at) return;
    for (const auto& held : leases_) {
        if (held.who == who || held.deadline <= at) continue;
        report(rule::exclusion, name_of_attempt(who) + " holds from " + seconds(at) + " while " +
                                    name_of_attempt(held.who) + " may believe to hold until " +
                                    seconds(held.deadline));
    }
}

void checkers::release_called(owner_id who, instant) {
    std::erase_if(leases_, [&](const lease& held) { return held.who == who; });
}

void checkers::released(owner_id who) {
    if (attempts_[who].released_at.size() >= core::majority(world_.settings().nodes)) return;
    report(rule::ownership,
           name_of_attempt(who) + " was told that it released, but no majority deleted its key");
}

void checkers::lost(owner_id who, instant at, bool announced_in_time, bool by_choice) {
    if (!announced_in_time) {
        report(rule::notice, name_of_attempt(who) +
                                 " was not told before its deadline (noticed at " + seconds(at) +
                                 ")");
    }
    if (world_.settings().faults.empty() && !by_choice) {
        report(rule::needless_loss, name_of_attempt(who) + " was lost although nothing went wrong");
    }
}

void checkers::over(owner_id who, instant at, instant expired) {
    auto& record = attempts_[who];
    if (record.over_at != instant::max()) return;
    record.over_at = at;
    record.expired = expired;
    const auto& settings = world_.settings();
    world_.schedule(at + cleanup_time(settings), event::kind::inspect, who);
    world_.schedule(at + settings.timing.ttl / 2, event::kind::inspect, who);
    world_.schedule(at + settings.orphan_bound(), event::kind::inspect, who);
}

void checkers::executed(const execution& what) {
    if (world_.traced()) tell(what);
    const auto asked = what.asked.what;
    if (asked == operation::hello || asked == operation::enlist || asked == operation::time) return;
    const core::node_index node{static_cast<std::uint8_t>(what.node)};
    auto& record = attempts_[what.asked.owner];
    if (asked == operation::acquire && what.abandoned) record.strayed_to.insert(node);
    // Owed until the next connection: the simulated driver does not repeat what was refused.
    const bool refused = what.answer.is(value::kind::error) && !what.answer.text.starts_with("NO");
    if (asked == operation::release && refused) record.strayed_to.insert(node);
    const bool deleted = what.before == what.asked.owner && what.after == 0;
    if (asked == operation::release && deleted) record.released_at.insert(node);
    check_ownership(what);
    if (asked == operation::acquire) check_floor(what);
}

void checkers::tell(const execution& what) {
    const auto& answer = what.answer;
    const auto code = answer.items.empty() ? answer.number : answer.items.front().number;
    world_.tracer().line(world_.now(), ("node " + std::to_string(what.node)).c_str(),
                         "%s of client %u, o%u: %s%lld; owner o%u -> o%u", name_of(what.asked.what),
                         what.client, what.asked.owner, answer.text.c_str(),
                         static_cast<long long>(code), what.before, what.after);
}

// Within the assumptions no clock is below a token of an earlier life when the quarantine is over,
// so that the order alone would hardly ever show what was drawn below the floor.
void checkers::check_floor(const execution& what) {
    const auto& answer = what.answer;
    if (!world_.settings().fencing || answer.items.empty() || answer.items[0].number != 1) return;
    const auto last = static_cast<std::uint64_t>(answer.items[1].number);
    if (last + 1 >= what.asked.floor + what.asked.tokens) return;
    report(rule::token_order, name_of_attempt(what.asked.owner) + " drew tokens up to " +
                                  std::to_string(last) + ", which begin below the floor " +
                                  std::to_string(what.asked.floor));
}

void checkers::check_ownership(const execution& what) {
    const bool succeeded = what.answer.is(value::kind::integer) && what.answer.number == 1;
    const bool touched = what.before != what.after && what.before != 0;
    if (what.before == what.asked.owner || !(succeeded || touched)) return;
    report(rule::ownership, std::string(name_of(what.asked.what)) + " by " +
                                name_of_attempt(what.asked.owner) + " succeeded on node " +
                                std::to_string(what.node) + ", which belonged to " +
                                (what.before != 0 ? name_of_attempt(what.before) : "nobody"));
}

void checkers::jumped(std::uint32_t node, core::duration by) {
    jumps_.push_back({world_.now(), node, by});
}

core::duration checkers::jump_between(std::uint32_t node, instant from, instant to) const {
    core::duration sum{};
    for (const auto& jump : jumps_) {
        if (jump.node == node && jump.at > from && jump.at <= to) sum += jump.by;
    }
    return sum;
}

// A jump between two looks over one connection is noticed, unless it is small against the time
// that the looks themselves took.
void checkers::clock_seen(std::uint32_t client, std::uint32_t node, connection_id on, instant asked,
                          instant told) {
    auto& last = samples_[client][node];
    if (last.seen && last.on == on) {
        const auto sum = jump_between(node, last.told, asked);
        const bool in_flight = jump_between(node, last.asked, told) != sum;
        const auto blur = (told - last.asked) / 40 + (told - asked) + (last.told - last.asked);
        if (!in_flight && std::chrono::abs(sum) > surely_noticed + blur) {
            const auto voided = world_.settings().max_ttl * 97 / 100;
            last.void_until = std::max(last.void_until, told + voided);
        }
    }
    last = {on, true, asked, told, last.void_until};
}

void checkers::vote_asked(std::uint32_t client, std::uint32_t node, instant at) {
    if (world_.settings().is_outsider(client)) {
        report(rule::outsider, "client " + std::to_string(client) + " asks node " +
                                   std::to_string(node) +
                                   " for its vote, although it cannot keep to the guard");
    }
    if (at >= samples_[client][node].void_until) return;
    report(rule::voided_vote, "client " + std::to_string(client) + " asks node " +
                                  std::to_string(node) +
                                  " for its vote, although it has seen its clock jump");
}

void checkers::found_at(std::uint32_t node, owner_id who, bool link_is_fit, bool for_ever) {
    const auto late = world_.now() - attempts_[who].over_at;
    const bool cleaned_up = link_is_fit && must_be_clean(node, attempts_[who]);
    if (!cleaned_up && !for_ever && late < world_.settings().orphan_bound()) return;
    report(rule::orphan, "node " + std::to_string(node) + " still holds the key of " +
                             name_of_attempt(who) + ", " + seconds(late) + " after it was over" +
                             (for_ever ? ", and would for ever" : ""));
}

// The release has had time to arrive, a missing script included. It cannot help against a request
// that overtook it on an older connection, or against a crash that brought the key back.
bool checkers::must_be_clean(std::uint32_t node, const attempt& record) const {
    const auto disturbed = network_.disturbed_at(record.client, node);
    const auto since = world_.now() - std::max(disturbed, record.over_at);
    return since >= cleanup_time(world_.settings()) && disturbed < record.expired &&
           rolled_back_[node] <= record.started &&
           !record.strayed_to.contains(core::node_index{static_cast<std::uint8_t>(node)});
}

void checkers::plain_write(owner_id who, std::uint64_t version) {
    if (version != plain_version_ && exclusion_promised_) {
        report(rule::lost_update,
               name_of_attempt(who) + " overwrote version " + std::to_string(plain_version_) +
                   " of the plain register, having read " + std::to_string(version));
    }
    ++plain_version_;
}

void checkers::report(rule broken, std::string what) {
    if (world_.traced()) {
        world_.tracer().line(world_.now(), "CHECKER", "%s: %s", name_of(broken), what.c_str());
    }
    if (!found_) found_ = violation{broken, world_.now(), std::move(what)};
}

std::string checkers::name_of_attempt(owner_id who) const {
    const auto& record = attempts_[who];
    return "client " + std::to_string(record.client) + "." + std::to_string(record.worker) + " (o" +
           std::to_string(who) + ")";
}

}  // namespace holdfast::sim
