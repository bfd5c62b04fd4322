#include "sim/link.hpp"

#include <charconv>

#include "sim/breakage.hpp"

namespace holdfast::sim {
namespace {

core::judge_policy policy_of(const plan& settings, std::uint32_t client) {
    return {.restart_guard = settings.restart_guard,
            .max_ttl = settings.max_ttl_of(client),
            .guard_time = settings.timing.guard_time};
}

std::int64_t in_ms(core::duration d) {
    return std::chrono::ceil<std::chrono::milliseconds>(d).count();
}

std::int64_t number_in(const std::string& text) {
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

bool is_noscript(const value& answer) {
    return answer.is(value::kind::error) && answer.text.starts_with("NOSCRIPT");
}

}  // namespace

link::link(process& of, network& on, checkers& watched, link_user& user, std::uint32_t node)
    : process_(of),
      network_(on),
      checkers_(watched),
      user_(user),
      node_{static_cast<std::uint8_t>(node)},
      judge_(policy_of(of.settings(), of.index())),
      delay_(of.settings().node_timeout / 4, of.settings().node_timeout * 2) {}

void link::connect() {
    connection_ = network_.open(process_.index(), node_.value);
    heard_ = process_.local();
    greet();
}

// Whoever enlists is told already when the node is emptied.
void link::greet() {
    emptied_ = false;
    state_ = state::greeting;
    const bool later = broken(breakage::tracking_after_enlisting);
    transmit({.what = operation::hello, .tracks = tracked() && !later});
}

bool link::tracked() const { return process_.settings().tracked(process_.index()); }

bool link::in_order() const {
    const auto& c = network_.at(connection_);
    return ready() && !c.silent_up && !c.silent_down;
}

void link::send(request asked) { transmit(asked); }

void link::enlist() {
    auto span = judge_.guards() ? in_ms(judge_.quarantine()) : -1;
    if (broken(breakage::quarantine_of_a_millisecond)) span = std::min<std::int64_t>(span, 1);
    if (syncs_ && broken(breakage::syncing_server_trusted)) span = std::min<std::int64_t>(span, 0);
    transmit({.what = operation::enlist,
              .ttl_ms = span,
              .max_ttl_ms = in_ms(judge_.max_ttl()),
              .with_text = true});
}

void link::transmit(request asked) {
    asked.run = run_;
    asked.replication = replication_;
    asked.sent = process_.local();
    waiting_.push_back({asked, asked.sent + process_.settings().node_timeout, false});
    network_.send_request(connection_, asked, process_.now());
    watch_deadlines();
}

void link::on_reply(connection_id from, const request& asked, const value& answer) {
    if (from != connection_ || state_ == state::down) return;
    heard_ = process_.local();
    const auto answered = waiting_.front();
    waiting_.erase(waiting_.begin());
    watch_deadlines();
    if (is_noscript(answer)) return ask_again(answered);
    if (answer.is(value::kind::error)) return refused(answered);
    switch (asked.what) {
        case operation::hello: return greeted(answer);
        case operation::enlist: return enlisted(answer);
        case operation::time: return heartbeat(asked, answer);
        default:
            if (answered.reported) return settle_late(asked);
            return user_.answered(node_, asked, answer);
    }
}

// Whoever has not noted its life is asked for no vote. A release that was refused stays owed.
void link::refused(const outstanding& which) {
    const bool unlisted = which.asked.what == operation::enlist && state_ == state::enlisting;
    if (unlisted && broken(breakage::enlisting_refused_and_ignored)) return now_ready();
    if (unlisted) return drop();
    if (!which.reported) user_.unknown(node_, which.asked);
}

// It was reported as unknown, and stays so; but a release that was answered is not owed.
void link::settle_late(const request& asked) {
    if (asked.what == operation::release) user_.answered(node_, asked, value{});
}

// The script cache was emptied. Asking again is right only while the answer would still count:
// an acquire that was given up has its release behind it already.
void link::ask_again(const outstanding& missing) {
    const bool given_up = missing.reported && missing.asked.what != operation::release;
    const bool wanted = !given_up && user_.still_wanted(node_, missing.asked);
    if (!wanted && !broken(breakage::missing_script_answered_too_late)) return;
    auto again = missing.asked;
    again.with_text = true;
    transmit(again);
}

void link::greeted(const value& facts) {
    run_ = static_cast<std::uint32_t>(facts.items[0].number);
    replication_ = static_cast<std::uint32_t>(facts.items[1].number);
    syncs_ = facts.items[2].number != 0;
    const core::server_facts said{
        .run_id = std::to_string(run_), .eviction_policy = "noeviction", .tracking = tracked()};
    judge_.assess(said, process_.local());
    if (broken(breakage::not_enlisted_after_reconnect)) return now_ready();
    state_ = state::enlisting;
    enlist();
}

// As src/scripts/enlist.lua answers.
void link::enlisted(const value& answer) {
    judge_.enlisted({.quarantine = std::chrono::milliseconds(answer.items[1].number),
                     .floor = static_cast<std::uint64_t>(answer.items[2].number),
                     .max_ttl = std::chrono::milliseconds(answer.items[3].number),
                     .agreed = answer.items[0].number != 2,
                     .begun = answer.items[0].number == 1},
                    process_.local());
    if (state_ != state::enlisting) return;
    if (!emptied_) return now_ready();
    greet();  // what emptied it may have made it another life
}

void link::now_ready() {
    state_ = state::ready;
    delay_.reset();
    network_.disturb(process_.index(), node_.value, process_.now());
    on_timer(timer::heartbeat);
    user_.connected(node_);
}

void link::heartbeat(const request& asked, const value& answer) {
    const auto seconds = number_in(answer.items[0].text);
    const auto micros = number_in(answer.items[1].text);
    judge_.heartbeat(std::chrono::microseconds(seconds * 1'000'000 + micros), asked.sent,
                     process_.local());
    checkers_.clock_seen(process_.index(), node_.value, connection_, process_.when(asked.sent),
                         process_.now());
}

void link::on_push(connection_id from) {
    if (from != connection_ || state_ != state::ready) return;
    heard_ = process_.local();
    user_.told(node_);
}

// Comes before the answers to whatever ran after it: those do not count.
void link::on_emptied(connection_id from) {
    if (from != connection_ || state_ == state::down) return;
    heard_ = process_.local();
    if (broken(breakage::emptied_unnoticed)) return;
    if (state_ == state::ready) return drop();
    if (broken(breakage::emptied_unnoticed_in_handshake)) return;
    emptied_ = true;
}

void link::on_lost(connection_id which) {
    if (which == connection_ && state_ != state::down) drop();
}

void link::on_timer(timer which) {
    switch (which) {
        case timer::deadline: return check_deadlines();
        case timer::reconnect: return connect();
        case timer::heartbeat:
            if (state_ != state::ready) return;
            process_.arm(slot_of(timer::heartbeat),
                         process_.local() + process_.settings().heartbeat);
            transmit({.what = operation::time,
                      .tracks = tracked() && broken(breakage::tracking_after_enlisting)});
            if (standing() == core::judge::standing::quarantined) enlist();
            return;
    }
}

// Everything in line may have arrived or not: it is unknown, all of it.
void link::drop() {
    network_.close(connection_);
    network_.disturb(process_.index(), node_.value, process_.now());
    state_ = state::down;
    judge_.disconnected();
    process_.arm(slot_of(timer::heartbeat), core::never);
    process_.arm(slot_of(timer::deadline), core::never);
    process_.arm(slot_of(timer::reconnect),
                 process_.local() + delay_.next(process_.chance().next()));
    const auto abandoned = std::exchange(waiting_, {});
    for (const auto& each : abandoned) {
        if (!each.reported) user_.unknown(node_, each.asked);
    }
}

void link::check_deadlines() {
    const auto now = process_.local();
    if (!waiting_.empty() && now >= quiet_until()) return drop();
    std::vector<request> late;
    for (auto& each : waiting_) {
        if (each.reported || now < each.deadline) continue;
        each.reported = true;
        late.push_back(each.asked);
    }
    for (const auto& each : late) user_.unknown(node_, each);  // may well send the next request
    watch_deadlines();
}

// Nothing heard although something was asked, for too long.
core::time_point link::quiet_until() const {
    return std::max(heard_, waiting_.front().asked.sent) + process_.settings().silence;
}

void link::watch_deadlines() {
    auto earliest = core::never;
    if (!waiting_.empty()) {
        earliest = quiet_until();
    }
    for (const auto& each : waiting_) {
        if (each.reported) continue;
        earliest = std::min(earliest, each.deadline);
        break;  // all have the same timeout, so the first one is due first
    }
    process_.arm(slot_of(timer::deadline), earliest);
}

}  // namespace holdfast::sim
