#include "sim/engine/command_line.hpp"

int main(int argc, char** argv) { return holdfast::sim::engine::run_command(argc, argv); }
