#include <algorithm>
#include <bit>

#include "sim/explore/fingerprints.hpp"
#include "sim/explore/queue_rules.hpp"

namespace holdfast::sim::in_line {
namespace {

std::uint64_t print_of(const state& s) {
    static_assert(sizeof(state) % 8 == 0);
    std::uint64_t hash = 0x9e3779b97f4a7c15U;
    for (std::size_t i = 0; i < sizeof s; i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, reinterpret_cast<const unsigned char*>(&s) + i, 8);
        hash = (hash ^ word) * 0xff51afd7ed558ccdU;
        hash = std::rotl(hash ^ hash >> 32U, 29) * 0xc4ceb9fe1a85ec53U;
    }
    return hash ^ hash >> 29U;
}

using naming = std::array<std::uint8_t, clients>;  // the new name of each client

std::uint8_t renamed(std::uint8_t owner, const naming& names) {
    if (owner == 0) return 0;
    return static_cast<std::uint8_t>(1 + names[client_of(owner)] * owners_each +
                                     (owner - 1U) % owners_each);
}

std::uint8_t renamed_bits(std::uint8_t bits, const naming& names) {
    unsigned result = 0;
    for (std::size_t c = 0; c < clients; ++c) result |= (bits >> c & 1U) << names[c];
    return static_cast<std::uint8_t>(result);
}

template <typename Queue>
void rename_owners(Queue& all, const naming& names) {
    Queue result;
    for (auto each : all) {
        if constexpr (std::is_integral_v<decltype(each)>) {
            each = renamed(each, names);
        } else {
            each.owner = renamed(each.owner, names);
        }
        result.push(each);
    }
    all = result;
}

state renamed(const state& s, const naming& names) {
    state result = s;
    for (std::size_t c = 0; c < clients; ++c) {
        result.client[names[c]] = s.client[c];
        result.token[names[c]] = s.token[c];
        auto& l = result.net[names[c]] = s.net[c];
        rename_owners(l.up, names);
        rename_owners(l.stray, names);
        rename_owners(l.down, names);
    }
    result.server.owner = renamed(s.server.owner, names);
    result.server.there = renamed_bits(s.server.there, names);
    result.server.half_open = renamed_bits(s.server.half_open, names);
    rename_owners(result.server.line, names);
    rename_owners(result.arrived, names);
    return result;
}

std::uint64_t canonical_print(const state& s) {
    auto least = print_of(s);
    naming names{0, 1, 2};
    while (std::next_permutation(names.begin(), names.end())) {
        least = std::min(least, print_of(renamed(s, names)));
    }
    return least;
}

/// Depth first; the way to a state is what lies below it.
class searcher {
  public:
    searcher(const small_case& what, const search_progress& progress)
        : what_(what), progress_(progress), rules_(what) {}

    search_result run() {
        enter({}, {});
        while (!stack_.empty() && !result_.broken && result_.complete) {
            auto& top = stack_.back();
            if (top.next == top.steps.size()) {
                stack_.pop_back();
                continue;
            }
            const auto taken = top.steps[top.next++];
            auto after = top.at;
            rules_.apply(after, taken);
            rules::tidy(after);
            ++result_.transitions;
            if (rules_.broken()) {
                tell(taken);
            } else {
                enter(after, taken);
            }
        }
        return std::move(result_);
    }

  private:
    struct visit {
        state at{};
        step by{};
        std::vector<step> steps{};
        std::size_t next = 0;
    };

    void enter(const state& s, const step& by) {
        if (!seen_.insert(canonical_print(s))) return;
        if (++result_.states >= what_.most_states) result_.complete = false;
        if (progress_ && result_.states % 4096 == 0) progress_(result_.states, result_.transitions);
        rules_.inspect(s);
        if (rules_.broken()) return tell(by);
        stack_.push_back({s, by, rules_.steps_from(s), 0});
    }

    void tell(const step& last) {
        result_.broken = rules_.broken();
        for (std::size_t i = 1; i < stack_.size(); ++i) {
            result_.story.push_back(to_string(stack_[i].by));
        }
        result_.story.push_back(to_string(last));
    }

    const small_case& what_;
    const search_progress& progress_;
    rules rules_;
    fingerprints seen_;
    std::vector<visit> stack_;
    search_result result_;
};

}  // namespace

search_result explore_queue(const small_case& what, const search_progress& progress) {
    return searcher(what, progress).run();
}

}  // namespace holdfast::sim::in_line
