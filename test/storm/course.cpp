#include "storm/course.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

#include "storm/checker.hpp"
#include "storm/nemesis.hpp"
#include "storm/progress.hpp"

namespace holdfast::storm {
namespace {

using std::chrono::milliseconds;

struct interruption {};

constexpr std::size_t quorum_size = 5;
constexpr double minutes_per_round = 2;

class course {
  public:
    explicit course(const course_settings& settings)
        : settings_(settings),
          notes_(settings.directory / "nemesis.history"),
          scene_({.servers = settings.topology == "one" ? 1 : quorum_size,
                  .seed = settings.seed,
                  .directory = settings.directory,
                  .program = settings.program}),
          nemesis_(scene_, notes_, settings.seed, [this](milliseconds time) { pass(time); }),
          progress_(settings.directory, settings.minutes) {}

    void run() {
        const double rounds = std::max(1.0, std::round(settings_.minutes / minutes_per_round));
        const auto length = std::chrono::duration_cast<instant>(
            std::chrono::duration<double>(settings_.minutes * 60 / rounds));
        for (int n = 0; n < static_cast<int>(rounds); ++n) round(length);
        enter("over");
        scene_.dismiss();
    }

    /// Says what it was about to say when it was interrupted.
    void stop() {
        enter("over");
        progress_.finish();
    }

  private:
    /// Long enough to see that everybody has recovered.
    static constexpr instant calm_time = bounds{}.recovery + std::chrono::seconds(1);

    void round(instant length) {
        if (scene_.servers() == 1) {
            rage(false, length - calm_time);
            return calm();
        }
        rage(true, length / 2 - calm_time);
        calm();
        rage(false, length / 2 - calm_time);
        calm();
    }

    void rage(bool minority, instant time) {
        enter(minority ? "minority" : "anything");
        nemesis_.rage(minority, now() + time);
    }

    void calm() {
        enter("calm");
        pass(std::chrono::duration_cast<milliseconds>(calm_time));
    }

    void enter(const std::string& phase) {
        phase_ = phase;
        notes_.note({.what = happening::phase, .text = phase});
    }

    void pass(milliseconds time) {
        const instant until = now() + time;
        do {
            if (settings_.interrupted()) throw interruption{};
            scene_.inspect();
            progress_.show(phase_, nemesis_.strikes(), nemesis_.doing());
            std::this_thread::sleep_for(
                std::clamp<instant>(until - now(), instant{0}, milliseconds(50)));
        } while (now() < until);
    }

    const course_settings& settings_;
    recorder notes_;
    scene scene_;
    nemesis nemesis_;
    progress progress_;
    std::string phase_;
};

/// Only what a storm left there: the directory may hold other things.
void clear(const std::filesystem::path& directory) {
    std::filesystem::create_directories(directory);
    for (const auto& each : std::filesystem::directory_iterator(directory)) {
        const auto kind = each.path().extension();
        if (kind == ".history" || kind == ".log" || kind == ".svg") {
            std::filesystem::remove(each.path());
        }
    }
}

}  // namespace

bool run_course(const course_settings& settings) {
    clear(settings.directory);
    course whole(settings);
    try {
        whole.run();
        whole.stop();
        return true;
    } catch (const interruption&) {
    } catch (const std::exception&) {
        // Ctrl-C on a terminal reaches servers and workers too, perhaps before us.
        if (!settings.interrupted()) throw;
    }
    whole.stop();
    return false;
}

}  // namespace holdfast::storm
