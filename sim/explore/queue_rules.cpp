#include "sim/explore/queue_rules.hpp"

#include <algorithm>

#include "sim/explore/inside_contend.hpp"

namespace holdfast::sim::inside {
template struct counting<&core::contend::attempts_>;
}

namespace holdfast::sim::in_line {
namespace {

using phase = client_state::phase;

constexpr core::time_point begun_at{};
constexpr core::timing timing{.ttl = std::chrono::seconds(60)};
constexpr core::time_point any_look_is_due = begun_at + std::chrono::hours(1);
constexpr core::node_index only{0};

// One object for all: what lies between the members is then the same in each.
const plain<core::acquire>& fresh_machine() {
    static const auto machine = [] {
        plain<core::acquire> fresh;
        fresh.emplace(core::acquire::config{.nodes = 1, .timing = timing});
        return fresh;
    }();
    return machine;
}

const plain<core::contend>& fresh_contend() {
    static const auto machine = [] {
        plain<core::contend> fresh;
        fresh.emplace(core::contend::config{.patience = std::chrono::hours(10)});
        return fresh;
    }();
    return machine;
}

std::uint8_t owner_of(std::size_t c, const client_state& me) {
    return static_cast<std::uint8_t>(1 + c * owners_each + me.burnt);
}

std::uint8_t bit(std::uint8_t c) { return static_cast<std::uint8_t>(1U << c); }

bool is_alive(const client_state& me) { return me.now != phase::dead; }
bool wants_it(const client_state& me) {
    return me.now == phase::attempting || me.now == phase::waiting;
}

core::time_point now_of(const client_state& me) {
    return me.overdue != 0 ? begun_at + timing.ttl : begun_at + core::duration{1};
}

template <typename Queue>
bool holds(const Queue& all, std::uint8_t one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

std::string to_string(const step& s) {
    const auto c = "client " + std::to_string(s.client);
    switch (s.what) {
        case step::kind::start: return c + " wants the lock";
        case step::kind::look: return c + " looks";
        case step::kind::give_up: return c + " gives up";
        case step::kind::release: return c + " releases";
        case step::kind::grow_old: return "the validity of " + c + " is over";
        case step::kind::deliver: return "the server gets the next request of " + c;
        case step::kind::deliver_stray:
            return "the server gets a request of an old connection of " + c;
        case step::kind::read: return c + " reads what comes next";
        case step::kind::lose_call: return "a call to " + c + " is lost";
        case step::kind::lose_link: return "the connection of " + c + " breaks";
        case step::kind::crash: return c + " crashes";
        case step::kind::hear_of_it:
            return "the server hears that a connection of " + c + " is gone";
        case step::kind::expire_lock: return "the lock expires";
        case step::kind::expire_queue: return "the queue expires";
    }
    return "?";
}

std::vector<step> rules::steps_from(const state& s) const {
    std::vector<step> all;
    for (std::uint8_t c = 0; c < clients; ++c) {
        client_steps(s, c, all);
        link_steps(s, c, all);
    }
    server_steps(s, all);
    return all;
}

void rules::client_steps(const state& s, std::uint8_t c, std::vector<step>& all) const {
    const auto& me = s.client[c];
    if (me.now == phase::idle) all.push_back({step::kind::start, c});
    if (me.now == phase::waiting) all.push_back({step::kind::look, c});
    if (wants_it(me)) all.push_back({step::kind::give_up, c});
    if (me.now == phase::holding) all.push_back({step::kind::release, c});
    const bool late = me.now == phase::attempting && s.losses < what_.losses;
    if (what_.timed && me.overdue == 0 && (me.now == phase::holding || late)) {
        all.push_back({step::kind::grow_old, c});
    }
    const bool matters = wants_it(me) || me.now == phase::holding;
    if (matters && s.crashes < what_.crashes) all.push_back({step::kind::crash, c});
}

void rules::link_steps(const state& s, std::uint8_t c, std::vector<step>& all) const {
    const auto& l = s.net[c];
    if (!l.up.empty()) all.push_back({step::kind::deliver, c});
    if (!l.stray.empty()) all.push_back({step::kind::deliver_stray, c});
    if (!l.down.empty()) all.push_back({step::kind::read, c});
    if ((s.server.half_open & bit(c)) != 0) all.push_back({step::kind::hear_of_it, c});
    if (s.losses >= what_.losses) return;
    if (!l.down.empty() && l.down.begin()->is_call != 0) all.push_back({step::kind::lose_call, c});
    const bool breaks = !l.up.empty() || !l.down.empty();
    if (breaks && is_alive(s.client[c])) all.push_back({step::kind::lose_link, c});
}

// What was claimed lasts as long as its owner believes in it; a grant, for two seconds, which may
// be less than anything. Who stands in line looks: a queue expires when nobody alive does, or when
// nobody's time counts.
void rules::server_steps(const state& s, std::vector<step>& all) const {
    if (lock_may_expire(s)) all.push_back({step::kind::expire_lock});
    const bool looked_at = std::any_of(s.server.line.begin(), s.server.line.end(), [&](auto each) {
        const auto& me = s.client[client_of(each)];
        return wants_it(me) && owner_of(client_of(each), me) == each;
    });
    if (!s.server.line.empty() && (!what_.timed || !looked_at)) {
        all.push_back({step::kind::expire_queue});
    }
}

bool rules::lock_may_expire(const state& s) const {
    const auto owner = s.server.owner;
    if (owner == 0) return false;
    if (!what_.timed || s.server.claimed == 0) return true;
    const auto& me = s.client[client_of(owner)];
    const bool believes = me.now == phase::attempting || me.now == phase::holding;
    return !believes || me.overdue != 0 || owner_of(client_of(owner), me) != owner;
}

void rules::apply(state& s, const step& next) {
    const auto c = next.client;
    auto& l = s.net[c];
    broken_.reset();
    switch (next.what) {
        case step::kind::start: return start(s, c);
        case step::kind::look: return look(s, c);
        case step::kind::give_up: return give_up(s, c);
        case step::kind::release: return release(s, c);
        case step::kind::grow_old:
            if (s.client[c].now == phase::attempting) ++s.losses;
            s.client[c].overdue = 1;
            return;
        case step::kind::deliver: return deliver(s, c, l.up.pop(), true);
        case step::kind::deliver_stray: {
            const auto what = l.stray.pop();
            if (what.what == operation::acquire) s.strayed = 1;
            return deliver(s, c, what, false);
        }
        case step::kind::read: return read(s, c, l.down.pop());
        case step::kind::lose_call:
            ++s.losses;
            l.down.pop();
            return;
        case step::kind::lose_link: return lose_link(s, c);
        case step::kind::crash: return crash(s, c);
        case step::kind::hear_of_it:
            s.server.half_open &= static_cast<std::uint8_t>(~bit(c));
            return;
        case step::kind::expire_lock: s.server.owner = s.server.claimed = 0; return;
        case step::kind::expire_queue:
            s.server.line = {};
            s.arrived = {};
            return;
    }
}

void rules::tidy(state& s) {
    for (std::uint8_t c = 0; c < clients; ++c) {
        auto& l = s.net[c];
        const auto& me = s.client[c];
        const auto asks = [](std::uint8_t owner) {
            return [owner](const asked& a) {
                return a.what == operation::acquire && (owner == 0 || a.owner == owner);
            };
        };
        const auto is_coming = [&](std::uint8_t owner) {
            return std::any_of(l.up.begin(), l.up.end(), asks(owner)) ||
                   std::any_of(l.stray.begin(), l.stray.end(), asks(owner));
        };
        const auto in_vain = [&](const asked& a) {
            return a.what == operation::release && s.server.owner != a.owner &&
                   !holds(s.server.line, a.owner) && !is_coming(a.owner);
        };
        l.up.drop_if(in_vain);
        l.stray.drop_if(in_vain);
        l.down.drop_if([&](const word& w) {
            const bool held = me.now == phase::holding && w.owner == owner_of(c, me);
            return w.is_call != 0 ? held : me.now != phase::attempting;
        });
        const bool settled = me.now == phase::holding || me.now == phase::over || !is_alive(me);
        const bool stands = std::any_of(s.server.line.begin(), s.server.line.end(),
                                        [&](auto each) { return client_of(each) == c; });
        if (!settled || stands || is_coming(0)) continue;
        s.server.there &= static_cast<std::uint8_t>(~bit(c));
        s.server.half_open &= static_cast<std::uint8_t>(~bit(c));
    }
}

void rules::start(state& s, std::uint8_t c) {
    s.server.there |= bit(c);
    s.client[c].contend = fresh_contend();
    decide(s, c, core::contend::turn{}, begun_at);
}

void rules::look(state& s, std::uint8_t c) { decide(s, c, core::contend::tick{}, any_look_is_due); }

void rules::decide(state& s, std::uint8_t c, const core::contend::event& happened,
                   core::time_point now) {
    auto& me = s.client[c];
    const auto next = me.contend->step(happened, now, 0);
    // Only whether there were several is ever asked for.
    auto& attempts = inside::attempts_of(*me.contend);
    attempts = std::min(attempts, 2U);
    if (next.what == core::contend::action::attempt) return attempt(s, c);
    if (next.what == core::contend::action::none) {
        if (me.contend->current() == core::contend::state::waiting) me.now = phase::waiting;
        return;
    }
    const bool held = me.contend->outcome() == core::acquire::verdict::held;
    me.contend.clear();
    if (held) hold(s, c);
}

void rules::attempt(state& s, std::uint8_t c) {
    auto& me = s.client[c];
    me.now = phase::attempting;
    me.overdue = 0;
    me.machine = fresh_machine();
    me.machine->start(begun_at);
    me.floor = *std::max_element(s.token.begin(), s.token.end());
    s.net[c].up.push({operation::acquire, owner_of(c, me), me.in_line, 1});
}

// What it has asked for, or was granted, goes to the next.
void rules::give_up(state& s, std::uint8_t c) {
    auto& me = s.client[c];
    const bool asked_for = me.now == phase::attempting || me.in_line != 0;
    if (asked_for) s.net[c].up.push({operation::release, owner_of(c, me), 0, 1});
    me.now = phase::over;
    me.contend.clear();
    me.machine.clear();
    me.floor = 0;
    me.overdue = me.in_line = 0;
}

void rules::release(state& s, std::uint8_t c) {
    auto& me = s.client[c];
    s.net[c].up.push({operation::release, owner_of(c, me), 0, 0});
    me.now = phase::over;
    me.overdue = 0;
}

void rules::deliver(state& s, std::uint8_t c, const asked& what, bool answers) {
    const auto before = s.server;
    const auto effect = server_.execute(before, what);
    s.server = effect.after;
    if (effect.for_ever != 0) fail("clean: something was left that does not expire");
    check_grant(s, before, what);
    note_arrivals(s);
    const auto whom = effect.called == 0 ? c : client_of(effect.called);
    if (effect.called != 0 && (s.server.there & bit(whom)) != 0) {
        s.net[whom].down.push({.is_call = 1, .owner = effect.called});
    }
    const auto& me = s.client[c];
    const bool listens = answers && what.what == operation::acquire &&
                         me.now == phase::attempting && owner_of(c, me) == what.owner;
    if (!listens) return;
    s.net[c].down.push(
        {.owner = what.owner, .code = effect.code, .place = effect.place, .token = effect.token});
}

// As of `sim/check/line_watch.hpp`.
void rules::check_grant(const state& s, const server_state& before, const asked& by) {
    const auto to = s.server.owner;
    const auto can_be_called = [&](std::uint8_t each) {
        return holds(before.line, each) && (before.hears() & bit(client_of(each))) != 0;
    };
    const bool anybody = std::any_of(s.arrived.begin(), s.arrived.end(), can_be_called);
    const bool let_go = by.what == operation::release && before.owner == by.owner;
    if (let_go && to == 0 && anybody) fail("order: a release called nobody");
    if (to == 0 || to == before.owner) return;
    const auto* const first = std::find_if(s.arrived.begin(), s.arrived.end(), can_be_called);
    if (anybody && *first != to) fail("order: the lock was granted past one who came earlier");
    const bool gone = holds(before.line, to) && !can_be_called(to) && to != by.owner;
    if (gone) fail("order: the lock was granted to one who is not there");
}

void rules::note_arrivals(state& s) {
    s.arrived.drop_if([&](std::uint8_t each) { return !holds(s.server.line, each); });
    for (const auto each : s.server.line) {
        if (!holds(s.arrived, each)) s.arrived.push(each);
    }
}

void rules::read(state& s, std::uint8_t c, const word& said) {
    const auto& me = s.client[c];
    if (said.is_call != 0) return called(s, c, said.owner);
    if (me.now != phase::attempting || owner_of(c, me) != said.owner) return;
    if (said.code == 1) {
        answered(s, c, core::acquire::granted{only, core::fencing_token{said.token}}, 0);
    } else {
        answered(s, c, core::acquire::denied{only}, said.place);
    }
}

// Nothing is believed of it. What nobody waits for any more is given back.
void rules::called(state& s, std::uint8_t c, std::uint8_t owner) {
    const auto& me = s.client[c];
    const bool mine = owner_of(c, me) == owner;
    if (mine && wants_it(me)) return decide(s, c, core::contend::notified{only}, now_of(me));
    if (mine && me.now == phase::holding) return;
    s.net[c].up.push({operation::release, owner, 0, 0});
}

void rules::answered(state& s, std::uint8_t c, const core::acquire::event& said,
                     std::uint8_t place) {
    auto& me = s.client[c];
    const auto next = me.machine->step(said, now_of(me));
    if (!next.decided) return;
    const auto how = me.machine->outcome();
    core::contend::attempted outcome{.how = how};
    if (how == core::acquire::verdict::contended) {
        me.in_line = 1;
        outcome.other = {.place = place, .called = true};
    } else if (how != core::acquire::verdict::held) {
        // The owner is burnt: whatever becomes of its request, its release follows.
        s.net[c].up.push({operation::release, owner_of(c, me), 0, 1});
        me.in_line = 0;
        ++me.burnt;
    }
    if (how != core::acquire::verdict::held) {
        me.machine.clear();
        me.overdue = 0;
        me.floor = 0;
    }
    decide(s, c, outcome, begun_at);
}

void rules::hold(state& s, std::uint8_t c) {
    auto& me = s.client[c];
    const auto token = static_cast<std::uint16_t>(me.machine->token().value);
    if (std::find(s.token.begin(), s.token.end(), token) != s.token.end()) {
        fail("T2: token " + std::to_string(token) + " was given out twice");
    } else if (token <= me.floor) {
        fail("T2: token " + std::to_string(token) + " is not above " + std::to_string(me.floor) +
             ", given out before");
    }
    for (const auto& other : s.client) {
        const bool holds = &other != &me && other.now == phase::holding && other.overdue == 0;
        if (what_.timed && holds) fail("T1: two clients hold the lock");
    }
    s.token[c] = token;
    me.now = phase::holding;
    me.machine.clear();
    me.floor = 0;
    me.in_line = 0;
}

// Its next connection is there at once; the server may not hear that the last one is gone. What was
// to be released is released again.
void rules::lose_link(state& s, std::uint8_t c) {
    ++s.losses;
    auto& l = s.net[c];
    auto& me = s.client[c];
    const bool unanswered = me.now == phase::attempting;
    s.server.half_open |= bit(c);
    const auto written = l.up;
    for (const auto& each : written) l.stray.push(each);
    l.up = {};
    l.down = {};
    for (const auto& each : written) {
        if (each.what == operation::release) l.up.push(each);
    }
    if (unanswered) return answered(s, c, core::acquire::unknown{only}, 0);
    // After a reconnect everybody looks again.
    if (me.now == phase::waiting) decide(s, c, core::contend::notified{only}, begun_at);
}

void rules::crash(state& s, std::uint8_t c) {
    ++s.crashes;
    auto& l = s.net[c];
    while (!l.up.empty()) l.stray.push(l.up.pop());
    l.down = {};
    s.server.there &= static_cast<std::uint8_t>(~bit(c));
    s.server.half_open |= bit(c);
    const auto burnt = s.client[c].burnt;
    s.client[c] = {};
    s.client[c].now = phase::dead;
    s.client[c].burnt = burnt;
}

void rules::inspect(const state& s) {
    broken_.reset();
    for (const auto& l : s.net) {
        if (!l.up.empty() || !l.down.empty()) return;
    }
    check_remains(s);
    check_liveness(s);
}

// What is left when nobody comes any more is of those who could not take it back.
void rules::check_remains(const state& s) {
    const auto is_gone = [](const client_state& me) {
        return me.now == phase::over || me.now == phase::dead;
    };
    if (!std::all_of(s.client.begin(), s.client.end(), is_gone) || s.strayed != 0) return;
    const auto died = [&](std::uint8_t owner) { return !is_alive(s.client[client_of(owner)]); };
    if (s.server.owner != 0 && !died(s.server.owner)) fail("clean: a lock was left behind");
    if (!std::all_of(s.server.line.begin(), s.server.line.end(), died)) {
        fail("clean: somebody who is gone stands in line");
    }
}

// What is still under way on old connections may be lost.
void rules::check_liveness(const state& s) {
    const auto waits = [](const client_state& me) { return me.now == phase::waiting; };
    if (std::none_of(s.client.begin(), s.client.end(), waits)) return;
    const auto is_used = [&](const state& at) {
        if (at.server.owner == 0) return false;
        const auto& me = at.client[client_of(at.server.owner)];
        return is_alive(me) && me.now != phase::over &&
               owner_of(client_of(at.server.owner), me) == at.server.owner;
    };
    if (is_used(s) && s.client[client_of(s.server.owner)].now == phase::holding) return;
    auto later = s;
    for (std::size_t round = 0; round <= clients * owners_each; ++round) {
        if (!is_used(later)) later.server.owner = later.server.claimed = 0;
        for (std::uint8_t c = 0; c < clients; ++c) {
            if (waits(later.client[c])) look(later, c);
            exchange_all(later, c);
            if (broken_ || later.client[c].now == phase::holding) return;
        }
    }
    fail("liveness: somebody waits, and nobody gets the lock by looking");
}

void rules::exchange_all(state& s, std::uint8_t c) {
    auto& l = s.net[c];
    for (int most = 16; most > 0 && !(l.up.empty() && l.down.empty()); --most) {
        if (!l.up.empty()) {
            deliver(s, c, l.up.pop(), true);
        } else {
            read(s, c, l.down.pop());
        }
    }
}

}  // namespace holdfast::sim::in_line
