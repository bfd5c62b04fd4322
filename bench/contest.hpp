#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace holdfast::bench {

/// One way of doing the work. `run(n)` does it n times and returns how long that took.
struct contestant {
    std::string name;
    std::function<std::chrono::nanoseconds(std::size_t)> run;
};

struct result {
    std::string name;
    std::vector<double> per_second;  // one per round, in the order of the rounds

    [[nodiscard]] double median() const;
    [[nodiscard]] double spread() const;  // interquartile range over median
};

struct rules {
    std::size_t rounds = 15;
    std::size_t repetitions = 2000;  // of the work, per contestant and round
};

/// Lets the contestants take turns, so that whatever disturbs the machine disturbs all of them. A
/// first round warms up and is not counted.
std::vector<result> hold_contest(const std::vector<contestant>& who, const rules& how);

}  // namespace holdfast::bench
