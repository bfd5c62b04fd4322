#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "core/contend.hpp"
#include "sim/explore/small_world.hpp"

/// The state of a small case with one server and its queue, as plain bytes.
namespace holdfast::sim::in_line {

using small::plain;
using small::queue;

inline constexpr std::size_t clients = 3;
inline constexpr std::size_t owners_each = 2;  // the second after an answer that did not come

/// Owners are numbered from 1: each client's two, one client after the other.
constexpr std::uint8_t client_of(std::uint8_t owner) {
    return static_cast<std::uint8_t>((owner - 1U) / owners_each);
}

enum class operation : std::uint8_t { acquire, release };

struct asked {
    operation what{};
    std::uint8_t owner = 0;
    std::uint8_t in_line = 0;    // it may stand there already
    std::uint8_t has_entry = 0;  // of a release: it leaves the line, too
};

/// The answer to an acquire, or a call.
struct word {
    std::uint8_t is_call = 0;
    std::uint8_t owner = 0;
    std::uint8_t code = 0;
    std::uint8_t place = 0;
    std::uint16_t token = 0;
    std::uint16_t unused = 0;
};
static_assert(sizeof(word) == 8);

struct link {
    queue<asked, 6> up{};
    queue<asked, 6> stray{};  // written to a connection that is gone; may arrive yet
    queue<word, 6> down{};
};

struct client_state {
    enum class phase : std::uint8_t { idle, attempting, waiting, holding, over, dead };

    plain<core::contend> contend{};
    plain<core::acquire> machine{};  // of the attempt that is under way
    phase now = phase::idle;
    std::uint8_t burnt = 0;    // owners that were given up
    std::uint8_t in_line = 0;  // its owner was deposited there
    std::uint8_t overdue = 0;  // the validity of its attempt, or of what it holds, is over
    std::uint16_t floor = 0;   // what the token of its attempt has to exceed
    std::uint16_t unused = 0;
};

struct server_state {
    std::uint8_t owner = 0;
    std::uint8_t claimed = 0;    // it has the whole ttl; otherwise the two seconds of a grant
    std::uint8_t there = 0;      // a bit for each client with a connection that is subscribed
    std::uint8_t half_open = 0;  // the same; it is gone, and the server has not heard
    std::uint16_t counter = 0;
    std::uint16_t unused = 0;
    queue<std::uint8_t, 8> line{};

    [[nodiscard]] std::uint8_t hears() const { return there | half_open; }
};

struct state {
    std::array<client_state, clients> client{};
    std::array<link, clients> net{};
    server_state server{};
    queue<std::uint8_t, 8> arrived{};  // who stands in line, in the order in which they came
    std::array<std::uint16_t, clients> token{};  // that were given out
    std::uint8_t losses = 0;
    std::uint8_t crashes = 0;
    std::uint8_t strayed = 0;  // what was asked over a broken connection came after all
    std::array<std::uint8_t, 7> unused{};
};
static_assert(std::is_trivially_copyable_v<state>);
static_assert(sizeof(state) % 8 == 0);

/// Runs the shipped scripts on the server's state, each case once.
class only_server {
  public:
    struct effect {
        server_state after{};
        std::uint8_t code = 0;
        std::uint8_t place = 0;
        std::uint16_t token = 0;
        std::uint8_t called = 0;    // the owner that was called and heard
        std::uint8_t for_ever = 0;  // something was left that does not expire
    };

    effect execute(const server_state& before, const asked& what);

  private:
    effect run(const server_state& before, const asked& what);

    script_library scripts_;
    std::unordered_map<std::string, effect> known_;
};

}  // namespace holdfast::sim::in_line
