// What doc/testing.md says about mutants and faults is counted here, so that it cannot become
// untrue.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "sim/mutants/mutants.hpp"
#include "sim/world/faults.hpp"

namespace holdfast::sim {
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
    for (const auto where : {place::core, place::kinds, place::net, place::runtime}) {
        says("", mutants_in(where), std::string(" in `src/") + name_of(where) + "`");
    }
    says("- ", mutants_in(place::script), " in the scripts:");
    says("breaks ", static_cast<long>(all_mutants().size()), " rules of what ships");
}

TEST(document, says_how_many_kinds_of_faults_there_are) {
    const auto claim = "which of " + std::to_string(fault_count) + " kinds of faults";
    EXPECT_NE(document().find(claim), std::string::npos) << claim;
}

// Each promise that did not hold once has a mutant that breaks it again.
TEST(document, names_mutants_that_there_are) {
    const auto text = document();
    const auto begin = text.find("| the mutant that brings it back |");
    const auto end = text.find("Tests compare these numbers");
    ASSERT_LT(begin, end);
    const std::regex name("`([a-z]+(_[a-z]+){2,})`");
    std::size_t named = 0;
    for (std::sregex_iterator each(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                   text.begin() + static_cast<std::ptrdiff_t>(end), name),
         none;
         each != none; ++each) {
        EXPECT_NE(mutant_named((*each)[1].str()), nullptr) << (*each)[1];
        ++named;
    }
    EXPECT_GE(named, 7U);
}

}  // namespace
}  // namespace holdfast::sim
