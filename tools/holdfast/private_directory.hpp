#pragma once

#include <string>

namespace holdfast::tool {

/// The directory of this user's own server: `$XDG_RUNTIME_DIR/holdfast`, else `/tmp/holdfast-UID`.
std::string private_directory_path();

/// Makes the directory if it is missing, and refuses one that is not ours alone: a symbolic link,
/// another owner, or any right for others. Throws failure with exit code 78.
void ensure_private(const std::string& path);

}  // namespace holdfast::tool
