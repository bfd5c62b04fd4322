// One program on several machines shall draw the lottery once. usage: lottery [URL]
//
// Every process takes the lock and looks at the board. The first finds it empty, draws ten winners
// and writes them down; whoever comes later finds them there. The look belongs inside the lock: one
// who only asked "is the lock free?" would draw a second time as soon as the first had finished.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <holdfast/holdfast.hpp>
#include <iostream>
#include <new>
#include <numeric>
#include <random>
#include <sstream>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace {

constexpr std::size_t processes = 5;
constexpr std::size_t winners = 10;
constexpr int users = 1000;

/// Stands for a table in a database that all processes write to.
struct board {
    std::array<int, winners> ids{};
    pid_t drawn_by = 0;
    int draws = 0;
    std::array<pid_t, processes> reported{};  // who drew, as each process saw it
};

board& make_board() {
    void* const memory =
        ::mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return *new (memory) board;
}

/// A whole line at once: several processes share one terminal.
template <typename... Parts>
void say(const Parts&... parts) {
    std::ostringstream line;
    line << "process " << ::getpid() << ": ";
    (line << ... << parts) << '\n';
    std::cout << line.str() << std::flush;
}

void draw(board& result) {
    std::vector<int> everybody(users);
    std::iota(everybody.begin(), everybody.end(), 1);
    std::sample(everybody.begin(), everybody.end(), result.ids.begin(), winners,
                std::mt19937{std::random_device{}()});
    result.drawn_by = ::getpid();
    ++result.draws;
}

void take_part(const char* url, board& shared, std::size_t place) {
    holdfast::client client{url};  // made after the fork: a client belongs to one process
    holdfast::mutex lottery{client, "example:lottery"};

    auto lease = lottery.try_acquire();
    if (!lease) {
        if (const auto& other = lease.held_by()) say("waiting: held by ", other->describe());
        lease.emplace(lottery.acquire());
    }
    if (shared.drawn_by == 0) {
        say("drawing, with fencing token ", lease->token());
        std::this_thread::sleep_for(50ms);  // long enough for the others to come
        draw(shared);
    } else {
        say("process ", shared.drawn_by, " has drawn");
    }
    shared.reported[place] = shared.drawn_by;
}

pid_t start(const char* url, board& shared, std::size_t place) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    int code = 0;
    try {
        take_part(url, shared, place);
    } catch (const std::exception& error) {
        say(error.what());
        code = 1;
    }
    std::cout.flush();
    ::_exit(code);
}

bool all_well(const std::vector<pid_t>& children) {
    bool well = true;
    for (const pid_t child : children) {
        int status = -1;
        well = child > 0 && ::waitpid(child, &status, 0) == child && status == 0 && well;
    }
    return well;
}

bool drawn_once(board result) {
    std::sort(result.ids.begin(), result.ids.end());
    const bool distinct =
        std::adjacent_find(result.ids.begin(), result.ids.end()) == result.ids.end();
    const bool agreed = std::all_of(result.reported.begin(), result.reported.end(),
                                    [&](pid_t who) { return who == result.drawn_by; });
    return result.draws == 1 && distinct && result.ids.front() > 0 && agreed;
}

}  // namespace

int main(int argc, char** argv) {
    const char* const url = argc > 1 ? argv[1] : "redis://127.0.0.1:6379";
    auto& shared = make_board();
    std::vector<pid_t> children;
    for (std::size_t place = 0; place < processes; ++place) {
        children.push_back(start(url, shared, place));
    }
    const bool right = all_well(children) && drawn_once(shared);
    std::cout << "drawn " << shared.draws << " times; winners:";
    for (const int id : shared.ids) std::cout << ' ' << id;
    std::cout << '\n';
    return right ? 0 : 1;
}
