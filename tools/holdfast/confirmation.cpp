#include "confirmation.hpp"

#include <unistd.h>

#include <iostream>

namespace holdfast::tool {

bool can_ask() { return ::isatty(STDIN_FILENO) != 0; }

bool confirmed(const std::string& question) {
    std::cerr << question << " [y/N] " << std::flush;
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace holdfast::tool
