#include "sim/explore/canonical.hpp"

#include <algorithm>
#include <bit>

#include "sim/explore/inside_acquire.hpp"

namespace holdfast::sim::inside {
template struct opened<&core::acquire::counter_, &core::acquire::commit_sent_,
                       &core::acquire::pending_>;
}

namespace holdfast::sim::small {
namespace {

using phase = client_state::phase;

constexpr std::uint8_t nobodys = 7;  // the key of an attempt that is over, with no release to come

/// A short list without memory of its own.
template <std::size_t Most>
class list {
  public:
    void push(std::uint16_t number) {
        if (count_ == Most) throw std::length_error("the small case is larger than expected");
        items_[count_++] = number;
    }
    [[nodiscard]] std::size_t size() const { return count_; }
    std::uint16_t* begin() { return items_.data(); }
    std::uint16_t* end() { return items_.data() + count_; }
    [[nodiscard]] const std::uint16_t* begin() const { return items_.data(); }
    [[nodiscard]] const std::uint16_t* end() const { return items_.data() + count_; }
    void resize(std::size_t count) { count_ = count; }
    friend bool operator<(const list& a, const list& b) {
        return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }

  private:
    std::array<std::uint16_t, Most> items_;
    std::size_t count_ = 0;
};

class reader {
  public:
    explicit reader(const state& s) : s_(s) {
        for (std::uint8_t c = 0; c < clients; ++c) {
            attempting_[c] = s.client[c].now == phase::attempting;
        }
        collect_sources();
        collect_given_out();
        number_.resize(rank());
    }

    [[nodiscard]] std::uint64_t print() { return std::min(print_as({0, 1}), print_as({1, 0})); }

  private:
    using order = std::array<std::uint8_t, clients>;  // which client is the first, and the second
    using block = list<120>;

    void live(std::uint64_t number) {
        if (number != 0) number_.push(static_cast<std::uint16_t>(number));
    }

    // A number that may itself become a token.
    void source(std::uint64_t number) {
        live(number);
        if (number != 0) lowest_ = std::min(lowest_, number);
    }

    // The next grant of a node is above its counter; an attempt's token is the largest of what it
    // was granted. A commit alone gives out nothing: it raises a counter.
    void collect_sources() {
        for (std::uint8_t n = 0; n < nodes; ++n) {
            const auto counter = s_.node[n].counter;
            live(counter);
            if (counter != 0) lowest_ = std::min<std::uint64_t>(lowest_, counter + 1U);
            source(clock_that_matters(n));
            for (std::uint8_t c = 0; c < clients; ++c) collect_link(s_.link[c][n]);
        }
        for (std::uint8_t c = 0; c < clients; ++c) collect_notes(c);
    }

    void collect_link(const channel& l) {
        for (const auto& r : l.down) source(r.number);
        for (const auto& a : l.up) live(a.token);
        for (const auto& a : l.stray) live(a.token);
    }

    void collect_notes(std::uint8_t c) {
        const auto& me = s_.client[c];
        if (me.now == phase::holding) live(me.machine->token().value);
        if (!attempting_[c]) return;
        source(me.machine->token().value);
        for (std::uint8_t n = 0; n < nodes; ++n) {
            source(inside::counters(*me.machine)[n].value);
            live(inside::commits_sent(*me.machine)[n].value);
        }
    }

    // What those tokens will be compared with.
    void collect_given_out() {
        for (std::uint8_t c = 0; c < clients; ++c) {
            if (!attempting_[c]) continue;
            const auto floor = s_.floor[rules::owner_of(c, s_.client[c]) - 1U];
            if (floor >= lowest_) live(floor_[c] = floor);
        }
        for (const auto token : s_.token) {
            if (token >= lowest_) given_out_.push(token);
        }
        std::sort(given_out_.begin(), given_out_.end());
        for (const auto token : given_out_) live(token);
    }

    // Sorts the live numbers and gives them small names, with gaps that stay as they were up to
    // the number of attempts. Returns how many there are.
    std::size_t rank() {
        std::sort(number_.begin(), number_.end());
        const auto* end = std::unique(number_.begin(), number_.end());
        const auto count = static_cast<std::size_t>(end - number_.begin());
        std::uint16_t name = 1;
        for (std::size_t i = 0; i < count; ++i) {
            const auto gap = i == 0 ? 0 : number_.begin()[i] - number_.begin()[i - 1];
            name = static_cast<std::uint16_t>(name + std::min<int>(gap, attempts + 1));
            name_[i] = name;
        }
        return count;
    }

    [[nodiscard]] std::uint16_t name_of(std::uint64_t number) const {
        if (number == 0) return 0;
        const auto* at = std::lower_bound(number_.begin(), number_.end(), number);
        return name_[static_cast<std::size_t>(at - number_.begin())];
    }

    [[nodiscard]] std::uint16_t clock_that_matters(std::uint8_t n) const {
        const auto& at = s_.node[n];
        const auto clock = clock_of(n, at.life);
        return at.counter < clock ? clock : std::uint16_t{0};
    }

    [[nodiscard]] std::uint64_t print_as(const order& who) {
        std::array<std::uint8_t, clients> place{};
        for (std::uint8_t i = 0; i < clients; ++i) place[who[i]] = i;
        std::array<block, nodes> blocks;
        for (std::uint8_t n = 0; n < nodes; ++n) describe_node(blocks[n], n, who, place);
        std::sort(blocks.begin(), blocks.end());
        block all;
        for (const auto c : who) describe_client(all, c);
        all.push(static_cast<std::uint16_t>(s_.losses << 8U | s_.crashes << 4U | s_.expiries));
        for (const auto token : given_out_) all.push(name_of(token));
        std::uint64_t hash = absorb(0x9e3779b97f4a7c15U, all);
        for (const auto& each : blocks) hash = absorb(hash, each);
        hash ^= hash >> 29U;
        hash *= 0xbf58476d1ce4e5b9U;
        return hash ^ hash >> 32U;
    }

    static std::uint64_t absorb(std::uint64_t hash, const block& what) {
        hash = mix(hash, what.size());
        const auto* at = what.begin();
        for (; what.end() - at >= 4; at += 4) {
            std::uint64_t word = 0;
            std::memcpy(&word, at, sizeof word);
            hash = mix(hash, word);
        }
        for (; at != what.end(); ++at) hash = mix(hash, *at);
        return hash;
    }

    static std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
        hash = (hash ^ word) * 0xff51afd7ed558ccdU;
        return std::rotl(hash ^ hash >> 32U, 29) * 0xc4ceb9fe1a85ec53U;
    }

    void describe_client(block& to, std::uint8_t c) const {
        const auto& me = s_.client[c];
        const auto doing = static_cast<std::uint16_t>(me.now);
        const auto state = attempting_[c] ? static_cast<unsigned>(me.machine->current()) : 0U;
        to.push(
            static_cast<std::uint16_t>(doing << 12U | state << 8U | me.begun << 4U | me.overdue));
        to.push(me.now == phase::idle ? std::uint16_t{0} : name_of(me.machine->token().value));
        to.push(name_of(floor_[c]));
    }

    void describe_node(block& to, std::uint8_t n, const order& who, const order& place) const {
        const auto& at = s_.node[n];
        to.push(static_cast<std::uint16_t>(owner_name(at.owner, n, place) << 8U |
                                           at.quarantined << 4U | awaited(at, who)));
        to.push(name_of(at.counter));
        to.push(name_of(clock_that_matters(n)));
        for (const auto c : who) {
            describe_link(to, s_.link[c][n], place);
            if (attempting_[c]) describe_notes(to, *s_.client[c].machine, n);
        }
    }

    void describe_link(block& to, const channel& l, const order& place) const {
        to.push(
            static_cast<std::uint16_t>(l.up.size() << 8U | l.stray.size() << 4U | l.down.size()));
        const auto request = [&](const asked& a) {
            to.push(static_cast<std::uint16_t>(static_cast<unsigned>(a.what) << 8U |
                                               renamed(a.owner, place)));
            if (a.what == operation::commit) to.push(name_of(a.token));
        };
        for (const auto& a : l.up) request(a);
        for (const auto& a : l.stray) request(a);
        for (const auto& r : l.down) {
            to.push(static_cast<std::uint16_t>(static_cast<unsigned>(r.what) << 8U | r.code));
            to.push(name_of(r.number));
        }
    }

    void describe_notes(block& to, const core::acquire& machine, std::uint8_t n) const {
        const core::node_index node{n};
        const unsigned sets = (inside::pending(machine).contains(node) ? 1U : 0U) |
                              (machine.granted_by().contains(node) ? 2U : 0U) |
                              (machine.denied_by().contains(node) ? 4U : 0U) |
                              (machine.unknown_from().contains(node) ? 8U : 0U);
        to.push(static_cast<std::uint16_t>(sets));
        to.push(name_of(inside::counters(machine)[n].value));
        to.push(name_of(inside::commits_sent(machine)[n].value));
    }

    static std::uint8_t renamed(std::uint8_t owner, const order& place) {
        const auto c = (owner - 1U) / attempts_each;
        return static_cast<std::uint8_t>(1 + place[c] * attempts_each +
                                         (owner - 1U) % attempts_each);
    }

    [[nodiscard]] std::uint8_t owner_name(std::uint8_t owner, std::uint8_t n,
                                          const order& place) const {
        if (owner == 0) return 0;
        const auto c = (owner - 1U) / attempts_each;
        const auto& me = s_.client[c];
        const auto& l = s_.link[c][n];
        const bool current = me.now != phase::idle && rules::owner_of(c, me) == owner;
        const auto speaks_of_it = [&](const asked& a) { return a.owner == owner; };
        const bool named = current || std::any_of(l.up.begin(), l.up.end(), speaks_of_it) ||
                           std::any_of(l.stray.begin(), l.stray.end(), speaks_of_it);
        return named ? renamed(owner, place) : nobodys;
    }

    // Whose attempts, of those under way, the quarantine waits for.
    [[nodiscard]] unsigned awaited(const node_state& at, const order& who) const {
        unsigned result = 0;
        for (std::uint8_t i = 0; i < clients; ++i) {
            const auto& me = s_.client[who[i]];
            if (me.begun == 0) continue;
            const auto owner = rules::owner_of(who[i], me);
            const bool waits = (at.waits_for >> (owner - 1U) & 1U) != 0;
            if (waits && !rules::is_over(s_, owner)) result |= 1U << i;
        }
        return result;
    }

    const state& s_;
    std::array<bool, clients> attempting_{};
    std::uint64_t lowest_ = ~std::uint64_t{0};
    std::array<std::uint16_t, clients> floor_{};
    list<attempts> given_out_;
    list<160> number_;
    std::array<std::uint16_t, 160> name_{};
};

}  // namespace

std::uint64_t canonical_print(const state& s) { return reader(s).print(); }

}  // namespace holdfast::sim::small
