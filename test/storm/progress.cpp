#include "storm/progress.hpp"

#include <unistd.h>

#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>

namespace holdfast::storm {

progress::progress(std::filesystem::path directory, double minutes)
    : directory_(std::move(directory)),
      minutes_(minutes),
      terminal_(::isatty(STDERR_FILENO) == 1),
      begin_(now()) {}

void progress::show(const std::string& phase, std::size_t strikes, const std::string& doing) {
    const bool due = terminal_ ? now() - shown_ >= std::chrono::seconds(1) : phase != phase_;
    if (!due) return;
    shown_ = now();
    phase_ = phase;
    count_leases();
    std::ostringstream line;
    line << std::fixed << std::setprecision(1)
         << std::chrono::duration<double, std::ratio<60>>(shown_ - begin_).count() << " of "
         << minutes_ << " min, " << leases_ << " leases, " << strikes << " faults; " << phase
         << (doing.empty() ? "" : ": ") << doing;
    constexpr std::size_t columns = 100;
    if (terminal_) {
        std::cerr << '\r' << std::left << std::setw(columns) << line.str().substr(0, columns)
                  << std::flush;
    } else {
        std::cerr << line.str() << std::endl;
    }
}

void progress::finish() {
    if (terminal_) std::cerr << '\r' << std::string(100, ' ') << '\r' << std::flush;
}

/// Reads on where it had stopped; a line that is not whole yet waits for the next time.
void progress::count_leases() {
    for (const auto& each : std::filesystem::directory_iterator(directory_)) {
        if (each.path().extension() != ".history") continue;
        std::ifstream file(each.path());
        std::streamoff& place = read_to_[each.path()];
        file.seekg(place);
        for (std::string line; std::getline(file, line) && !file.eof();) {
            place += static_cast<std::streamoff>(line.size()) + 1;
            if (line.find(" acquired ") != std::string::npos) ++leases_;
        }
    }
}

}  // namespace holdfast::storm
