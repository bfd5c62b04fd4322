#pragma once

namespace holdfast::sim::engine {

/// The program. Returns its exit code.
int run_command(int argc, char** argv);

}  // namespace holdfast::sim::engine
