#include "contest.hpp"

#include <algorithm>

namespace holdfast::bench {
namespace {

double quantile(std::vector<double> values, double fraction) {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(fraction * static_cast<double>(values.size() - 1))];
}

double once(const contestant& who, std::size_t repetitions) {
    const auto taken = who.run(repetitions);
    return static_cast<double>(repetitions) / std::chrono::duration<double>(taken).count();
}

}  // namespace

double result::median() const { return quantile(per_second, 0.5); }

double result::spread() const {
    return (quantile(per_second, 0.75) - quantile(per_second, 0.25)) / median();
}

std::vector<result> hold_contest(const std::vector<contestant>& who, const rules& how) {
    std::vector<result> results;
    for (const auto& each : who) {
        results.push_back({each.name, {}});
        once(each, std::max<std::size_t>(how.repetitions / 4, 1));
    }
    for (std::size_t round = 0; round < how.rounds; ++round) {
        for (std::size_t n = 0; n < who.size(); ++n) {
            results[n].per_second.push_back(once(who[n], how.repetitions));
        }
    }
    return results;
}

}  // namespace holdfast::bench
