#pragma once

#include <string>
#include <vector>

#include "lab/matrix.hpp"

namespace holdfast::tool {

/// The table of all schemes and hazards, a legend, and one line of evidence for whatever broke.
std::string table_of(const std::vector<lab::result>& results, bool coloured);

/// One cell step by step, with what went over the wire.
std::string story_of(const lab::result& played, bool coloured);

/// One object; with the steps if wanted.
std::string json_of(const lab::result& played, bool with_story);

/// The names that can be given, for people who ask which there are.
std::string names_in_words(const std::vector<lab::named>& names);

}  // namespace holdfast::tool
