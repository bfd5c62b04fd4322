#include "storm/course.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <thread>

#include "storm/checker.hpp"
#include "storm/nemesis.hpp"
#include "storm/observer.hpp"
#include "storm/progress.hpp"
#include "storm/wall_clock_watch.hpp"

namespace holdfast::storm {
namespace {

using std::chrono::milliseconds;

struct interruption {};

constexpr std::size_t quorum_size = 5;
constexpr double minutes_per_round = 2;

std::string name_of(prey at) {
    switch (at) {
        case prey::minority: return "minority";
        case prey::waiters: return "waiters";
        case prey::group: return "group";
        case prey::anything: break;
    }
    return "anything";
}

class course {
  public:
    explicit course(const course_settings& settings)
        : settings_(settings),
          notes_(settings.directory / "nemesis.history"),
          wall_clock_(settings.directory / "machine.history"),
          scene_({.servers = settings.topology == "one" ? 1 : quorum_size,
                  .replicated = settings.topology == "sentinel",
                  .clustered = settings.topology == "cluster",
                  .replica_acks = settings.replica_acks,
                  .seed = settings.seed,
                  .directory = settings.directory,
                  .program = settings.program}),
          observer_(observe(settings, scene_)),
          nemesis_(scene_, notes_, settings.seed, [this](milliseconds time) { pass(time); }),
          progress_(settings.directory, settings.minutes) {}

    void run() {
        const double rounds = std::max(1.0, std::round(settings_.minutes / minutes_per_round));
        const auto length = std::chrono::duration_cast<instant>(
            std::chrono::duration<double>(settings_.minutes * 60 / rounds));
        for (int n = 0; n < static_cast<int>(rounds); ++n) round(length);
        enter("over");
        dismiss();
    }

    /// Says what it was about to say when it was interrupted.
    void stop() {
        enter("over");
        progress_.finish();
    }

  private:
    /// Long enough to see that everybody has recovered.
    static constexpr instant calm_time = bounds{}.recovery + std::chrono::seconds(1);
    static constexpr instant waiters_time = std::chrono::seconds(25);
    static constexpr instant settling_time = std::chrono::seconds(10);
    static constexpr instant rush_time = bounds{}.rush_begins + std::chrono::seconds(5);

    void round(instant length) {
        if (scene_.servers() == 1) {
            rage(prey::anything, length - calm_time - waiters_time - rush_time);
            calm();
            rage(prey::waiters, waiters_time);
            return rush();
        }
        if (scene_.replicated()) {
            rage(prey::group, length - settling_time - calm_time);
            enter("settling");  // quarantines after the last fail-over
            pass(std::chrono::duration_cast<milliseconds>(settling_time));
            return calm();
        }
        rage(prey::minority, length / 2 - calm_time);
        calm();
        rage(prey::anything, length / 2 - calm_time);
        calm();
    }

    void rage(prey at, instant time) {
        enter(name_of(at));
        nemesis_.rage(at, now() + time);
    }

    void rush() {
        enter("rush");
        scene_.rush(true);
        pass(std::chrono::duration_cast<milliseconds>(rush_time));
        scene_.rush(false);
    }

    /// Nothing remains of locks and queues when those are gone who used them.
    void dismiss() {
        scene_.dismiss();
        for (std::size_t n = 0; n < scene_.workers(); ++n) {
            notes_.note({.what = happening::ended,
                         .hold = static_cast<std::uint64_t>(scene_.worker(n).id()),
                         .subject = scene_.name_of_worker(n)});
        }
        if (!observer_) return;
        std::vector<std::string> left = scene_.keys_left();
        for (const instant end = now() + bounds{}.left_behind; !left.empty() && now() < end;) {
            std::this_thread::sleep_for(milliseconds(50));
            left = scene_.keys_left();
        }
        for (const auto& key : left) notes_.note({.what = happening::remained, .subject = key});
        if (left.empty()) notes_.note({.what = happening::cleared});
    }

    static std::unique_ptr<observer> observe(const course_settings& settings, scene& where) {
        if (where.servers() != 1) return nullptr;
        return std::make_unique<observer>(where.server(0).socket_path(),
                                          settings.directory / "observer.history");
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
    wall_clock_watch wall_clock_;
    scene scene_;
    std::unique_ptr<observer> observer_;  // of a wait queue
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
