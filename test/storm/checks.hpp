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

    [[nodiscard]] std::string seconds(instant at) const;  // since the beginning
    [[nodiscard]] std::string describe(const hold& held) const;
    void accuse(rule broken, instant at, std::string story);

  private:
    const account& all_;
    const bounds& within_;
    verdict& verdict_;
    std::map<std::string, lane> keys_;
    std::map<std::string, std::vector<const stall*>> stalls_;
};

void check_exclusion(evidence& with);
void check_tokens(evidence& with);
void check_updates(evidence& with);
void check_releases(evidence& with);
void check_owners(evidence& with);
void check_notice(evidence& with);
void check_progress(evidence& with);
void check_recovery(evidence& with);

}  // namespace holdfast::storm
