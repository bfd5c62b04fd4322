#include "companion.hpp"

#include <unistd.h>

#include "exit_code.hpp"
#include "failure.hpp"

namespace holdfast::tool {

namespace fs = std::filesystem;

fs::path this_program() { return fs::read_symlink("/proc/self/exe"); }

fs::path companions(const std::string& name, const std::string& proof, const std::string& hint) {
    const fs::path directory = this_program().parent_path();
    for (const fs::path& place :
         {directory / name, directory.parent_path() / "libexec" / "holdfast"}) {
        if (fs::exists(place / proof)) return place;
    }
    throw failure(exit_code::unavailable, hint);
}

void become(const std::vector<std::string>& words) {
    std::vector<char*> values;
    for (const std::string& word : words) values.push_back(const_cast<char*>(word.c_str()));
    values.push_back(nullptr);
    ::execvp(values.front(), values.data());
}

}  // namespace holdfast::tool
