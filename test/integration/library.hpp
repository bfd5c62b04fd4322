#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/eventually.hpp"
#include "support/redis_server.hpp"

/// What the tests of the library on real servers share.
namespace holdfast::test {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr int slowness = 4;
#else
inline constexpr int slowness = 1;
#endif

/// At once, as far as a loaded machine can tell: far below every ttl and polling interval that
/// could bring the same result by other means.
inline constexpr milliseconds promptly = 250ms * slowness;
/// For what must happen, but not soon.
inline constexpr milliseconds surely = 20s;

inline options settings_for(std::string url) {
    options settings;
    settings.urls.push_back(std::move(url));
    return settings;
}

inline acquire_options with_ttl(milliseconds ttl) { return {.ttl = ttl}; }

/// What was thrown: code() is empty if nothing was.
struct thrown_error {
    std::error_code code{};
    std::string what{};
};

template <typename Work>
thrown_error error_of(Work&& work) {
    try {
        std::forward<Work>(work)();
    } catch (const std::system_error& thrown) {
        return {thrown.code(), thrown.what()};
    }
    return {};
}

class stopwatch {
  public:
    [[nodiscard]] milliseconds elapsed() const {
        return std::chrono::duration_cast<milliseconds>(clock::now() - started_);
    }

  private:
    clock::time_point started_ = clock::now();
};

/// Notes what was measured, beside the result of the test.
inline void record(const std::string& name, milliseconds value) {
    testing::Test::RecordProperty(name + "_ms", static_cast<int>(value.count()));
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace holdfast::test
