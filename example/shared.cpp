#include <holdfast/holdfast.hpp>

#include <chrono>
#include <iostream>
#include <mutex>
#include <shared_mutex>

using namespace std::chrono_literals;

int main(int argc, char** argv) try {
    holdfast::client client{argc > 1 ? argv[1] : "redis://127.0.0.1:6379"};
    holdfast::shared_mutex catalogue{client, "catalogue"};
    {
        std::shared_lock reading{catalogue};  // with any number of others, here and elsewhere
        std::cout << "read while others read\n";
    }

    auto writing = catalogue.acquire({.ttl = 10s});  // alone; newcomers stand in line behind
    std::cout << "write with fencing token " << writing.token() << '\n';

    auto checking = catalogue.downgrade(std::move(writing));  // nobody writes in between
    auto other = catalogue.try_acquire_shared();
    std::cout << "read what was written, " << (other ? "with others\n" : "alone\n");

    if (!catalogue.try_acquire()) std::cout << "nobody writes meanwhile\n";
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
