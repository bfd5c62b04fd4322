#pragma once

#include <filesystem>
#include <thread>

#include "storm/history.hpp"

namespace holdfast::storm {

/// Notes when the wall clock of this machine was set, as a jump of the clocks of all servers: they
/// end keys by it, and the storm has not made it. A virtual machine whose host corrects its clock
/// lets locks go early, which T1 does not cover, and the checker has to know.
///
/// It watches from a thread of its own, while it lives.
class wall_clock_watch {
  public:
    /// `file`: a history of its own.
    explicit wall_clock_watch(const std::filesystem::path& file);

  private:
    void watch(const std::stop_token& stop);

    recorder notes_;
    std::jthread thread_;
};

}  // namespace holdfast::storm
