#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/explore/explorer.hpp"
#include "sim/explore/small_world.hpp"

/// What can happen in a small case, one step at a time, and what must not.
namespace holdfast::sim::small {

/// One step that can be taken from a state.
struct step {
    enum class kind : std::uint8_t {
        start,
        release,
        grow_old,
        deliver,
        deliver_stray,
        answer,
        lose,
        expire,
        crash,
        readmit
    };
    kind what{};
    std::uint8_t client = 0;
    std::uint8_t node = 0;
};

std::string to_string(const step& s);

class rules {
  public:
    explicit rules(const small_case& what) : what_(what) {}

    /// Which steps are possible.
    void client_steps(const state& s, std::uint8_t c, std::vector<step>& all) const;
    void link_steps(const state& s, std::uint8_t c, std::uint8_t n, std::vector<step>& all) const;
    void node_steps(const state& s, std::uint8_t n, std::vector<step>& all) const;
    [[nodiscard]] std::vector<step> steps_from(const state& s) const;

    [[nodiscard]] bool may_lose(const state& s, std::uint8_t c, std::uint8_t n) const;
    [[nodiscard]] bool may_crash(const state& s) const { return s.crashes < what_.crashes; }
    [[nodiscard]] bool may_start(const state& s, std::uint8_t c) const;

    /// No attempt is undecided and none is left to begin, so nothing can be broken any more.
    [[nodiscard]] bool is_settled(const state& s) const;

    /// Takes the step. `acted()` then tells whether a client sent or decided something, `broken()`
    /// whether a promise was.
    void apply(state& s, const step& next);
    [[nodiscard]] bool acted() const { return acted_; }
    [[nodiscard]] const std::optional<std::string>& broken() const { return broken_; }
    /// What `apply` saw acquired, if anything.
    [[nodiscard]] const std::optional<acquisition>& acquired() const { return acquired_; }

    /// Drops what can no longer change anything, so that states that differ in nothing else are
    /// one. A release or a commit finds another owner, now and for ever, once its attempt's request
    /// to the node is no longer under way; who holds ignores every answer but a late grant.
    static void tidy(state& s);
    static void tidy(state& s, std::uint8_t c, std::uint8_t n);

    // Attempts are numbered from 1: the client's first two, then the other's.
    static std::uint8_t owner_of(std::size_t c, const client_state& me) {
        return static_cast<std::uint8_t>(1 + c * attempts_each + me.begun - 1);
    }
    static bool is_over(const state& s, std::uint8_t owner);

  private:
    void start(state& s, std::uint8_t c);
    void release(state& s, std::uint8_t c);
    static void send_releases(state& s, std::uint8_t c, core::node_set where);
    static void finish(state& s, std::uint8_t c);
    void deliver(state& s, std::uint8_t c, std::uint8_t n, const asked& what, bool answers);
    void answered(state& s, std::uint8_t c, std::uint8_t n, const reply& said);
    void event(state& s, std::uint8_t c, const core::acquire::event& happened);
    void carry_out(state& s, std::uint8_t c, const core::acquire::actions& actions);
    void decided(state& s, std::uint8_t c);
    void check(const state& s, std::uint8_t c, std::uint16_t token);
    void lose(state& s, std::uint8_t c, std::uint8_t n);
    void crash(state& s, std::uint8_t n);

    small_case what_;
    servers servers_;
    bool acted_ = false;
    std::optional<std::string> broken_{};
    std::optional<acquisition> acquired_{};
};

}  // namespace holdfast::sim::small
