#pragma once

namespace holdfast::sim {

/// The command `holdfast-sim`; returns its exit code: 0 all is well, 1 a rule was broken (or a
/// mutant not caught), 2 usage, 130 interrupted.
int run_command(int argc, char** argv);

}  // namespace holdfast::sim
