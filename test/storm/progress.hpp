#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>

#include "storm/history.hpp"

namespace holdfast::storm {

/// One line about how far it has come: rewritten every second on a terminal, elsewhere a new line
/// with every phase.
class progress {
  public:
    progress(std::filesystem::path directory, double minutes);

    void show(const std::string& phase, std::size_t strikes, const std::string& doing);
    void finish();

  private:
    void count_leases();

    std::filesystem::path directory_;
    double minutes_;
    bool terminal_;
    instant begin_;
    instant shown_{};
    std::string phase_;
    std::size_t leases_ = 0;
    std::map<std::filesystem::path, std::streamoff> read_to_;
};

}  // namespace holdfast::storm
