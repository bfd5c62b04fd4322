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
            case happening::denied: end_wait(noted, wait_end::denied); return;
            case happening::failed: end_wait(noted, wait_end::failed); return;
            case happening::cancelled: end_wait(noted, wait_end::cancelled); return;
            case happening::started:
                end_all_waits(noted.at);  // of the process before
                return account_.lives.push_back({who_, noted.hold, noted.at});
            case happening::ended: return ended_.push_back(noted);
            case happening::connected:
            case happening::disconnected: return account_.links[who_].push_back(noted.at);
            case happening::seen: return read_sight(noted);
            case happening::remained: return account_.remained.push_back(noted.subject);
            case happening::cleared: return;
            default: return read_hold(noted);
        }
    }

    void end_all_waits(instant at) {
        for (const auto& [number, wish] : began_) add_wait(wish, at, wait_end::never);
        began_.clear();
    }

    [[nodiscard]] const std::vector<event>& ended() const { return ended_; }

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

    event end_wait(const event& noted, wait_end how) {
        event wish = began_.at(noted.hold);
        began_.erase(noted.hold);
        add_wait(wish, noted.at, how);
        return wish;
    }

    void add_wait(const event& wish, instant end, wait_end how) {
        account_.waits.push_back({.who = {who_, thread_of(wish.hold)},
                                  .key = wish.subject,
                                  .began = wish.at,
                                  .ended = end,
                                  .how = how,
                                  .fair = is_fair(wish)});
    }

    static bool is_fair(const event& wish) { return wish.text.ends_with("fair"); }

    void read_sight(const event& noted) {
        sight next{.key = noted.subject, .begin = noted.since, .end = noted.at};
        std::istringstream words(noted.text);
        std::string word;
        words >> word;
        next.owner = claimant_from(word);
        while (words >> word) next.line.push_back(claimant_from(word));
        account_.sights.push_back(std::move(next));
    }

    void read_acquired(const event& noted) {
        const event wish = end_wait(noted, wait_end::acquired);
        holds_[noted.hold] = account_.holds.size();
        account_.holds.push_back({.who = {who_, thread_of(noted.hold)},
                                  .number = noted.hold,
                                  .key = wish.subject,
                                  .fair = is_fair(wish),
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
    std::vector<event> ended_;  // others noted that they began
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

void end_life(account& all, const event& noted) {
    for (life& each : all.lives) {
        if (each.worker == noted.subject && each.process == noted.hold) each.end = noted.at;
    }
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

bool fault::strikes(const std::string& worker) const {
    if (!strikes_workers(kind)) return false;
    std::istringstream numbers(targets.substr(targets.find(':') + 1));
    for (std::string number; std::getline(numbers, number, '+');) {
        if (worker == 'w' + number) return true;
    }
    return false;
}

std::string to_word(const claimant& who) {
    if (who.nobody()) return "-";
    return who.worker + ':' + std::to_string(who.process) + ':' + who.nonce +
           (who.callable ? "" : "!");
}

claimant claimant_from(std::string word) {
    claimant read;
    if (word == "-") return read;
    if (word.ends_with('!')) {
        read.callable = false;
        word.pop_back();
    }
    const auto first = word.find(':');
    const auto second = word.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
        throw std::runtime_error("nobody is called " + word);
    }
    read.worker = word.substr(0, first);
    read.process = std::stoull(word.substr(first + 1, second - first - 1));
    read.nonce = word.substr(second + 1);
    return read;
}

const claimant* sight::find(const claimant& who) const {
    const auto found = std::find_if(line.begin(), line.end(),
                                    [&](const claimant& each) { return each.same(who); });
    return found == line.end() ? nullptr : &*found;
}

std::string to_string(const actor& who) { return who.worker + static_cast<char>('a' + who.thread); }

account reconstruct(const std::vector<history>& histories) {
    account all;
    std::vector<event> ended;
    for (const history& each : histories) {
        reader reads(all, each.who);
        for (const event& noted : each.events) reads.read(noted);
        reads.end_all_waits(instant::max());
        ended.insert(ended.end(), reads.ended().begin(), reads.ended().end());
    }
    for (const event& each : ended) end_life(all, each);
    for (wait& each : all.waits) each.ended = std::min(each.ended, all.end);
    for (fault& each : all.faults) each.end = std::min(each.end, all.end);
    if (!all.phases.empty()) all.phases.back().end = all.end;
    sort_holds(all);
    std::stable_sort(all.sights.begin(), all.sights.end(),
                     [](const sight& a, const sight& b) { return a.begin < b.begin; });
    link_hand_offs(all);
    return all;
}

}  // namespace holdfast::storm
