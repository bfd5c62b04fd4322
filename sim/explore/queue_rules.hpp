#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/explore/explorer.hpp"
#include "sim/explore/queue_world.hpp"

/// What can happen in a small case with one server and its queue, one step at a time, and what must
/// not. Clients are glue around core::contend and core::acquire, as src/runtime is; the server runs
/// the shipped scripts.
///
///   T1, T2      as of `sim/explore/explorer.hpp`
///   order       a grant goes to who came first of those whom the server can call, and a release
///               calls one of them, if there are any
///   liveness    from every state in which nothing is under way and somebody alive waits, looks
///               alone bring somebody the lock, once what nobody holds has expired
///   clean       when all are gone, nothing is left but what the dead have left; and all of it
///   expires
namespace holdfast::sim::in_line {

struct step {
    enum class kind : std::uint8_t {
        start,
        look,
        give_up,
        release,
        grow_old,
        deliver,
        deliver_stray,
        read,
        lose_call,
        lose_link,
        crash,
        hear_of_it,
        expire_lock,
        expire_queue
    };
    kind what{};
    std::uint8_t client = 0;
};

std::string to_string(const step& s);

class rules {
  public:
    explicit rules(const small_case& what) : what_(what) {}

    [[nodiscard]] std::vector<step> steps_from(const state& s) const;

    /// Takes the step. `broken()` then tells whether a promise was.
    void apply(state& s, const step& next);

    /// Whether the state itself breaks one. Call it for every state once.
    void inspect(const state& s);

    /// Drops what can no longer change anything: a release that finds another owner, now and for
    /// ever; an answer that nobody awaits; whether somebody can be called whom nobody will call.
    static void tidy(state& s);

    [[nodiscard]] const std::optional<std::string>& broken() const { return broken_; }

  private:
    void client_steps(const state& s, std::uint8_t c, std::vector<step>& all) const;
    void link_steps(const state& s, std::uint8_t c, std::vector<step>& all) const;
    void server_steps(const state& s, std::vector<step>& all) const;
    [[nodiscard]] bool lock_may_expire(const state& s) const;

    void start(state& s, std::uint8_t c);
    void look(state& s, std::uint8_t c);
    void give_up(state& s, std::uint8_t c);
    void release(state& s, std::uint8_t c);
    void deliver(state& s, std::uint8_t c, const asked& what, bool answers);
    void read(state& s, std::uint8_t c, const word& said);
    void called(state& s, std::uint8_t c, std::uint8_t owner);
    void answered(state& s, std::uint8_t c, const core::acquire::event& said, std::uint8_t place);
    void decide(state& s, std::uint8_t c, const core::contend::event& happened,
                core::time_point now);
    void attempt(state& s, std::uint8_t c);
    void hold(state& s, std::uint8_t c);
    void lose_link(state& s, std::uint8_t c);
    void crash(state& s, std::uint8_t c);

    void check_grant(const state& s, const server_state& before, const asked& by);
    void note_arrivals(state& s);
    void check_liveness(const state& s);
    void check_remains(const state& s);
    void exchange_all(state& s, std::uint8_t c);
    void fail(std::string what) {
        if (!broken_) broken_ = std::move(what);
    }

    small_case what_;
    only_server server_;
    std::optional<std::string> broken_{};
};

/// The search: every state, one step at a time. States that differ in the names of clients alone
/// are one.
search_result explore_queue(const small_case& what, const search_progress& progress = {});

}  // namespace holdfast::sim::in_line
