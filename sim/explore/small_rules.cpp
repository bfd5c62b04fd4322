#include "sim/explore/small_rules.hpp"

#include <algorithm>

namespace holdfast::sim::small {
namespace {

using phase = client_state::phase;

constexpr core::time_point begun_at{};
constexpr core::timing timing{.ttl = std::chrono::seconds(1)};

// One object for all: what lies between the members is then the same in each.
const plain<core::acquire>& fresh_machine() {
    static const auto machine = [] {
        plain<core::acquire> fresh;
        fresh.emplace(core::acquire::config{.nodes = nodes, .timing = timing});
        return fresh;
    }();
    return machine;
}

core::time_point now_of(const client_state& me) {
    return me.overdue != 0 ? begun_at + timing.ttl : begun_at + core::duration{1};
}

}  // namespace

std::string to_string(const step& s) {
    const auto c = "client " + std::to_string(s.client);
    const auto n = "node " + std::to_string(s.node);
    switch (s.what) {
        case step::kind::start: return c + " starts an attempt";
        case step::kind::release: return c + " releases";
        case step::kind::grow_old: return "the validity of " + c + " is over";
        case step::kind::deliver: return n + " gets the next request of " + c;
        case step::kind::deliver_stray: return n + " gets a request of an old connection of " + c;
        case step::kind::answer: return c + " gets the next answer of " + n;
        case step::kind::lose: return "the connection of " + c + " to " + n + " breaks";
        case step::kind::expire: return "the key on " + n + " expires";
        case step::kind::crash: return n + " crashes and loses everything";
        case step::kind::readmit: return "the quarantine of " + n + " is over";
    }
    return "?";
}

std::vector<step> rules::steps_from(const state& s) const {
    std::vector<step> all;
    for (std::uint8_t c = 0; c < clients; ++c) {
        client_steps(s, c, all);
        for (std::uint8_t n = 0; n < nodes; ++n) {
            link_steps(s, c, n, all);
            if (!s.link[c][n].down.empty()) all.push_back({step::kind::answer, c, n});
            if (may_lose(s, c, n)) all.push_back({step::kind::lose, c, n});
        }
    }
    for (std::uint8_t n = 0; n < nodes; ++n) {
        node_steps(s, n, all);
        if (may_crash(s)) all.push_back({step::kind::crash, 0, n});
    }
    return all;
}

bool rules::may_start(const state& s, std::uint8_t c) const {
    const auto& me = s.client[c];
    return me.now == phase::idle && me.begun < attempts_each &&
           s.client[0].begun + s.client[1].begun < what_.attempts;
}

void rules::client_steps(const state& s, std::uint8_t c, std::vector<step>& all) const {
    const auto& me = s.client[c];
    if (may_start(s, c)) all.push_back({step::kind::start, c});
    if (me.now == phase::holding) all.push_back({step::kind::release, c});
    if (what_.timed && me.now != phase::idle && me.overdue == 0) {
        all.push_back({step::kind::grow_old, c});
    }
}

void rules::link_steps(const state& s, std::uint8_t c, std::uint8_t n,
                       std::vector<step>& all) const {
    const auto& l = s.link[c][n];
    if (!l.up.empty()) all.push_back({step::kind::deliver, c, n});
    if (!l.stray.empty()) all.push_back({step::kind::deliver_stray, c, n});
}

bool rules::may_lose(const state& s, std::uint8_t c, std::uint8_t n) const {
    const auto& l = s.link[c][n];
    return s.losses < what_.losses && (!l.up.empty() || !l.down.empty());
}

void rules::node_steps(const state& s, std::uint8_t n, std::vector<step>& all) const {
    const auto& at = s.node[n];
    const bool may_expire = at.owner != 0 && (!what_.timed || is_over(s, at.owner));
    if (may_expire && s.expiries < what_.expiries) all.push_back({step::kind::expire, 0, n});
    if (at.quarantined == 0) return;
    bool over = true;
    for (std::uint8_t who = 1; what_.timed && who <= attempts; ++who) {
        over = over && ((at.waits_for >> (who - 1U) & 1U) == 0 || is_over(s, who));
    }
    if (over) all.push_back({step::kind::readmit, 0, n});
}

bool rules::is_settled(const state& s) const {
    for (std::uint8_t c = 0; c < clients; ++c) {
        if (s.client[c].now == phase::attempting) return false;
        const bool may_begin = s.client[c].begun < attempts_each;
        if (may_begin && s.client[0].begun + s.client[1].begun < what_.attempts) return false;
    }
    return true;
}

bool rules::is_over(const state& s, std::uint8_t owner) {
    const auto c = (owner - 1U) / attempts_each;
    const auto& me = s.client[c];
    return me.begun == 0 || owner_of(c, me) != owner || me.now == phase::idle || me.overdue != 0;
}
void rules::apply(state& s, const step& next) {
    const auto c = next.client;
    const auto n = next.node;
    auto& me = s.client[c];
    auto& l = s.link[c][n];
    acted_ = false;
    broken_.reset();
    acquired_.reset();
    switch (next.what) {
        case step::kind::start: return start(s, c);
        case step::kind::release: return release(s, c);
        case step::kind::grow_old: me.overdue = 1; return;
        case step::kind::deliver: return deliver(s, c, n, l.up.pop(), true);
        case step::kind::deliver_stray: return deliver(s, c, n, l.stray.pop(), false);
        case step::kind::answer: return answered(s, c, n, l.down.pop());
        case step::kind::lose: return lose(s, c, n);
        case step::kind::expire:
            ++s.expiries;
            s.node[n].owner = 0;
            return;
        case step::kind::crash: return crash(s, n);
        case step::kind::readmit:
            s.node[n].quarantined = 0;
            s.node[n].waits_for = 0;
            return;
    }
}

void rules::tidy(state& s) {
    for (std::uint8_t c = 0; c < clients; ++c) {
        for (std::uint8_t n = 0; n < nodes; ++n) tidy(s, c, n);
    }
}

void rules::tidy(state& s, std::uint8_t c, std::uint8_t n) {
    auto& l = s.link[c][n];
    const auto acquires = [](std::uint8_t owner) {
        return [owner](const asked& a) { return a.what == operation::acquire && a.owner == owner; };
    };
    const auto listens = [&](const asked& a) {
        const auto& me = s.client[c];
        return a.what == operation::commit && me.now == phase::attempting &&
               owner_of(c, me) == a.owner;
    };
    const auto in_vain = [&](const asked& a) {
        return a.what != operation::acquire && s.node[n].owner != a.owner &&
               std::none_of(l.up.begin(), l.up.end(), acquires(a.owner)) &&
               std::none_of(l.stray.begin(), l.stray.end(), acquires(a.owner));
    };
    l.stray.drop_if(in_vain);
    l.up.drop_if([&](const asked& a) { return !listens(a) && in_vain(a); });
    if (s.client[c].now != phase::holding) return;
    const auto token = s.client[c].machine->token().value;
    l.down.drop_if([&](const reply& r) {
        return r.what != operation::acquire || r.code != 1 || r.number >= token;
    });
}

void rules::start(state& s, std::uint8_t c) {
    auto& me = s.client[c];
    ++me.begun;
    me.now = phase::attempting;
    me.overdue = 0;
    me.machine = fresh_machine();
    s.floor[owner_of(c, me) - 1U] = *std::max_element(s.token.begin(), s.token.end());
    carry_out(s, c, me.machine->start(begun_at));
}

void rules::release(state& s, std::uint8_t c) {
    send_releases(s, c, core::node_set::first(nodes));
    finish(s, c);
}

void rules::send_releases(state& s, std::uint8_t c, core::node_set where) {
    const auto owner = owner_of(c, s.client[c]);
    where.for_each([&](core::node_index n) {
        s.link[c][n.value].up.push({operation::release, owner, 0});
    });
}

// Nobody listens to the rest of the answers: forgetting them makes equal states equal.
void rules::finish(state& s, std::uint8_t c) {
    auto& me = s.client[c];
    me.now = phase::idle;
    me.overdue = 0;
    me.machine.clear();
    for (auto& l : s.link[c]) l.down = {};
}

void rules::deliver(state& s, std::uint8_t c, std::uint8_t n, const asked& what, bool answers) {
    const auto effect = servers_.execute(n, s.node[n], what);
    s.node[n] = effect.after;
    const auto& me = s.client[c];
    const bool listens = answers && what.what != operation::release && me.now != phase::idle &&
                         owner_of(c, me) == what.owner;
    if (listens) {
        s.link[c][n].down.push({what.what, what.owner, effect.code, 0, effect.number});
    }
}

void rules::answered(state& s, std::uint8_t c, std::uint8_t n, const reply& said) {
    const core::node_index node{n};
    const core::fencing_token number{said.number};
    if (said.what == operation::acquire) {
        return said.code == 1 ? event(s, c, core::acquire::granted{node, number})
                              : event(s, c, core::acquire::denied{node});
    }
    return said.code == 1 ? event(s, c, core::acquire::committed{node, number})
                          : event(s, c, core::acquire::disowned{node});
}

void rules::event(state& s, std::uint8_t c, const core::acquire::event& happened) {
    auto& me = s.client[c];
    if (me.now == phase::idle) return;
    carry_out(s, c, me.machine->step(happened, now_of(me)));
}

void rules::carry_out(state& s, std::uint8_t c, const core::acquire::actions& actions) {
    const auto owner = owner_of(c, s.client[c]);
    acted_ = acted_ || actions != core::acquire::actions{};
    actions.acquire_on.for_each([&](core::node_index n) {
        s.link[c][n.value].up.push({operation::acquire, owner, 0});
    });
    actions.commit_on.for_each([&](core::node_index n) {
        const auto token = static_cast<std::uint16_t>(actions.commit.value);
        s.link[c][n.value].up.push({operation::commit, owner, token});
    });
    send_releases(s, c, actions.release_on);
    if (actions.decided) decided(s, c);
}

void rules::decided(state& s, std::uint8_t c) {
    auto& me = s.client[c];
    if (me.machine->outcome() != core::acquire::verdict::held) return finish(s, c);
    me.now = phase::holding;
    const auto token = static_cast<std::uint16_t>(me.machine->token().value);
    check(s, c, token);
    s.token[owner_of(c, me) - 1U] = token;
}

void rules::check(const state& s, std::uint8_t c, std::uint16_t token) {
    const auto owner = owner_of(c, s.client[c]);
    const auto floor = s.floor[owner - 1U];
    const auto& other = s.client[1U - c];
    const bool other_holds = other.now == phase::holding && other.overdue == 0;
    if (std::find(s.token.begin(), s.token.end(), token) != s.token.end()) {
        broken_ = "T2: token " + std::to_string(token) + " was given out twice";
    } else if (token <= floor) {
        broken_ = "T2: token " + std::to_string(token) + " is not above " + std::to_string(floor) +
                  ", given out before";
    }
    if (what_.timed && other_holds) broken_ = "T1: both clients hold the lock";
    acquired_ = {.token = s.token,
                 .floor = s.floor,
                 .begun = {static_cast<std::uint8_t>(s.client[0].begun),
                           static_cast<std::uint8_t>(s.client[1].begun)},
                 .owner = owner,
                 .other_holds = other_holds};
    acquired_->token[owner - 1U] = token;
}

void rules::lose(state& s, std::uint8_t c, std::uint8_t n) {
    ++s.losses;
    auto& l = s.link[c][n];
    std::size_t unanswered = 0;
    const auto& me = s.client[c];
    const auto mine = [&](const auto& r) {
        return me.now != phase::idle && r.what != operation::release && r.owner == owner_of(c, me);
    };
    for (const auto& r : l.down) unanswered += mine(r) ? 1U : 0U;
    for (const auto& r : l.up) unanswered += mine(r) ? 1U : 0U;
    while (!l.up.empty()) l.stray.push(l.up.pop());
    l.down = {};
    for (; unanswered > 0; --unanswered) {
        event(s, c, core::acquire::unknown{core::node_index{n}});
    }
}

void rules::crash(state& s, std::uint8_t n) {
    ++s.crashes;
    auto& at = s.node[n];
    std::uint8_t running = 0;
    for (std::uint8_t who = 1; who <= attempts; ++who) {
        if (!is_over(s, who)) running |= static_cast<std::uint8_t>(1U << (who - 1U));
    }
    at = {.owner = 0,
          .life = static_cast<std::uint8_t>(at.life + 1),
          .quarantined = 1,
          .waits_for = running,
          .counter = 0};
    for (std::uint8_t c = 0; c < clients; ++c) {
        s.link[c][n].stray = {};
        const auto before = s.losses;
        lose(s, c, n);
        s.losses = before;
        s.link[c][n].stray = {};
    }
}

}  // namespace holdfast::sim::small
