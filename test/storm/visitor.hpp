#pragma once

#include <array>
#include <random>
#include <stop_token>
#include <string>

#include "holdfast/holdfast.hpp"
#include "storm/faults.hpp"
#include "storm/history.hpp"
#include "storm/registers.hpp"
#include "storm/worker.hpp"

namespace holdfast::storm {

inline constexpr std::array<std::string_view, 4> keys{popular_key, "figs", "pears", "plums"};

/// How long a visitor waits: not at all, for a time, until its stop_token stops, or as it takes.
enum class manner : std::uint8_t { once, limited, cancelled, patient };

/// One thread of a worker: takes a lock, in one of several ways; reads both registers, thinks,
/// makes sure of the lock, and writes them, perhaps several times; and lets go, in one of several
/// ways. Notes all of it.
///
/// Half of the visits are brisk: a moment each, all at the popular lock and with one ttl, so that
/// the threads of a worker stand in line for it and hand it off. In a rush all visits are, and none
/// gives up. Where there is one server some callers are fair.
class visitor {
  public:
    visitor(client& through, recorder& notes, const worker_orders& orders, std::size_t thread);

    void roam(const std::stop_token& stop);

  private:
    void visit(const std::stop_token& stop);
    acquire_options choose_how();
    manner choose_manner();
    acquisition attempt(const std::string& key, const acquire_options& how, manner waits,
                        const std::stop_token& stop);
    acquisition attempt_until_cancelled(mutex& lock, const std::stop_token& stop);
    void hold(lease held, const acquire_options& how, const std::stop_token& stop);
    bool update(const lease& held);
    bool found_lost(const lease& held);
    void write_plain(const lease& held, const std::string& base);
    void write_fenced(const lease& held, const std::string& base);
    void show_owner(const lease& held);
    void let_go(lease held);

    void note(happening what, std::string text = {});
    std::int64_t between(std::int64_t least, std::int64_t most);
    bool chance(int percent) { return between(1, 100) <= percent; }
    void think(std::int64_t least_ms, std::int64_t most_ms);

    client& client_;
    recorder& notes_;
    registers registers_;
    std::string name_;
    std::mt19937_64 random_;
    std::uint64_t number_;  // of this attempt
    bool queued_;           // there is one server, with a wait queue
    bool rush_ = false;     // as of registers::rush()
    bool brisk_ = false;    // this visit
    std::uint64_t version_ = 0;
    instant deadline_{};  // as last noted
};

}  // namespace holdfast::storm
