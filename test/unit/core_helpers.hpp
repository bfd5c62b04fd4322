#pragma once

#include <gtest/gtest.h>

#include <initializer_list>

#include "core/fencing_token.hpp"
#include "core/node_set.hpp"
#include "core/time.hpp"
#include "unit/core_printing.hpp"

/// Expects that a call breaks its contract and is caught. Builds without assertions have nothing
/// to catch it with; they only compile it.
#ifdef NDEBUG
#define EXPECT_ASSERTED(statement) \
    do {                           \
        if (false) {               \
            statement;             \
        }                          \
    } while (false)
#else
#define EXPECT_ASSERTED(statement) EXPECT_DEATH(statement, "Assertion")
#endif

/// Short ways to write times, nodes and tokens.
namespace holdfast::core {

/// The time that is `since_start` after an arbitrary start, which is not zero.
constexpr time_point at(duration since_start) {
    return time_point{std::chrono::hours(100)} + since_start;
}

constexpr node_index node(std::size_t index) {
    return node_index{static_cast<std::uint8_t>(index)};
}

constexpr node_set nodes(std::initializer_list<std::size_t> indices) {
    node_set result;
    for (const auto index : indices) result.insert(node(index));
    return result;
}

constexpr fencing_token token(std::uint64_t value) { return fencing_token{value}; }

/// The quorums that the tests run with.
inline const auto quorum_sizes = ::testing::Values(1, 3, 5, 7);

inline std::string nodes_in_name(const ::testing::TestParamInfo<int>& test) {
    return "of_" + std::to_string(test.param);
}

}  // namespace holdfast::core
