#include "storm/account.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <tuple>

namespace holdfast::storm {
namespace {

fault_kind fault_named(const std::string& name) {
    const auto* const found = std::find(fault_names.begin(), fault_names.end(), name);
    if (found == fault_names.end()) throw std::runtime_error("no fault is called " + name);
    return static_cast<fault_kind>(found - fault_names.begin());
}

/// Reads one history into the account. Holds and faults are found again by their number.
class reader {
  public:
    reader(account& into, std::string who) : account_(into), who_(std::move(who)) {}

    void read(const event& noted) {
        ++account_.counts[noted.what];
        if (account_.begin == instant{} || noted.at < account_.begin) account_.begin = noted.at;
        account_.end = std::max(account_.end, noted.at);
        switch (noted.what) {
            case happening::struck:
            case happening::mended:
            case happening::phase: return read_nemesis(noted);
            case happening::intends:
            case happening::wrote:
            case happening::refused: return read_write(noted);
            case happening::stalled:
                return account_.stalls.push_back({who_, noted.since, noted.at});
            case happening::began:
                began_[noted.hold] = noted;
                account_.actors.insert({who_, thread_of(noted.hold)});
                return;
            case happening::acquired: return read_acquired(noted);
            case happening::denied:
            case happening::failed: end_wait(noted); return;
            default: return read_hold(noted);
        }
    }

  private:
    void read_nemesis(const event& noted) {
        if (noted.what == happening::struck) {
            faults_[noted.hold] = account_.faults.size();
            account_.faults.push_back(
                {fault_named(noted.text), noted.subject, noted.at, instant::max(), noted.until});
        } else if (noted.what == happening::mended) {
            account_.faults.at(faults_.at(noted.hold)).end = noted.at;
        } else {
            if (!account_.phases.empty()) account_.phases.back().end = noted.at;
            account_.phases.push_back({noted.text, noted.at, noted.at});
        }
    }

    event end_wait(const event& noted) {
        const event wish = began_.at(noted.hold);
        began_.erase(noted.hold);
        account_.waits.push_back({{who_, thread_of(noted.hold)}, wish.subject, wish.at, noted.at});
        return wish;
    }

    void read_acquired(const event& noted) {
        const event wish = end_wait(noted);
        holds_[noted.hold] = account_.holds.size();
        account_.holds.push_back({.who = {who_, thread_of(noted.hold)},
                                  .number = noted.hold,
                                  .key = wish.subject,
                                  .began = wish.at,
                                  .asked = noted.since,
                                  .acquired = noted.at,
                                  .token = noted.token,
                                  .deadline = noted.until});
    }

    void read_write(const event& noted) {
        if (noted.what == happening::intends) {
            std::istringstream words(noted.text);
            write next{.hold = holds_.at(noted.hold), .where = noted.subject, .intended = noted.at};
            words >> next.base >> next.version;
            writes_[noted.subject + ' ' + next.version] = account_.writes.size();
            account_.writes.push_back(next);
        } else if (const auto which = writes_.find(noted.subject + ' ' + noted.text);
                   which != writes_.end()) {
            write& done = account_.writes.at(which->second);
            done.done = noted.at;
            done.state =
                noted.what == happening::wrote ? write_state::accepted : write_state::refused;
        }
    }

    void read_hold(const event& noted) {
        const auto which = holds_.find(noted.hold);
        if (which == holds_.end()) return;  // denied, failed: there is no hold
        hold& held = account_.holds.at(which->second);
        if (noted.until != instant{}) held.deadline = noted.until;
        switch (noted.what) {
            case happening::warned: held.warned = noted.at; break;
            case happening::lost: held.found_lost = noted.at; break;
            case happening::releasing: held.let_go = noted.at; break;
            case happening::left: held.left = true; break;
            case happening::shown: held.shown.push_back(noted.text); break;
            case happening::released:
                held.answered = noted.at;
                held.outcome = noted.text;
                break;
            default: break;
        }
    }

    account& account_;
    std::string who_;
    std::map<std::uint64_t, event> began_;
    std::map<std::uint64_t, std::size_t> holds_;
    std::map<std::uint64_t, std::size_t> faults_;
    std::map<std::string, std::size_t> writes_;
};

/// Writes name their hold by its place, so the places are renamed with the holds.
void sort_holds(account& all) {
    std::vector<std::size_t> order(all.holds.size());
    for (std::size_t n = 0; n < order.size(); ++n) order[n] = n;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return all.holds[a].acquired < all.holds[b].acquired;
    });
    std::vector<hold> sorted;
    std::vector<std::size_t> place(order.size());
    for (const std::size_t n : order) {
        place[n] = sorted.size();
        sorted.push_back(std::move(all.holds[n]));
    }
    all.holds = std::move(sorted);
    for (write& each : all.writes) each.hold = place[each.hold];
}

/// Holders of one process that have one attempt in common have handed the lock off.
void link_hand_offs(account& all) {
    std::map<std::tuple<std::string, std::string, instant>, hold*> latest;
    for (hold& next : all.holds) {
        auto& before = latest[{next.who.worker, next.key, next.asked}];
        if (before != nullptr) before->handed_on = next.handed_off = true;
        before = &next;
    }
}

}  // namespace

std::string to_string(const actor& who) { return who.worker + static_cast<char>('a' + who.thread); }

account reconstruct(const std::vector<history>& histories) {
    account all;
    for (const history& each : histories) {
        reader reads(all, each.who);
        for (const event& noted : each.events) reads.read(noted);
    }
    for (fault& each : all.faults) each.end = std::min(each.end, all.end);
    if (!all.phases.empty()) all.phases.back().end = all.end;
    sort_holds(all);
    link_hand_offs(all);
    return all;
}

}  // namespace holdfast::storm
