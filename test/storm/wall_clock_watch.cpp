#include "storm/wall_clock_watch.hpp"

#include <chrono>

#include "storm/faults.hpp"

namespace holdfast::storm {
namespace {

using namespace std::chrono_literals;

constexpr auto look_every = 20ms;
// A clock that is slewed moves by less than that between two looks; and so does what a look takes.
constexpr instant smallest_jump = 100ms;

/// By how much the wall clock is ahead of the one that is never set.
instant lead() { return std::chrono::system_clock::now().time_since_epoch() - now(); }

}  // namespace

wall_clock_watch::wall_clock_watch(const std::filesystem::path& file)
    : notes_(file), thread_([this](const std::stop_token& stop) { watch(stop); }) {}

// A look that was interrupted between its two clocks shows a jump, and the next one shows it
// undone: both are noted, and excuse a little more than they should.
void wall_clock_watch::watch(const std::stop_token& stop) {
    instant before = lead();
    instant looked = now();
    for (std::uint64_t number = 1; !stop.stop_requested();) {
        std::this_thread::sleep_for(look_every);
        const instant after = lead();
        const instant jump = after - before;
        if (jump > smallest_jump || jump < -smallest_jump) {
            const auto kind =
                jump > instant{0} ? fault_kind::clock_forwards : fault_kind::clock_backwards;
            notes_.note({.at = looked,
                         .what = happening::struck,
                         .hold = number,
                         .subject = "machine",
                         .until = jump,
                         .text = std::string(name_of(kind))});
            notes_.note({.what = happening::mended, .hold = number++});
            before = after;
        }
        looked = now();
    }
}

}  // namespace holdfast::storm
