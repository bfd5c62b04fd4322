#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contest.hpp"

namespace holdfast::bench {

/// One number that a run found.
struct figure {
    std::string name;
    double value = 0;
    std::string unit;
    std::optional<double> spread{};       // interquartile range over median, where there are rounds
    std::optional<double> to_floor{};     // value over that of the floor
    std::optional<double> to_holdfast{};  // value over that of Holdfast's first line
};

/// What a run found, on the screen as it comes, and at the end as one JSON document:
///
///   {"machine": {"processor", "cores", "kernel"}, "quick",
///    "parts": [{"part", "title", "contestants": [{"name", "value", "unit", "spread", "to_floor",
///                                                 "to_holdfast"}]}]}
class report {
  public:
    report(std::string part, bool quick);

    /// Prints a table of a contest whose first line is the floor, and keeps it: median per second,
    /// microseconds each, spread, and the time against the first.
    void contest(const std::string& title, const std::vector<result>& results);

    /// Keeps what the caller has printed itself.
    void keep(std::string title, std::vector<figure> figures);

    [[nodiscard]] std::string json() const;

  private:
    struct table {
        std::string title;
        std::vector<figure> figures;
    };

    std::string part_;
    bool quick_;
    std::vector<table> tables_;
};

}  // namespace holdfast::bench
