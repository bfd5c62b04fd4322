#pragma once

#include "commands.hpp"

namespace holdfast::tool {

/// What every program of ours does around its work: gives closed standard streams a place, says
/// what went wrong, and makes an exit code of it.
int run_program(int count, char** values, int (*work)(arguments));

}  // namespace holdfast::tool
