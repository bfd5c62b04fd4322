#pragma once

#include <span>
#include <string>
#include <string_view>

namespace holdfast::tool {

using arguments = std::span<const std::string>;

/// The sub-commands: each in the file of its name, each returns the exit code.
int run(arguments given);
int lock(arguments given);
int renew(arguments given);
int unlock(arguments given);
int elect(arguments given);
int status(arguments given);
int ls(arguments given);
int limit(arguments given);
int doctor(arguments given);
int enlist(arguments given);
int local(arguments given);
int bench(arguments given);
int lab(arguments given);
int version(arguments given);

struct command {
    std::string_view name;
    std::string_view summary;
    int (*run)(arguments);
};

std::span<const command> commands();

}  // namespace holdfast::tool
