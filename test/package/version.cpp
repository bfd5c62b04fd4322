#include <chrono>
#include <holdfast/duration.hpp>
#include <holdfast/version.hpp>
#include <iostream>

static_assert(HOLDFAST_VERSION_MAJOR == holdfast::version_major);

int main() {
    // Something that lies in the library, so that linking proves something.
    if (holdfast::parse_duration("2s") != std::chrono::seconds{2}) return 1;
    std::cout << "holdfast " << holdfast::version << '\n';
}
