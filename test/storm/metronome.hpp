#pragma once

#include <chrono>
#include <thread>

#include "storm/history.hpp"

namespace holdfast::storm {

/// Notes when this process did not run: stopped by the nemesis, or starved by a busy machine. A
/// warning that comes late then is nobody's fault.
class metronome {
  public:
    explicit metronome(recorder& notes)
        : thread_([&notes](const std::stop_token& stop) {
              constexpr std::chrono::milliseconds beat{20};
              constexpr std::chrono::milliseconds tolerance{40};
              for (instant last = now(); !stop.stop_requested();) {
                  std::this_thread::sleep_for(beat);
                  const instant next = now();
                  if (next - last > beat + tolerance) {
                      notes.note({.at = next, .what = happening::stalled, .since = last});
                  }
                  last = next;
              }
          }) {}

  private:
    std::jthread thread_;
};

}  // namespace holdfast::storm
