// The table of mutants is complete, and says where each one is.

#include "sim/mutants/mutants.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "sim/server/script_library.hpp"
#include "sim/test/with_breakage.hpp"

namespace holdfast::sim {
namespace {

// Which folders of src/ the patches of a mutant are in.
std::set<std::string> patched_by(const mutant& which) {
    std::set<std::string> found;
    const std::regex patch("(^|\n)mutate\\(" + std::string(which.name) + " (\\w+)/");
    for (const auto& file : std::filesystem::directory_iterator(HOLDFAST_SOURCE "/sim/mutants")) {
        if (file.path().extension() != ".cmake") continue;
        std::ifstream in(file.path());
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        for (std::sregex_iterator each(text.begin(), text.end(), patch), end; each != end; ++each) {
            found.insert((*each)[2]);
        }
    }
    return found;
}

TEST(mutants, of_the_scripts_still_apply) {
    for (const auto& each : all_mutants()) {
        const with_breakage broken(each.which);
        EXPECT_NO_THROW(script_library{}) << each.name;
    }
}

TEST(mutants, have_one_row_for_every_breakage) {
    EXPECT_EQ(all_mutants().size(), breakage_count);
    auto next = static_cast<std::size_t>(breakage::none);
    for (const auto& each : all_mutants()) {
        EXPECT_EQ(static_cast<std::size_t>(each.which), ++next) << each.name;
    }
}

TEST(mutants, break_what_the_table_says) {
    for (const auto& each : all_mutants()) {
        const auto folders = patched_by(each);
        if (each.where == mutant::place::script) {
            EXPECT_TRUE(folders.empty()) << each.name;
            EXPECT_NE(each.old_text, each.new_text) << each.name;
        } else {
            EXPECT_TRUE(folders.contains(name_of(each.where))) << each.name;
        }
    }
}

}  // namespace
}  // namespace holdfast::sim
