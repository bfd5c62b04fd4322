#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace holdfast::storm {

struct course_settings {
    std::string topology = "quorum";
    std::string replica_acks{};  // as of scene_settings
    double minutes = 2;
    std::uint64_t seed = 1;
    std::filesystem::path directory{};
    std::string program{};
    std::function<bool()> interrupted{};
};

/// The whole storm, in rounds of about two minutes:
///
///   quorum   a minority is struck - calm - anything is struck - calm
///   sentinel a replication group and its Sentinels are struck - they settle - calm
///   cluster  a Cluster is struck - it settles - calm
///   one      anything is struck - calm - who waits is struck - everybody is after one lock
///
/// The histories are in the directory then. False: it was interrupted.
bool run_course(const course_settings& settings);

}  // namespace holdfast::storm
