#include <holdfast/holdfast.hpp>

#include <chrono>
#include <future>
#include <iostream>
#include <thread>

using namespace std::chrono_literals;

namespace {

void report(const holdfast::leader& now) {
    std::cout << "observer: " << (now ? now.value : "nobody") << " leads\n" << std::flush;
}

}  // namespace

int main(int argc, char** argv) try {
    holdfast::client client{argc > 1 ? argv[1] : "redis://127.0.0.1:6379"};
    holdfast::election_observer observer{client, "scheduler"};  // somewhere else, most often
    report(observer.next());                                    // who leads now
    auto changes = std::async(std::launch::async, [&] {
        for (int n = 0; n < 2; ++n) report(observer.next());
    });

    holdfast::election scheduler{client, "scheduler", "10.0.0.7:8080", {.ttl = 10s}};
    const auto lease = scheduler.campaign();  // waits for its turn
    std::cout << "leading in term " << lease.token() << '\n' << std::flush;
    for (int step = 0; step < 3 && scheduler.is_leader(); ++step) {
        std::this_thread::sleep_for(50ms);  // work, and give the term to what you write to
        lease.ensure_held();                // throws if the lead was lost: another may lead
    }
    scheduler.resign();
    changes.get();
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
