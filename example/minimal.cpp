#include <holdfast/holdfast.hpp>

#include <chrono>
#include <iostream>
#include <mutex>

using namespace std::chrono_literals;

int main(int argc, char** argv) try {
    holdfast::client client{argc > 1 ? argv[1] : "redis://127.0.0.1:6379"};
    holdfast::mutex orders{client, "orders:42"};
    {
        std::scoped_lock held{orders};  // waits its turn; renewed in the background while held
        std::cout << "locked\n";
    }

    auto lease = orders.try_acquire_for(500ms, {.ttl = 10s});
    if (!lease) {  // held by another: a value, not an error
        const auto& other = lease.held_by();
        std::cout << "held by " << (other ? other->describe() : "somebody") << '\n';
        return 1;
    }
    std::stop_token lost = lease->stop_token();  // stops before the deadline of a lease in danger
    for (int row = 1; row <= 3 && !lost.stop_requested(); ++row) {
        std::cout << "write row " << row << " with fencing token " << lease->token() << '\n';
    }
    lease->ensure_held();  // throws if the deadline has passed
}  // released here
catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
