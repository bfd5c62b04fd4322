// What doc/testing.md says about the mutants is counted here, so that it cannot become untrue.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "sim/mutants.hpp"

namespace holdfast::sim::engine {
namespace {

using place = mutant::place;

// In one line: where the text is wrapped says nothing.
std::string document() {
    std::ifstream file(HOLDFAST_SOURCE "/doc/testing.md");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    std::ranges::replace(text, '\n', ' ');
    return text;
}

long mutants_in(place where) { return std::ranges::count(all_mutants(), where, &mutant::where); }

TEST(document, says_how_many_mutants_there_are) {
    const auto text = document();
    ASSERT_FALSE(text.empty());
    const auto says = [&](const std::string& before, long count, const std::string& after) {
        const auto claim = before + std::to_string(count) + after;
        EXPECT_NE(text.find(claim), std::string::npos) << "doc/testing.md should say: " << claim;
    };
    const auto core = mutants_in(place::core);
    const auto scripts = mutants_in(place::script);
    const auto driver = mutants_in(place::driver);
    const auto shipped = mutants_in(place::net) + mutants_in(place::runtime);
    const auto both = core + scripts + driver;
    says("- ", core, " in the core:");
    says("- ", scripts, " in the scripts:");
    says("- ", driver, " in the driver:");
    says("- ", shipped, " more in `src/net`");
    says("`holdfast-sim --mutants` does so with ", both, " ");
    says("breaks ", both + shipped - 1, " rules of what ships");  // one is left to the search
}

}  // namespace
}  // namespace holdfast::sim::engine
