#include "sim/program/command_line.hpp"

int main(int argc, char** argv) { return holdfast::sim::run_command(argc, argv); }
