#include "sim/explore/small_leaps.hpp"

#include <algorithm>

namespace holdfast::sim::small {
namespace {

using phase = client_state::phase;

// Whether the node can have something to say that the client would hear.
bool may_answer(const state& s, std::uint8_t c, std::uint8_t n) {
    const auto& me = s.client[c];
    if (me.now == phase::idle) return false;
    const auto& l = s.link[c][n];
    const auto owner = rules::owner_of(c, me);
    return !l.down.empty() || std::any_of(l.up.begin(), l.up.end(), [&](const asked& a) {
        return a.owner == owner && a.what != operation::release;
    });
}

}  // namespace

leaps::place leaps::take(const state& s, std::uint8_t n) {
    place p;
    p.node = s.node[n];
    for (std::uint8_t c = 0; c < clients; ++c) p.link[c] = s.link[c][n];
    p.expiries = s.expiries;
    return p;
}

void leaps::put(state& s, std::uint8_t n, const place& what) {
    s.node[n] = what.node;
    for (std::uint8_t c = 0; c < clients; ++c) s.link[c][n] = what.link[c];
    s.expiries = what.expiries;
}

void leaps::emit(state s, const step& last) {
    rules_.apply(s, last);
    rules::tidy(s);
    path_.push_back(last);
    visit_(s, path_);
    path_.pop_back();
}

std::vector<leaps::visit_to> leaps::ways_to_answer(const state& s, std::uint8_t c, std::uint8_t n) {
    std::vector<visit_to> seen{{take(s, n), {}}};
    std::vector<visit_to> answers;
    state scratch = s;
    std::vector<step> possible;
    for (std::size_t i = 0; i < seen.size(); ++i) {
        put(scratch, n, seen[i].at);
        possible.clear();
        for (std::uint8_t from = 0; from < clients; ++from) {
            rules_.link_steps(scratch, from, n, possible);
        }
        rules_.node_steps(scratch, n, possible);
        for (const auto& next : possible) {
            put(scratch, n, seen[i].at);
            rules_.apply(scratch, next);
            for (std::uint8_t from = 0; from < clients; ++from) rules::tidy(scratch, from, n);
            visit_to there{take(scratch, n), {}};
            const auto known = [&](const visit_to& v) { return v.at == there.at; };
            auto& into = there.at.link[c].down.empty() ? seen : answers;
            if (std::any_of(into.begin(), into.end(), known)) continue;
            there.path = seen[i].path;
            there.path.push_back(next);
            into.push_back(std::move(there));
        }
    }
    return answers;
}

template <typename Then>
void leaps::with_answer(const state& s, std::uint8_t c, std::uint8_t n, Then&& then) {
    if (!may_answer(s, c, n)) return;
    if (!s.link[c][n].down.empty()) return then(s);
    const auto before = path_.size();
    state after = s;
    for (const auto& way : ways_to_answer(s, c, n)) {
        put(after, n, way.at);
        path_.insert(path_.end(), way.path.begin(), way.path.end());
        then(after);
        path_.resize(before);
    }
}

// The answers before the acting one are read from the lower nodes first: one order is enough.
void leaps::read_until_acting(const state& s, std::uint8_t c, std::uint8_t least) {
    for (std::uint8_t n = 0; n < nodes; ++n) {
        with_answer(s, c, n, [&](const state& answered) {
            const step read{step::kind::answer, c, n};
            state after = answered;
            rules_.apply(after, read);
            path_.push_back(read);
            if (rules_.acted()) {
                rules::tidy(after);
                visit_(after, path_);
            } else if (n >= least) {
                read_until_acting(after, c, n);
            }
            path_.pop_back();
        });
    }
}

template <typename Then>
void leaps::read_quietly(const state& s, std::uint8_t c, std::uint8_t n, Then&& then) {
    with_answer(s, c, n, [&](const state& answered) {
        const step read{step::kind::answer, c, n};
        state after = answered;
        rules_.apply(after, read);
        if (rules_.acted()) return;
        path_.push_back(read);
        then(after);
        path_.pop_back();
    });
}

void leaps::lose_after_reading(const state& s, std::uint8_t c, std::uint8_t n) {
    if (rules_.may_lose(s, c, n)) emit(s, {step::kind::lose, c, n});
    read_quietly(s, c, n, [&](const state& after) { lose_after_reading(after, c, n); });
}

void leaps::crash_after_reading(const state& s, std::uint8_t n) {
    emit(s, {step::kind::crash, 0, n});
    for (std::uint8_t c = 0; c < clients; ++c) {
        read_quietly(s, c, n, [&](const state& after) { crash_after_reading(after, n); });
    }
}

void leaps::from(const state& s) {
    path_.clear();
    std::vector<step> own;
    for (std::uint8_t c = 0; c < clients; ++c) {
        own.clear();
        rules_.client_steps(s, c, own);
        for (const auto& next : own) emit(s, next);
        read_until_acting(s, c, 0);
        const bool finished = s.client[c].now == phase::idle && !rules_.may_start(s, c);
        for (std::uint8_t n = 0; n < nodes && !finished; ++n) lose_after_reading(s, c, n);
    }
    for (std::uint8_t n = 0; n < nodes && rules_.may_crash(s); ++n) crash_after_reading(s, n);
}

}  // namespace holdfast::sim::small
