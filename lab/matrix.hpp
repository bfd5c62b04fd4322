#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

/// The lab as others see it: every scheme in every hazard, played on real servers that it starts
/// and stops itself.
namespace holdfast::lab {

enum class judgement : std::uint8_t { safe, broken, not_applicable };

/// What became of a scheme in a hazard, and what shows it: who held what when, or why there is
/// nothing to show.
struct verdict {
    judgement value;
    std::string evidence;
};

struct named {
    std::string_view name;
    std::string_view summary;
};

/// In the order of the table: rows and columns.
std::vector<named> rows();
std::vector<named> columns();

struct cell {
    std::size_t row;
    std::size_t column;
};

/// All cells; or those of a row or a column, by name; or one, SCHEME-HAZARD. Empty: no such name.
std::vector<cell> cells_named(std::string_view subject);

struct step {
    std::chrono::milliseconds at;
    bool on_the_wire;  // a command or an answer
    std::string text;
};

struct result {
    cell where;
    verdict found;
    std::chrono::milliseconds took{};
    std::vector<step> story{};
};

/// Plays the cells, several at a time, and hands on each result as it comes, one at a time.
/// Returns when all are done or, soon, when `stop` fires: with everything stopped and removed.
/// Errors: the first std::exception of any cell, after all have ended.
void play(const std::vector<cell>& cells, std::size_t at_a_time, const std::stop_token& stop,
          const std::function<void(result)>& each);

}  // namespace holdfast::lab
