/// Holdfast beside its floor, in one run.
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

#include "parts.hpp"

namespace {

using part = void (*)(bool quick);

const std::map<std::string_view, part> parts{
    {"server", holdfast::bench::one_server}, {"quorum", holdfast::bench::slow_quorum},
    {"votes", holdfast::bench::split_votes}, {"coroutines", holdfast::bench::coroutines},
    {"held", holdfast::bench::held_leases},
};

int usage(int code) {
    std::puts(
        "usage: holdfast-bench [--quick] [PART]\n\n"
        "  server       one server beside hiredis and redis-benchmark; the default\n"
        "  quorum       five servers behind a network that takes a millisecond\n"
        "  votes        contenders that start at the same moment\n"
        "  coroutines   ten thousand of them in flight\n"
        "  held         a hundred thousand leases at once\n\n"
        "Starts its own servers. --quick: a smoke test.");
    return code;
}

}  // namespace

int main(int count, char** arguments) {
    bool quick = false;
    std::string_view chosen = "server";
    for (int n = 1; n < count; ++n) {
        const std::string_view word = arguments[n];
        if (word == "--help") return usage(0);
        if (word == "--quick") {
            quick = true;
        } else if (parts.contains(word)) {
            chosen = word;
        } else {
            return usage(64);
        }
    }
    std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a long run shows where it is
    std::puts(
        "medians of interleaved rounds; 'time x' is the time against the first line of a table");
    parts.at(chosen)(quick);
    return 0;
}
