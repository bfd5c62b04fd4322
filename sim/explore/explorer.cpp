#include "sim/explore/explorer.hpp"

#include <atomic>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "sim/explore/canonical.hpp"
#include "sim/explore/fingerprints.hpp"
#include "sim/explore/small_leaps.hpp"

namespace holdfast::sim {
namespace {

using namespace small;

std::uint64_t print_of_all(const state& s) {
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

/// A state whose successors nobody has looked at, and the way to it.
struct open_state {
    state at;
    std::vector<step> path;
};

/// What the threads of a search share.
struct shared {
    explicit shared(const small_case& of, const search_progress& told) : what(of), progress(told) {}

    const small_case what;
    const search_progress& progress;
    fingerprints seen;
    std::atomic<std::uint64_t> states{0};
    std::atomic<std::uint64_t> transitions{0};
    fingerprints classes;
    std::atomic<bool> stopped{false};
    std::atomic<unsigned> hungry{0};  // threads with nothing to do

    std::mutex mutex;
    std::condition_variable changed;
    std::vector<open_state> given_away;
    search_result result;
};

/// One thread of the search, depth first. It gives of its own to those that have nothing to do.
class searcher {
  public:
    explicit searcher(shared& with)
        : shared_(with),
          what_(with.what),
          rules_(what_),
          leaps_(rules_, [this](const state& s, const std::vector<step>& way) { found(s, way); }) {}

    void run() {
        while (fetch()) {
            while (!stack_.empty() && !shared_.stopped) {
                expand();
                if (shared_.hungry != 0 && stack_.size() > 1) give();
            }
            account();
        }
    }

  private:
    // Waits for work. Returns false once nobody has any.
    bool fetch() {
        std::unique_lock held(shared_.mutex);
        ++shared_.hungry;
        shared_.changed.notify_all();
        shared_.changed.wait(held, [&] {
            return shared_.stopped || !shared_.given_away.empty() || shared_.hungry == what_.jobs;
        });
        if (shared_.stopped || shared_.given_away.empty()) {
            shared_.changed.notify_all();
            return false;
        }
        --shared_.hungry;
        stack_.push_back(std::move(shared_.given_away.back()));
        shared_.given_away.pop_back();
        return true;
    }

    // The oldest has the most to do behind it.
    void give() {
        const std::scoped_lock held(shared_.mutex);
        if (!shared_.given_away.empty()) return;
        shared_.given_away.push_back(std::move(stack_.front()));
        stack_.erase(stack_.begin());
        shared_.changed.notify_one();
    }

    void expand() {
        const auto next = std::move(stack_.back());
        stack_.pop_back();
        path_ = next.path;
        if (what_.by == reduction::plain) {
            for (const auto& one : rules_.steps_from(next.at)) {
                state after = next.at;
                rules_.apply(after, one);
                rules::tidy(after);
                found(after, {one});
            }
        } else {
            leaps_.from(next.at);
        }
        if (++expanded_ % 4096 == 0) account();
    }

    void found(const state& s, const std::vector<step>& way) {
        ++transitions_;
        if (shared_.stopped) return;
        if (what_.compares) note(s);
        if (rules_.broken()) return tell(way);
        if (what_.by == reduction::full && rules_.is_settled(s)) return;
        const auto print = what_.by == reduction::full ? canonical_print(s) : print_of_all(s);
        if (!shared_.seen.insert(print)) return;
        if (++shared_.states >= what_.most_states) return give_up();
        auto path = path_;
        path.insert(path.end(), way.begin(), way.end());
        stack_.push_back({s, std::move(path)});
    }

    void note(const state& s) {
        const bool counts = what_.by != reduction::plain && !rules_.is_settled(s);
        if (counts) shared_.classes.insert(canonical_print(s));
        if (!rules_.acquired()) return;
        const std::scoped_lock held(shared_.mutex);
        shared_.result.acquired.insert(*rules_.acquired());
    }

    void give_up() {
        const std::scoped_lock held(shared_.mutex);
        shared_.result.complete = false;
        stop();
    }

    void tell(const std::vector<step>& way) {
        const std::scoped_lock held(shared_.mutex);
        if (shared_.result.broken) return;
        shared_.result.broken = rules_.broken();
        for (const auto& each : path_) shared_.result.story.push_back(to_string(each));
        for (const auto& each : way) shared_.result.story.push_back(to_string(each));
        stop();
    }

    void stop() {
        shared_.stopped = true;
        shared_.changed.notify_all();
    }

    void account() {
        shared_.transitions += std::exchange(transitions_, 0);
        if (!shared_.progress) return;
        const std::scoped_lock held(shared_.mutex);
        shared_.progress(shared_.states, shared_.transitions);
    }

    shared& shared_;
    const small_case& what_;
    rules rules_;
    leaps leaps_;
    std::vector<open_state> stack_;
    std::vector<step> path_;
    std::uint64_t transitions_ = 0;
    std::uint64_t expanded_ = 0;
};

}  // namespace

search_result explore(const small_case& what, const search_progress& progress) {
    shared all(what, progress);
    all.given_away.push_back({});
    all.states = 1;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < what.jobs; ++i) {
        threads.emplace_back([&] { searcher(all).run(); });
    }
    for (auto& each : threads) each.join();
    all.result.states = all.states;
    all.result.transitions = all.transitions;
    all.result.classes = all.classes.size() + 1;
    return std::move(all.result);
}

}  // namespace holdfast::sim
