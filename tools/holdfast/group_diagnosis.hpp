#pragma once

#include <vector>

#include "diagnosis.hpp"

namespace holdfast::tool {

/// What the state of a Sentinel group means for locks: a line for what is right, and one for each
/// risk, with what to change. First of the Sentinels, then, where a master was reached, of its
/// replicas. REQUIRES: it has a group.
std::vector<finding> diagnose_sentinels(const group_report& group);
std::vector<finding> diagnose_replicas(const server_report& master, const options& settings);

}  // namespace holdfast::tool
