#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "core/acquire.hpp"
#include "unit/core_helpers.hpp"

/// Two clients, each of which acquires the same key twice, on three nodes with nothing in them but
/// an owner and a counter. Every request and answer is under way until the schedule moves it, loses
/// it or gives it up for unknown, and a key may expire at any time: fencing assumes nothing of
/// time.
namespace holdfast::core {

struct fencing_rules {
    bool commit_checks_owner = true;
    bool commit_raises_counter = true;
};

class fencing_model {
  public:
    /// Returns a number in [0, options).
    using chooser = std::function<std::size_t(std::size_t options)>;

    explicit fencing_model(fencing_rules rules, std::vector<std::uint64_t> counters)
        : rules_(rules) {
        for (const auto counter : counters) nodes_.push_back({.owner = 0, .counter = counter});
        for (auto& who : clients_) who.lines.resize(nodes_.size());
    }

    /// Takes steps until nothing can happen any more, or the schedule ends it.
    void run(const chooser& choose, int most_steps) {
        for (; now_ < most_steps; ++now_) {
            const auto options = enabled();
            if (options.empty()) return;
            take(options[choose(options.size())]);
        }
    }

    /// Two holders with one token, or a later one with a smaller token.
    [[nodiscard]] bool violated() const {
        for (const auto& one : holders_) {
            for (const auto& other : holders_) {
                if (&one == &other) continue;
                if (one.token == other.token) return true;
                if (one.held_at < other.started_at && one.token > other.token) return true;
            }
        }
        return false;
    }
    [[nodiscard]] std::size_t holders() const { return holders_.size(); }

  private:
    using owner_id = int;  // one for every attempt; zero: nobody

    struct server {
        owner_id owner;
        std::uint64_t counter;
    };
    enum class kind { acquire, commit, release };
    struct request {
        kind what;
        owner_id owner;
        fencing_token token{};
        bool given_up = false;
        std::optional<acquire::event> answer{};  // once the node has run it
        bool run = false;
    };
    struct client {
        std::optional<acquire> attempt{};
        owner_id owner = 0;
        int started_at = 0;
        int attempts_left = 2;
        std::vector<std::deque<request>> lines{};  // one connection for each node
    };
    struct holder {
        fencing_token token;
        int started_at;
        int held_at;
    };
    enum class move { start, release, run, answer, give_up, lose, expire };
    struct option {
        move what;
        std::size_t client = 0;
        std::size_t node = 0;
    };

    [[nodiscard]] std::vector<option> enabled() const {
        std::vector<option> result;
        for (std::size_t c = 0; c < clients_.size(); ++c) {
            enabled_for(c, result);
            for (std::size_t n = 0; n < nodes_.size(); ++n) enabled_on_line(c, n, result);
        }
        if (result.empty()) return result;
        for (std::size_t n = 0; n < nodes_.size(); ++n) {
            if (nodes_[n].owner != 0) result.push_back({move::expire, 0, n});
        }
        return result;
    }
    void enabled_for(std::size_t c, std::vector<option>& result) const {
        const auto& who = clients_[c];
        const bool busy = who.attempt && !who.attempt->decided();
        const bool holds = who.attempt && who.attempt->current() == acquire::state::held;
        if (holds) result.push_back({move::release, c});
        if (!busy && !holds && who.attempts_left > 0) result.push_back({move::start, c});
    }
    void enabled_on_line(std::size_t c, std::size_t n, std::vector<option>& result) const {
        const auto& line = clients_[c].lines[n];
        const auto next = std::ranges::find(line, false, &request::run);
        // Eight times, so that most schedules come to something.
        if (next != line.end()) result.insert(result.end(), 8, {move::run, c, n});
        if (line.empty()) return;
        if (line.front().run) result.insert(result.end(), 8, {move::answer, c, n});
        if (!line.front().given_up) result.push_back({move::give_up, c, n});
        result.push_back({move::lose, c, n});
    }

    void take(const option& chosen) {
        auto& who = clients_[chosen.client];
        switch (chosen.what) {
            case move::start: return start(who);
            case move::release: return release(who);
            case move::run: return run_next(who.lines[chosen.node], nodes_[chosen.node]);
            case move::answer: return answer(who, chosen.node);
            case move::give_up: return give_up(who, chosen.node);
            case move::lose: return lose(who, chosen.node);
            case move::expire: nodes_[chosen.node].owner = 0; return;
        }
    }

    void start(client& who) {
        --who.attempts_left;
        who.owner = ++newest_owner_;
        who.started_at = now_;
        who.attempt.emplace(
            acquire::config{.nodes = nodes_.size(), .timing = {.ttl = std::chrono::hours(1)}});
        perform(who, who.attempt->start(at({})));
    }
    void release(client& who) {
        perform(who, {.release_on = node_set::first(nodes_.size())});
        who.attempt.reset();
        who.owner = 0;
    }

    void perform(client& who, const acquire::actions& todo) {
        todo.acquire_on.for_each([&](node_index n) {
            who.lines[n.value].push_back({kind::acquire, who.owner});
        });
        todo.commit_on.for_each([&](node_index n) {
            who.lines[n.value].push_back({kind::commit, who.owner, todo.commit});
        });
        todo.release_on.for_each([&](node_index n) {
            who.lines[n.value].push_back({kind::release, who.owner});
        });
        if (todo.decided && who.attempt->outcome() == acquire::verdict::held) {
            holders_.push_back({who.attempt->token(), who.started_at, now_});
        }
    }

    /// What the scripts do.
    void run_next(std::deque<request>& line, server& at_node) {
        auto& next = *std::ranges::find(line, false, &request::run);
        next.run = true;
        const auto where = node(static_cast<std::size_t>(&at_node - nodes_.data()));
        if (next.what == kind::release) {
            if (at_node.owner == next.owner) at_node.owner = 0;
        } else if (next.what == kind::acquire) {
            if (at_node.owner != 0) {
                next.answer = acquire::denied{where};
                return;
            }
            at_node.owner = next.owner;
            next.answer = acquire::granted{where, token(++at_node.counter)};
        } else if (rules_.commit_checks_owner && at_node.owner != next.owner) {
            next.answer = acquire::disowned{where};
        } else {
            if (rules_.commit_raises_counter) {
                at_node.counter = std::max(at_node.counter, next.token.value);
            }
            next.answer = acquire::committed{where, next.token};
        }
    }

    void answer(client& who, std::size_t n) {
        const auto done = who.lines[n].front();
        who.lines[n].pop_front();
        if (done.answer) tell(who, done, *done.answer);
    }
    void give_up(client& who, std::size_t n) {
        auto& late = who.lines[n].front();
        late.given_up = true;
        tell(who, late, acquire::unknown{node(n)});
    }
    /// The request never arrives, or its answer does not.
    void lose(client& who, std::size_t n) {
        const auto gone = who.lines[n].front();
        who.lines[n].pop_front();
        if (!gone.given_up) tell(who, gone, acquire::unknown{node(n)});
    }
    void tell(client& who, request about, const acquire::event& happened) {
        if (about.what == kind::release || about.owner != who.owner) return;
        perform(who, who.attempt->step(happened, at({})));
    }

    fencing_rules rules_;
    std::vector<server> nodes_{};
    std::vector<client> clients_{2};
    std::vector<holder> holders_{};
    owner_id newest_owner_ = 0;
    int now_ = 0;
};

}  // namespace holdfast::core
