#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace holdfast::tool {

/// What happened in a run, filled as it happens, and written as one JSON line to --status-fd when
/// it is over, however it ends.
class run_report {
  public:
    explicit run_report(std::optional<int> descriptor);
    ~run_report();
    run_report(const run_report&) = delete;
    run_report& operator=(const run_report&) = delete;

    /// completed, stopped (--at-most), lost, not_acquired, interrupted (while waiting),
    /// not_started (no such command), or error.
    const char* outcome = "error";
    std::chrono::nanoseconds waited{};
    std::chrono::nanoseconds held{};
    std::uint64_t token = 0;
    std::optional<int> child_exit;

  private:
    std::optional<int> descriptor_;
};

}  // namespace holdfast::tool
