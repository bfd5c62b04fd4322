#include <holdfast/holdfast.hpp>

#include <chrono>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main(int argc, char** argv) try {
    holdfast::client client{argc > 1 ? argv[1] : "redis://127.0.0.1:6379"};
    holdfast::semaphore licences{client, "licences", 3};  // three, among all processes
    std::mutex output;
    std::vector<std::jthread> workers;
    for (int n = 1; n <= 6; ++n) {
        workers.emplace_back([&, n] {
            auto licence = licences.acquire({.ttl = 10s});  // waits its turn, in order of arrival
            const std::scoped_lock lock{output};
            std::cout << "worker " << n << " has licence " << licence.slot() << '\n';
        });
    }
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
