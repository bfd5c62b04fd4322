#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "storm/faults.hpp"
#include "storm/history.hpp"
#include "storm/scene.hpp"

namespace holdfast::storm {

/// One fault, chosen: what, whom, for how long.
struct strike {
    fault_kind kind{};
    std::vector<std::size_t> targets{};  // servers, or workers
    std::chrono::milliseconds lasts{};
    std::chrono::milliseconds amount{};  // of a delay or a jump
    bool harsh = false;                  // a variant: see where it is carried out
    int repeated = 1;
    std::uint64_t number = 0;
};

/// At what the nemesis aims: the same minority of the servers, anything, those who wait (workers,
/// mostly who stands first in line for the popular lock), or a replication group, mostly its
/// master, or that of a shard.
enum class prey : std::uint8_t { minority, anything, waiters, group };

/// Strikes servers, networks and workers, at least every five seconds, and notes what it does.
///
/// Every kind of fault comes up before any comes again. All clocks stay near the true time: they
/// agree to within the quarantine, as T2 assumes where data is lost.
///
/// Thread safety: one object from one thread.
class nemesis {
  public:
    /// `pass` waits for so long, or throws when the storm is to end.
    using pass_time = std::function<void(std::chrono::milliseconds)>;

    nemesis(scene& victims, recorder& notes, std::uint64_t seed, pass_time pass);

    void rage(prey at, instant end);

    [[nodiscard]] std::size_t strikes() const { return number_; }
    [[nodiscard]] const std::string& doing() const { return doing_; }

  private:
    using milliseconds = std::chrono::milliseconds;

    [[nodiscard]] std::vector<std::size_t> choose_victims(prey at);
    void shuffle_deck(prey at);
    fault_kind draw(prey at);
    strike choose(prey at, std::vector<std::size_t>& free_servers);
    std::vector<std::size_t> choose_workers();
    [[nodiscard]] std::optional<std::size_t> first_in_line();
    void choose_details(strike& chosen);
    void choose_jump(strike& chosen);
    void carry_out(std::vector<strike> all);
    void begin(strike& chosen);
    void begin_once(const strike& chosen);
    void end(const strike& chosen);
    void begin_at_server(const strike& chosen, std::size_t n);
    void begin_in_network(const strike& chosen, std::size_t n);
    void begin_by_command(const strike& chosen, std::size_t n);
    void kill_waiter(std::size_t n);
    [[nodiscard]] std::vector<std::size_t> choose_in_group(fault_kind kind);
    void choose_length(strike& chosen);
    void fail_over_from(std::size_t master);
    void begin_in_group(const strike& chosen, std::size_t n);
    void end_in_group(const strike& chosen, std::size_t n);
    [[nodiscard]] std::vector<std::size_t> choose_in_cluster(fault_kind kind);
    /// Which one has a lock now.
    [[nodiscard]] std::size_t shard_of(std::string_view key);
    void begin_in_cluster(const strike& chosen, std::size_t n);
    void end_in_cluster(const strike& chosen, std::size_t n);
    void await_settled();
    void begin_at_worker(const strike& chosen, std::size_t n);
    void end_at(const strike& chosen, std::size_t n);

    std::vector<std::size_t> some_of(std::vector<std::size_t> all, std::size_t most);
    milliseconds between(milliseconds least, milliseconds most);
    bool chance(int percent);

    scene& scene_;
    recorder& notes_;
    std::mt19937_64 random_;
    pass_time pass_;
    std::map<prey, std::vector<fault_kind>> decks_;
    std::map<std::string_view, std::size_t> moved_to_;  // the shard of a key, since it was moved
    std::string_view moving_;                           // the key whose slot is on its way
    std::uint64_t number_ = 0;
    std::string doing_;
};

}  // namespace holdfast::storm
