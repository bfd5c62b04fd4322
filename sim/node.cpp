#include "sim/node.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "core/judge.hpp"
#include "sim/breakage.hpp"
#include "sim/checkers.hpp"

namespace holdfast::sim {
namespace {

constexpr core::duration lost_by_a_crash = std::chrono::seconds(1);

owner_id owner_of(std::string_view text) {
    owner_id owner = 0;
    std::from_chars(text.data() + 1, text.data() + text.size(), owner);
    return owner;
}

constexpr std::string_view counter_key = "fence";

bool runs_script(operation what) { return what != operation::hello && what != operation::time; }

std::int64_t in_ms(core::duration d) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
}

// Up to four keys and five arguments, as the scripts' contracts list them. The keys are constants;
// an argument is a number, with a letter before it where it names an owner, or empty.
struct words {
    std::array<std::string_view, 4> key_views;
    std::array<std::array<char, 24>, 5> texts;
    std::array<std::string_view, 5> text_views;
    std::size_t keys = 0;
    std::size_t arguments = 0;

    words() = default;
    words(const words&) = delete;  // the views would stay behind
    words& operator=(const words&) = delete;

    void key(std::string_view word) { key_views[keys++] = word; }
    void no_argument() { text_views[arguments++] = {}; }
    void argument(std::int64_t number, std::string_view prefix = {}) {
        auto& text = texts[arguments];
        auto* const digits = std::ranges::copy(prefix, text.data()).out;
        auto* const end = std::to_chars(digits, text.data() + text.size(), number).ptr;
        text_views[arguments++] = {text.data(), end};
    }
    [[nodiscard]] keyspace::arguments key_list() const { return std::span(key_views).first(keys); }
    [[nodiscard]] keyspace::arguments argument_list() const {
        return std::span(text_views).first(arguments);
    }
};

void spell_enlist(words& w, const request& asked) {
    for (const auto key :
         {core::record_key, core::life_key, core::marker_key, core::quarantine_key}) {
        w.key(key);
    }
    w.argument(asked.run);
    w.argument(asked.replication);
    w.argument(asked.replication == 0 ? 1 : 0);
    if (asked.ttl_ms < 0) {
        w.no_argument();
    } else {
        w.argument(asked.ttl_ms);
    }
    w.argument(asked.max_ttl_ms);
}

void spell(words& w, const request& asked, const plan& settings) {
    if (asked.what == operation::enlist) return spell_enlist(w, asked);
    w.key(lock_key);
    const bool counts = settings.fencing && asked.what != operation::release;
    if (counts) w.key(counter_key);
    w.argument(asked.owner, "o");
    if (asked.what == operation::release) return;
    const bool commits = asked.what == operation::commit;
    w.argument(commits ? static_cast<std::int64_t>(asked.token) : asked.ttl_ms);
    if (!counts) return;
    w.argument(in_ms(settings.fence_retention));
    if (asked.what != operation::acquire) return;
    w.argument(asked.tokens);
    w.argument(static_cast<std::int64_t>(asked.floor));
}

}  // namespace

node::node(world& in, network& on, script_set& scripts, checkers& watched, std::uint32_t index,
           const wall_clock& clock)
    : world_(in),
      network_(on),
      scripts_(scripts),
      checkers_(watched),
      index_(index),
      clock_(clock),
      chance_(random(in.settings().seed).split(400 + index)) {
    data_.listen(this);
    data_.keep_history(in.settings().has(fault::crash_partial) || in.settings().has(fault::resync));
}

void node::receive(const network::message& message) {
    auto& c = network_.at(message.connection);
    if (!admit(c, message.connection)) return;
    if (c.closed) network_.disturb(c.client, index_, world_.now());
    caller_ = message.connection;
    serving_ = true;
    c.tracked = c.tracked || message.asked.tracks;
    listening_ = message.asked.listens;
    data_.stamp(world_.now().count());
    if (++served_ % 64 == 0) {
        data_.forget_history_before((world_.now() - lost_by_a_crash).count());
    }
    const auto before = owner();
    auto answer = execute(message.asked);
    serving_ = false;
    const auto after = runs_script(message.asked.what) ? owner() : before;
    checkers_.executed({index_, c.client, message.asked, answer, before, after, c.closed});
    if (message.breaks_after) return network_.break_connection(message.connection);
    network_.send_reply(message.connection, message.asked, std::move(answer));
    plan_cycle();
}

bool node::admit(network::connection& c, connection_id id) {
    if (up_ && !c.accepted) {
        c.accepted = true;
        c.run = run_;
    }
    if (up_ && c.run == run_) return true;
    network_.break_connection(id);
    return false;
}

value node::execute(const request& asked) {
    using words_list = std::array<std::string_view, 1>;
    switch (asked.what) {
        case operation::hello:
            return value::array({value::integer(run_), value::integer(replication_),
                                 value::integer(syncs_ ? 1 : 0)});
        case operation::time: return data_.execute(words_list{"TIME"}, wall());
        default: return run_script(asked);
    }
}

value node::run_script(const request& asked) {
    if (world_.now() < refusing_until_) {
        return value::error("LOADING Redis is loading the dataset in memory");
    }
    const auto bit = 1U << static_cast<unsigned>(asked.what);
    if (!asked.with_text && (loaded_ & bit) == 0) {
        return value::error("NOSCRIPT No matching script. Please use EVAL.");
    }
    loaded_ |= bit;
    words w;
    spell(w, asked, world_.settings());
    return scripts_.lua().run(scripts_.of(asked.what), w.key_list(), w.argument_list(), data_,
                              wall());
}

void node::crash(memory left) {
    up_ = false;
    if (left == memory::partial) {
        data_.roll_back_to((world_.now() - lost_by_a_crash).count());
        checkers_.rolled_back(index_);
    }
    curious_.clear();
    if (left == memory::none) data_.clear();
    data_.forget_history_before(world_.now().count() + 1);
    loaded_ = 0;
    network_.break_all_of(index_);
}

void node::restart() {
    if (up_) return;
    up_ = true;
    ++run_;
    replication_ = 0;
    syncs_ = world_.settings().forgets() && chance_.coin();
    if (world_.settings().onlookers) enlist_by_hand(-1);
    network_.disturb_node(index_, world_.now());
}

void node::heal() {
    refusing_until_ = {};
    restart();
}

void node::stand_still(instant until) {
    if (stands_still()) return;  // what waits for its end is in line already
    still_until_ = until;
    network_.disturb_node(index_, until);
}

void node::jump(core::duration by) {
    clock_.jump(by);
    checkers_.jumped(index_, by);
}

void node::flush_all() {
    data_.stamp(world_.now().count());
    data_.clear();
    tell_emptied();
}

void node::delete_lock() {
    if (!up_) return;
    data_.stamp(world_.now().count());
    data_.execute(std::array<std::string_view, 2>{"DEL", lock_key}, wall());
}

// Made a replica, given another's data, and promoted again: clients stay connected.
void node::resynchronise() {
    if (!up_) return;
    data_.roll_back_to((world_.now() - lost_by_a_crash).count());
    data_.forget_history_before(world_.now().count() + 1);
    checkers_.rolled_back(index_);
    ++replication_;
    tell_emptied();
}

void node::tell_emptied() {
    curious_.clear();
    network_.push_emptied(index_, run_);
    network_.disturb_node(index_, world_.now());
}

void node::refuse(instant until) {
    refusing_until_ = std::max(refusing_until_, until);
    network_.disturb_node(index_, until);
}

// Long ago: no crash takes the record away again.
void node::vouch() {
    data_.stamp((world_.now() - lost_by_a_crash).count());
    enlist_by_hand(0);
}

void node::enlist_by_hand(std::int64_t quarantine_ms) {
    run_script({.what = operation::enlist,
                .ttl_ms = quarantine_ms,
                .run = run_,
                .replication = replication_,
                .max_ttl_ms = in_ms(world_.settings().max_ttl),
                .with_text = true});
}

// Redis looks for expired keys ten times a second.
void node::plan_cycle() {
    if (cycle_planned_ || curious_.empty()) return;
    const auto* lock = data_.peek(lock_key, wall());
    if (!lock || lock->expires_at_ms == keyspace::no_expiry) return;
    cycle_planned_ = true;
    const auto until_next = std::chrono::milliseconds(1 + lock->expires_at_ms * 7919 % 100);
    const auto expiry = std::max(clock_.when(lock->expires_at_ms), world_.now());
    world_.schedule(expiry + until_next, event::kind::node_cycle, index_);
}

void node::cycle() {
    cycle_planned_ = false;
    if (!up_) return;
    data_.stamp(world_.now().count());
    data_.expire(wall());
    data_.forget_history_before((world_.now() - lost_by_a_crash).count());
    plan_cycle();
}

owner_id node::owner() const {
    const auto* lock = data_.peek(lock_key, wall());
    return lock && lock->text.size() > 1 ? owner_of(lock->text) : 0;
}

bool node::owned_for_ever() const {
    const auto* lock = data_.peek(lock_key, wall());
    return lock && lock->expires_at_ms == keyspace::no_expiry;
}

void node::on_read(std::string_view key) {
    if (!serving_ || !listening_ || key != lock_key || !network_.at(caller_).tracked) return;
    if (std::ranges::find(curious_, caller_) == curious_.end()) curious_.push_back(caller_);
}

// Whoever changes the key knows already (CLIENT TRACKING ON OPTIN NOLOOP).
void node::on_change(std::string_view key) {
    if (key != lock_key || curious_.empty()) return;
    for (const auto id : curious_) {
        if (!serving_ || id != caller_) network_.send_push(id);
    }
    curious_.clear();
}

}  // namespace holdfast::sim
