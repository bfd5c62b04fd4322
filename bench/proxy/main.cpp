/// A slow network for contestants of any language: one proxy for each port, on ports that it
/// prints.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>

#include "support/fault_proxy.hpp"

int main(int count, char** arguments) {
    if (count < 3) {
        std::fputs(
            "usage: holdfast-bench-proxy ADDED_US PORT...\n\n"
            "Adds so much to every round trip to each port of 127.0.0.1, until the input ends.\n",
            stderr);
        return 64;
    }
    const std::chrono::microseconds added(std::atol(arguments[1]));
    std::deque<holdfast::test::fault_proxy> proxies;
    for (int n = 2; n < count; ++n) {
        auto& proxy = proxies.emplace_back(static_cast<std::uint16_t>(std::atoi(arguments[n])));
        proxy.delay(holdfast::test::direction::to_server, added);
        std::printf("%u\n", static_cast<unsigned>(proxy.port()));
    }
    std::fflush(stdout);
    while (std::getchar() != EOF) continue;
    return 0;
}
