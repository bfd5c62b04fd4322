#include "holdfast/version.hpp"

#include "command_line.hpp"
#include "commands.hpp"
#include "exit_code.hpp"
#include "message.hpp"

namespace holdfast::tool {

int version(arguments given) {
    command_line line("version", "", "Print the version.");
    line.parse(given);
    print("holdfast " + std::string(holdfast::version) + "\n");
    return exit_code::done;
}

}  // namespace holdfast::tool
