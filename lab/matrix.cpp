#include "lab/matrix.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "lab/hazard.hpp"

namespace holdfast::lab {
namespace {

std::string name_of(const cell& where) {
    return std::string(schemes()[where.row].name) + "-" + std::string(hazards()[where.column].name);
}

bool belongs(const cell& where, std::string_view subject) {
    return subject.empty() || subject == schemes()[where.row].name ||
           subject == hazards()[where.column].name || subject == name_of(where);
}

std::vector<step> story_of(const journal& kept) {
    std::vector<step> story;
    for (const journal::entry& each : kept.entries()) {
        story.push_back({each.at, each.on_the_wire, each.text});
    }
    return story;
}

result play_one(const cell& where, const std::stop_token& stop) {
    const scheme_entry& scheme = schemes()[where.row];
    const hazard_entry& hazard = hazards()[where.column];
    if (auto excuse = hazard.excused(scheme)) {
        return {where, {judgement::not_applicable, *excuse}};
    }
    if (scheme.watched && hazard.play_watched == nullptr) {
        return {where, {judgement::not_applicable, "as with one server: see holdfast-guarded"}};
    }
    journal story;
    stage scene(scheme, hazard.wanted, story, stop);
    verdict found = scheme.watched ? hazard.play_watched(scene) : hazard.play(scene);
    return {where, std::move(found), story.elapsed(), story_of(story)};
}

/// What the threads that play share.
class company {
  public:
    company(const std::vector<cell>& cells, const std::function<void(result)>& each)
        : cells_(cells), each_(each) {}

    void work(const std::stop_token& stop) {
        while (!stop.stop_requested() && !failed_) {
            const std::size_t mine = next_++;
            if (mine >= cells_.size()) return;
            try {
                deliver(play_one(cells_[mine], stop));
            } catch (const interrupted&) {
                return;
            } catch (const std::exception& error) {
                if (!stop.stop_requested()) fail(name_of(cells_[mine]) + ": " + error.what());
            }
        }
    }

    void throw_failure() const {
        if (failed_) throw std::runtime_error(failure_);
    }

  private:
    void deliver(result done) {
        const std::scoped_lock guard(mutex_);
        each_(std::move(done));
    }
    void fail(std::string why) {
        const std::scoped_lock guard(mutex_);
        if (!failed_) failure_ = std::move(why);
        failed_ = true;
    }

    const std::vector<cell>& cells_;
    const std::function<void(result)>& each_;
    std::atomic<std::size_t> next_ = 0;
    std::atomic<bool> failed_ = false;
    std::mutex mutex_;
    std::string failure_;
};

}  // namespace

std::vector<named> rows() {
    std::vector<named> all;
    for (const scheme_entry& each : schemes()) all.push_back({each.name, each.summary});
    return all;
}

std::vector<named> columns() {
    std::vector<named> all;
    for (const hazard_entry& each : hazards()) all.push_back({each.name, each.summary});
    return all;
}

std::vector<cell> cells_named(std::string_view subject) {
    std::vector<cell> chosen;
    for (std::size_t row = 0; row < schemes().size(); ++row) {
        for (std::size_t column = 0; column < hazards().size(); ++column) {
            if (belongs({row, column}, subject)) chosen.push_back({row, column});
        }
    }
    return chosen;
}

void play(const std::vector<cell>& cells, std::size_t at_a_time, const std::stop_token& stop,
          const std::function<void(result)>& each) {
    company players(cells, each);
    {
        std::vector<std::jthread> threads;
        for (std::size_t n = 0; n < std::min(at_a_time, cells.size()); ++n) {
            threads.emplace_back([&] { players.work(stop); });
        }
    }
    players.throw_failure();
}

}  // namespace holdfast::lab
