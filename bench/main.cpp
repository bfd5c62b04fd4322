/// Holdfast beside its floor, in one run.
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "parts.hpp"

namespace {

using holdfast::bench::report;
using part = void (*)(bool quick, report& out);

const std::map<std::string_view, part> parts{
    {"server", holdfast::bench::one_server}, {"quorum", holdfast::bench::slow_quorum},
    {"votes", holdfast::bench::split_votes}, {"coroutines", holdfast::bench::coroutines},
    {"held", holdfast::bench::held_leases},  {"replication", holdfast::bench::replication},
};

struct wish {
    std::string part = "server";
    bool quick = false;
    std::string json;  // a file, "-", or empty for none
};

int usage(int code) {
    std::fputs(
        "usage: holdfast-bench [--quick] [--json FILE] [PART]\n\n"
        "  server       one server beside hiredis and redis-benchmark; the default\n"
        "  quorum       five servers behind a network that takes a millisecond\n"
        "  replication  a master with replicas, a millisecond away, and behind Sentinels\n"
        "  votes        contenders that start at the same moment\n"
        "  coroutines   ten thousand of them in flight\n"
        "  held         a hundred thousand leases at once\n\n"
        "  --json FILE  the same as one JSON document; FILE may be -, then the tables go to\n"
        "               standard error\n"
        "  --quick      a smoke test: its numbers mean nothing\n\n"
        "Starts its own servers.\n",
        code == 0 ? stdout : stderr);
    return code;
}

/// Returns false for what it does not understand.
bool read(int count, char** arguments, wish& into) {
    for (int n = 1; n < count; ++n) {
        const std::string_view word = arguments[n];
        if (word == "--quick") {
            into.quick = true;
        } else if (word == "--json" && n + 1 < count) {
            into.json = arguments[++n];
        } else if (parts.contains(word)) {
            into.part = word;
        } else {
            return false;
        }
    }
    return true;
}

/// Where the document goes when standard output is wanted for it alone.
std::FILE* set_output_aside() {
    auto* const output = ::fdopen(::dup(STDOUT_FILENO), "w");
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    return output;
}

int run(const wish& what) {
    auto* const output = what.json == "-" ? set_output_aside() : nullptr;
    std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a long run shows where it is
    std::puts(
        "medians of interleaved rounds; 'time x' is the time against the first line of a table");
    report found(what.part, what.quick);
    parts.at(what.part)(what.quick, found);
    if (output != nullptr) {
        std::fputs(found.json().c_str(), output);
        return std::fclose(output) == 0 ? 0 : 74;
    }
    if (what.json.empty()) return 0;
    std::ofstream file(what.json);
    file << found.json() << std::flush;
    if (!file) std::perror(what.json.c_str());
    return file ? 0 : 74;
}

}  // namespace

int main(int count, char** arguments) {
    for (int n = 1; n < count; ++n) {
        const std::string_view word = arguments[n];
        if (word == "--help" || word == "-h") return usage(0);
    }
    wish what;
    if (!read(count, arguments, what)) return usage(64);
    try {
        return run(what);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "holdfast-bench: %s\n", error.what());
        return 1;
    }
}
