#include "sim/world/trace.hpp"

#include <array>
#include <cstdio>

namespace holdfast::sim {

void trace::line(instant at, const char* who, const char* format, ...) {
    std::array<char, 512> said{};
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(said.data(), said.size(), format, arguments);
    va_end(arguments);
    std::array<char, 640> whole{};
    const auto nanos = at.count();
    std::snprintf(whole.data(), whole.size(), "%6lld.%06lld  %-11s %s\n",
                  static_cast<long long>(nanos / 1'000'000'000),
                  static_cast<long long>(nanos / 1000 % 1'000'000), who, said.data());
    text_ += whole.data();
}

}  // namespace holdfast::sim
