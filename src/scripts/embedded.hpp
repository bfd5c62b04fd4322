#pragma once

#include <string_view>

/// The Lua files of this directory, embedded at build time. Each file opens with its contract.
namespace holdfast::scripts {

struct script {
    std::string_view name;
    std::string_view sha1;  // what EVALSHA takes: 40 lower-case hex digits of the exact text
    std::string_view text;
};

extern const script acquire;
extern const script commit;
extern const script extend;
extern const script release;
extern const script enlist;
extern const script force;
extern const script linger;

}  // namespace holdfast::scripts
