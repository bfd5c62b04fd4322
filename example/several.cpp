#include <holdfast/holdfast.hpp>

#include <iostream>

int main(int argc, char** argv) try {
    holdfast::client client{argc > 1 ? argv[1] : "redis://127.0.0.1:6379"};
    holdfast::multi_mutex accounts{client, {"account:42", "account:17"}};  // in any order

    auto lease = accounts.acquire();  // both of them, or neither
    std::cout << "both accounts, fencing token " << lease.token() << '\n';

    holdfast::client elsewhere{argc > 1 ? argv[1] : "redis://127.0.0.1:6379"};
    for (const auto& key : accounts.keys()) {
        if (!elsewhere.try_acquire(key)) std::cout << key << " is held\n";
    }
    std::cout << "neither of them alone meanwhile\n";
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
