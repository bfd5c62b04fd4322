#include "command_line.hpp"
#include "commands.hpp"
#include "exit_code.hpp"
#include "failure.hpp"

namespace holdfast::tool {

int lab(arguments given) {
    std::string subject;
    command_line line("lab", "[SCHEME|HAZARD]",
                      "Watch the classic ways to get distributed locking wrong, and what each of "
                      "them loses.");
    line.positional("SCHEME|HAZARD", subject, false);
    line.note("Not part of this version yet.");
    line.parse(given);
    throw failure(exit_code::usage, "lab: this version does not have it yet");
}

}  // namespace holdfast::tool
