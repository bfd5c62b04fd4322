#include "suggestion.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace holdfast::tool {
namespace {

struct entry {
    std::string_view theirs;
    equivalent ours;
};

constexpr auto known_elsewhere = std::to_array<entry>({
    {"--timeout", {"--wait", "it is -w, --wait here"}},
    {"--nb", {"--nonblock", "it is -n, --nonblock here"}},
    {"--no-wait", {"--nonblock", "it is -n, --nonblock here"}},
    {"--nowait", {"--nonblock", "it is -n, --nonblock here"}},
    {"--non-blocking", {"--nonblock", "it is -n, --nonblock here"}},
    {"-e", {"--exclusive", "it is -x, --exclusive here"}},
    {"-u", {"", "see 'holdfast unlock'"}},
    {"--unlock", {"", "see 'holdfast unlock'"}},
    {"-o", {"", "it is not needed: the command inherits nothing of the lock"}},
    {"--close", {"", "it is not needed: the command inherits nothing of the lock"}},
    {"-F", {"", "it cannot be done: holdfast must stay to renew the lock"}},
    {"--no-fork", {"", "it cannot be done: holdfast must stay to renew the lock"}},
    {"-p", {"--url", "it is --url redis://HOST:PORT here"}},
    {"--port", {"--url", "it is --url redis://HOST:PORT here"}},
    {"--host", {"--url", "it is --url redis://HOST:PORT here"}},
    {"--tls", {"--url", "it is --url rediss://HOST:PORT here"}},
    {"-a", {"--password-file", "it is --password-file, or REDISCLI_AUTH, here"}},
    {"--pass", {"--password-file", "it is --password-file, or REDISCLI_AUTH, here"}},
    {"--password", {"--password-file", "it is --password-file, or REDISCLI_AUTH, here"}},
});

/// How many letters must be added, left out, replaced or swapped with the next.
std::size_t distance(std::string_view from, std::string_view to) {
    std::vector<std::vector<std::size_t>> cost(from.size() + 1,
                                               std::vector<std::size_t>(to.size() + 1));
    for (std::size_t n = 0; n <= from.size(); ++n) cost[n][0] = n;
    for (std::size_t m = 0; m <= to.size(); ++m) cost[0][m] = m;
    for (std::size_t n = 1; n <= from.size(); ++n) {
        for (std::size_t m = 1; m <= to.size(); ++m) {
            const std::size_t differs = from[n - 1] == to[m - 1] ? 0 : 1;
            cost[n][m] =
                std::min({cost[n - 1][m] + 1, cost[n][m - 1] + 1, cost[n - 1][m - 1] + differs});
            const bool swapped =
                n > 1 && m > 1 && from[n - 1] == to[m - 2] && from[n - 2] == to[m - 1];
            if (swapped) cost[n][m] = std::min(cost[n][m], cost[n - 2][m - 2] + 1);
        }
    }
    return cost[from.size()][to.size()];
}

std::string_view without_dashes(std::string_view word) {
    return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

}  // namespace

// Half of a short word is another word.
std::string closest(std::string_view word, std::span<const std::string> candidates) {
    constexpr std::size_t longest = 64;
    const std::string_view typed = without_dashes(word);
    if (typed.size() < 2 || typed.size() > longest) return {};
    std::size_t least = typed.size() < 5 ? 2 : 3;
    std::string best;
    for (const std::string& candidate : candidates) {
        if (without_dashes(candidate).size() < 2) continue;
        const std::size_t cost = distance(typed, without_dashes(candidate));
        if (cost >= least) continue;
        least = cost;
        best = candidate;
    }
    return best;
}

equivalent equivalent_of(std::string_view foreign_option) {
    for (const auto& [theirs, ours] : known_elsewhere) {
        if (theirs == foreign_option) return ours;
    }
    return {};
}

}  // namespace holdfast::tool
