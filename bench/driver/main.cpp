/// Holdfast, and the floor under it, as contestants: the protocol is in bench/peers/README.md.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "contestants.hpp"
#include "crowd.hpp"

namespace {

using namespace holdfast::bench;

int usage() {
    std::fputs(
        "usage: holdfast-bench-driver VARIANT WORK WORKERS CRITICAL_US LAST KEY URL...\n"
        "       holdfast-bench-driver --variants\n",
        stderr);
    return 64;
}

}  // namespace

int main(int count, char** arguments) {
    if (count == 2 && std::string_view(arguments[1]) == "--variants") {
        for (const auto& each : variants()) std::puts(each.c_str());
        return 0;
    }
    if (count < 8) return usage();
    const std::vector<std::string> words(arguments + 1, arguments + count);
    const bool shared = words[1] == "shared", distinct = words[1] == "distinct";
    if (!shared && !distinct && words[1] != "together") return usage();
    const auto workers = std::stoul(words[2]);
    const auto locks = open(words[0], {words.begin() + 6, words.end()});
    if (!locks) return usage();

    crowd everybody(shared ? words[4] : "", std::chrono::microseconds(std::stol(words[3])));
    for (std::size_t n = 0; n < workers; ++n) {
        const auto own = words[5] + ":" + std::to_string(::getpid()) + ":" + std::to_string(n);
        everybody.add(locks(distinct ? own : words[5]));
    }
    for (std::string line; std::getline(std::cin, line);) {
        const std::chrono::duration<double> length(std::stod(line));
        std::cout << everybody.play(std::chrono::duration_cast<nanoseconds>(length)) << std::endl;
    }
    return 0;
}
