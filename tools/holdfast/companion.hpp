#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace holdfast::tool {

/// This very program.
std::filesystem::path this_program();

/// Where the programs lie that only some need, and that `holdfast` starts for them: in a build tree
/// below `name`, in an installation where all of them are. `proof` is a file that must be there.
/// Throws a failure with `hint` where it is not.
std::filesystem::path companions(const std::string& name, const std::string& proof,
                                 const std::string& hint);

/// Returns only if that is not possible, with the reason in errno.
void become(const std::vector<std::string>& words);

}  // namespace holdfast::tool
