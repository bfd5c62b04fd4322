#pragma once

#include <map>
#include <string>
#include <vector>

#include "storm/checker.hpp"

/// The parts of check(). Each reads the account and adds to the verdict.
namespace holdfast::storm {

/// What all of them need: the holds of each key in the order of acquisition, and a way to tell.
class evidence {
  public:
    evidence(const account& all, const bounds& within, verdict& into);

    using lane = std::vector<const hold*>;
    [[nodiscard]] const std::map<std::string, lane>& keys() const { return keys_; }
    [[nodiscard]] const account& facts() const { return all_; }
    [[nodiscard]] const bounds& within() const { return within_; }
    [[nodiscard]] verdict& found() { return verdict_; }

    /// Whether T1 is not promised between them, because a server's clock jumped forwards or the
    /// lock was deleted by hand.
    [[nodiscard]] bool unpromised_between(const hold& earlier, const hold& later) const;
    /// Whether a fault for which `wanted` is true was in force at some time of the span.
    template <typename Predicate>
    [[nodiscard]] bool struck_between(instant begin, instant end, Predicate wanted) const {
        for (const fault& each : all_.faults) {
            if (each.begin <= end && each.end >= begin && wanted(each.kind)) return true;
        }
        return false;
    }
    [[nodiscard]] bool stalled(const std::string& worker, instant begin, instant end) const;
    /// Whether the nemesis had stopped the worker at some time of the span.
    [[nodiscard]] bool frozen(const std::string& worker, instant begin, instant end) const;
    /// Whether it stood still at some time of the span, or a connection came or went then, or soon
    /// after.
    [[nodiscard]] bool distracted(const std::string& worker, instant begin, instant end) const;
    /// For how long of the span the key was held by some who took more than a second each.
    [[nodiscard]] instant held_on_to(const std::string& key, instant begin, instant end) const;

    using sightings = std::vector<const sight*>;
    [[nodiscard]] const std::map<std::string, sightings>& sights() const { return sights_; }
    /// Null: no such process was noted.
    [[nodiscard]] const life* life_of(const claimant& who) const;

    [[nodiscard]] std::string seconds(instant at) const;  // since the beginning
    [[nodiscard]] std::string describe(const hold& held) const;
    void accuse(rule broken, instant at, std::string story);

  private:
    const account& all_;
    const bounds& within_;
    verdict& verdict_;
    std::map<std::string, lane> keys_;
    std::map<std::string, std::vector<const stall*>> stalls_;
    std::map<std::string, sightings> sights_;
};

void check_exclusion(evidence& with);
void check_tokens(evidence& with);
void check_updates(evidence& with);
void check_releases(evidence& with);
void check_owners(evidence& with);
void check_notice(evidence& with);
void check_progress(evidence& with);
void check_recovery(evidence& with);
void check_order(evidence& with);
void check_unclaimed(evidence& with);
void check_entries(evidence& with);
void check_left_behind(evidence& with);
void check_shares(evidence& with);

}  // namespace holdfast::storm
