#include "sim/explorer.hpp"

#include <algorithm>

#include "sim/fingerprints.hpp"
#include "sim/small_world.hpp"

namespace holdfast::sim {
namespace {

using namespace small;
using phase = client_state::phase;

constexpr core::time_point begun_at{};
constexpr core::timing timing{.ttl = std::chrono::seconds(1)};

/// One step that can be taken from a state.
struct step {
    enum class kind : std::uint8_t {
        start,
        release,
        grow_old,
        deliver,
        deliver_stray,
        answer,
        lose,
        expire,
        crash,
        readmit
    };
    kind what{};
    std::uint8_t client = 0;
    std::uint8_t node = 0;
};

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

class search {
  public:
    explicit search(const small_case& what) : what_(what) {}

    search_result run() {
        visit(state{});
        return std::move(result_);
    }

  private:
    struct frame {
        state at;
        std::vector<step> left;
        step taken{};
    };

    void visit(const state& first) {
        stack_.push_back({first, steps_from(first), {}});
        ++result_.states;
        seen_.insert(first);
        while (!stack_.empty() && !result_.broken) {
            if (stack_.back().left.empty()) {
                stack_.pop_back();
                continue;
            }
            const auto next = stack_.back().left.back();
            stack_.back().left.pop_back();
            take(next);
        }
    }

    void take(const step& next) {
        state after = stack_.back().at;
        ++result_.transitions;
        apply(after, next);
        if (result_.broken) return tell(next);
        tidy(after);
        if (!seen_.insert(after)) return;
        if (++result_.states >= what_.most_states) {
            result_.complete = false;
            return stack_.clear();
        }
        stack_.push_back({after, steps_from(after), next});
    }

    void tell(const step& last) {
        for (std::size_t i = 1; i < stack_.size(); ++i) {
            result_.story.push_back(to_string(stack_[i].taken));
        }
        result_.story.push_back(to_string(last));
    }

    // Which steps are possible.
    [[nodiscard]] std::vector<step> steps_from(const state& s) const {
        std::vector<step> all;
        for (std::uint8_t c = 0; c < clients; ++c) {
            client_steps(s, c, all);
            for (std::uint8_t n = 0; n < nodes; ++n) link_steps(s, c, n, all);
        }
        for (std::uint8_t n = 0; n < nodes; ++n) node_steps(s, n, all);
        return all;
    }

    void client_steps(const state& s, std::uint8_t c, std::vector<step>& all) const {
        const auto& me = s.client[c];
        const auto begun = s.client[0].begun + s.client[1].begun;
        if (me.now == phase::idle && me.begun < attempts_each && begun < what_.attempts) {
            all.push_back({step::kind::start, c});
        }
        if (me.now == phase::holding) all.push_back({step::kind::release, c});
        if (what_.timed && me.now != phase::idle && me.overdue == 0) {
            all.push_back({step::kind::grow_old, c});
        }
    }

    void link_steps(const state& s, std::uint8_t c, std::uint8_t n, std::vector<step>& all) const {
        const auto& l = s.link[c][n];
        if (!l.up.empty()) all.push_back({step::kind::deliver, c, n});
        if (!l.stray.empty()) all.push_back({step::kind::deliver_stray, c, n});
        if (!l.down.empty()) all.push_back({step::kind::answer, c, n});
        const bool busy = !l.up.empty() || !l.down.empty();
        if (busy && s.losses < what_.losses) all.push_back({step::kind::lose, c, n});
    }

    void node_steps(const state& s, std::uint8_t n, std::vector<step>& all) const {
        const auto& at = s.node[n];
        const bool may_expire = at.owner != 0 && (!what_.timed || is_over(s, at.owner));
        if (may_expire && s.expiries < what_.expiries) all.push_back({step::kind::expire, 0, n});
        if (s.crashes < what_.crashes) all.push_back({step::kind::crash, 0, n});
        if (at.quarantined == 0) return;
        bool over = true;
        for (std::uint8_t who = 1; what_.timed && who <= attempts; ++who) {
            over = over && ((at.waits_for >> (who - 1U) & 1U) == 0 || is_over(s, who));
        }
        if (over) all.push_back({step::kind::readmit, 0, n});
    }

    // Attempts are numbered from 1: the client's first two, then the other's.
    static std::uint8_t owner_of(std::size_t c, const client_state& me) {
        return static_cast<std::uint8_t>(1 + c * attempts_each + me.begun - 1);
    }
    static bool is_over(const state& s, std::uint8_t owner) {
        const auto c = (owner - 1U) / attempts_each;
        const auto& me = s.client[c];
        return me.begun == 0 || owner_of(c, me) != owner || me.now == phase::idle ||
               me.overdue != 0;
    }
    static core::time_point now_of(const client_state& me) {
        return me.overdue != 0 ? begun_at + timing.ttl : begun_at + core::duration{1};
    }

    void apply(state& s, const step& next) {
        const auto c = next.client;
        const auto n = next.node;
        auto& me = s.client[c];
        auto& l = s.link[c][n];
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

    // Drops what can no longer change anything, so that states that differ in nothing else are one.
    // A release or a commit finds another owner, now and for ever, once its attempt's request to
    // the node is no longer under way; who holds ignores every answer but a late grant.
    static void tidy(state& s) {
        for (std::uint8_t c = 0; c < clients; ++c) {
            for (std::uint8_t n = 0; n < nodes; ++n) tidy(s, c, n);
        }
    }

    static void tidy(state& s, std::uint8_t c, std::uint8_t n) {
        auto& l = s.link[c][n];
        const auto acquires = [](std::uint8_t owner) {
            return [owner](const asked& a) {
                return a.what == operation::acquire && a.owner == owner;
            };
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
        l.down.drop_if([](const reply& r) { return r.what != operation::acquire || r.code != 1; });
    }

    void start(state& s, std::uint8_t c) {
        auto& me = s.client[c];
        ++me.begun;
        me.now = phase::attempting;
        me.overdue = 0;
        me.machine.emplace(core::acquire::config{.nodes = nodes, .timing = timing});
        s.floor[owner_of(c, me) - 1U] = *std::max_element(s.token.begin(), s.token.end());
        carry_out(s, c, me.machine->start(begun_at));
    }

    void release(state& s, std::uint8_t c) {
        send_releases(s, c, core::node_set::first(nodes));
        finish(s, c);
    }

    void send_releases(state& s, std::uint8_t c, core::node_set where) {
        const auto owner = owner_of(c, s.client[c]);
        where.for_each([&](core::node_index n) {
            s.link[c][n.value].up.push({operation::release, owner, 0});
        });
    }

    // Nobody listens to the rest of the answers: forgetting them makes equal states equal.
    static void finish(state& s, std::uint8_t c) {
        auto& me = s.client[c];
        me.now = phase::idle;
        me.overdue = 0;
        me.machine.clear();
        for (auto& l : s.link[c]) l.down = {};
    }

    void deliver(state& s, std::uint8_t c, std::uint8_t n, const asked& what, bool answers) {
        const auto& effect = servers_.execute(n, s.node[n], what);
        s.node[n] = effect.after;
        const auto& me = s.client[c];
        const bool listens = answers && what.what != operation::release && me.now != phase::idle &&
                             owner_of(c, me) == what.owner;
        if (listens) {
            s.link[c][n].down.push({what.what, what.owner, effect.code, 0, effect.number});
        }
    }

    void answered(state& s, std::uint8_t c, std::uint8_t n, const reply& said) {
        const core::node_index node{n};
        const core::fencing_token number{said.number};
        if (said.what == operation::acquire) {
            return said.code == 1 ? event(s, c, core::acquire::granted{node, number})
                                  : event(s, c, core::acquire::denied{node});
        }
        return said.code == 1 ? event(s, c, core::acquire::committed{node, number})
                              : event(s, c, core::acquire::disowned{node});
    }

    void event(state& s, std::uint8_t c, const core::acquire::event& happened) {
        auto& me = s.client[c];
        if (me.now == phase::idle) return;
        carry_out(s, c, me.machine->step(happened, now_of(me)));
    }

    void carry_out(state& s, std::uint8_t c, const core::acquire::actions& actions) {
        const auto owner = owner_of(c, s.client[c]);
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

    void decided(state& s, std::uint8_t c) {
        auto& me = s.client[c];
        if (me.machine->outcome() != core::acquire::verdict::held) return finish(s, c);
        me.now = phase::holding;
        const auto owner = owner_of(c, me);
        const auto token = static_cast<std::uint16_t>(me.machine->token().value);
        const bool twice = std::find(s.token.begin(), s.token.end(), token) != s.token.end();
        if (twice) result_.broken = "T2: token " + std::to_string(token) + " was given out twice";
        if (!twice && token <= s.floor[owner - 1U]) {
            result_.broken = "T2: token " + std::to_string(token) + " is not above " +
                             std::to_string(s.floor[owner - 1U]) + ", given out before";
        }
        s.token[owner - 1U] = token;
        const auto& other = s.client[1U - c];
        if (what_.timed && other.now == phase::holding && other.overdue == 0) {
            result_.broken = "T1: both clients hold the lock";
        }
    }

    void lose(state& s, std::uint8_t c, std::uint8_t n) {
        ++s.losses;
        auto& l = s.link[c][n];
        std::size_t unanswered = 0;
        const auto& me = s.client[c];
        const auto mine = [&](const auto& r) {
            return me.now != phase::idle && r.what != operation::release &&
                   r.owner == owner_of(c, me);
        };
        for (const auto& r : l.down) unanswered += mine(r) ? 1U : 0U;
        for (const auto& r : l.up) unanswered += mine(r) ? 1U : 0U;
        while (!l.up.empty()) l.stray.push(l.up.pop());
        l.down = {};
        for (; unanswered > 0; --unanswered) {
            event(s, c, core::acquire::unknown{core::node_index{n}});
        }
    }

    void crash(state& s, std::uint8_t n) {
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

    small_case what_;
    servers servers_;
    fingerprints seen_;
    std::vector<frame> stack_;
    search_result result_;
};

}  // namespace

search_result explore(const small_case& what) { return search(what).run(); }

}  // namespace holdfast::sim
