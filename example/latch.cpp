#include <holdfast/holdfast.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace {

/// On a machine of its own, most often.
void load_shard(holdfast::client& client, const std::string& batch, int shard) {
    holdfast::latch loaded{client, batch, 3, {.ttl = 10min}};
    std::cout << "shard " + std::to_string(shard) + " loaded\n" << std::flush;
    loaded.count_down("shard-" + std::to_string(shard));  // once, also if it is started again
}

}  // namespace

int main(int argc, char** argv) try {
    holdfast::client client{argc > 1 ? argv[1] : "redis://127.0.0.1:6379"};
    client.connect();
    const std::string batch =
        "load:" + std::to_string(holdfast::clock::now().time_since_epoch().count());
    std::vector<std::jthread> shards;
    for (int n = 1; n <= 3; ++n) shards.emplace_back([&, n] { load_shard(client, batch, n); });

    holdfast::latch loaded{client, batch, 3, {.ttl = 10min}};  // all of them say how many
    loaded.wait();  // told when the third has counted down; throws if the latch is gone before
    std::cout << "all loaded: open for business\n";
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
