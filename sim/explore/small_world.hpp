#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <unordered_map>

#include "core/acquire.hpp"
#include "sim/server/keyspace.hpp"
#include "sim/server/script_library.hpp"

/// The state of a small case as plain bytes, so that it can be copied, hashed and compared.
namespace holdfast::sim::small {

inline constexpr std::size_t nodes = 3;
inline constexpr std::size_t clients = 2;
inline constexpr std::size_t attempts_each = 2;
inline constexpr std::size_t attempts = clients * attempts_each;

/// An object of the core, kept as bytes: padding included, so that equal histories compare equal.
template <typename T>
class plain {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    template <typename... Arguments>
    void emplace(Arguments&&... arguments) {
        bytes_ = {};
        new (bytes_.data()) T(std::forward<Arguments>(arguments)...);
    }
    T& operator*() { return *std::launder(reinterpret_cast<T*>(bytes_.data())); }
    T* operator->() { return &**this; }
    const T& operator*() const { return *std::launder(reinterpret_cast<const T*>(bytes_.data())); }
    const T* operator->() const { return &**this; }
    void clear() { bytes_ = {}; }

  private:
    alignas(T) std::array<std::byte, sizeof(T)> bytes_{};
};

enum class operation : std::uint8_t { acquire, commit, release };

struct asked {
    operation what{};
    std::uint8_t owner = 0;
    std::uint16_t token = 0;
};

struct reply {
    operation what{};
    std::uint8_t owner = 0;
    std::uint8_t code = 0;
    std::uint8_t unused = 0;
    std::uint16_t number = 0;  // the counter of a grant, the token of a commit
};

/// First in, first out, with the unused places zero.
template <typename T, std::size_t Most>
class queue {
  public:
    [[nodiscard]] bool empty() const { return count_ == 0; }
    [[nodiscard]] std::size_t size() const { return count_; }
    void push(const T& item) {
        if (count_ == Most) throw std::length_error("the small case is larger than expected");
        items_[count_++] = item;
    }
    T pop() {
        const T first = items_[0];
        std::memmove(items_.data(), items_.data() + 1, (Most - 1) * sizeof(T));
        items_[--count_] = T{};
        return first;
    }
    /// Takes out whatever `unwanted` says, and keeps the order of the rest.
    template <typename Predicate>
    void drop_if(Predicate&& unwanted) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < count_; ++i) {
            if (!unwanted(items_[i])) items_[kept++] = items_[i];
        }
        while (count_ > kept) items_[--count_] = T{};
    }
    [[nodiscard]] const T* begin() const { return items_.data(); }
    [[nodiscard]] const T* end() const { return items_.data() + count_; }

  private:
    std::array<T, Most> items_{};
    std::size_t count_ = 0;
};

/// A connection of a client to a node, and what is left of its earlier ones.
struct channel {
    queue<asked, 8> up{};
    queue<asked, 8> stray{};  // written to a connection that broke; may arrive yet
    queue<reply, 8> down{};
};

struct client_state {
    enum class phase : std::uint64_t { idle, attempting, holding };

    plain<core::acquire> machine{};
    phase now = phase::idle;
    std::uint32_t begun = 0;    // attempts
    std::uint32_t overdue = 0;  // the validity of the current one is over
};

/// What a node holds. Its clock is part of it: a later life reads a later time.
struct node_state {
    std::uint8_t owner = 0;
    std::uint8_t life = 0;
    std::uint8_t quarantined = 0;
    std::uint8_t waits_for = 0;  // attempts that must be over before the quarantine is
    std::uint16_t counter = 0;   // 0: none
};

struct state {
    std::array<client_state, clients> client{};
    std::array<std::array<channel, nodes>, clients> link{};
    std::array<node_state, nodes> node{};
    std::array<std::uint16_t, attempts> token{};  // of those that were acquired
    std::array<std::uint16_t, attempts> floor{};  // what the token has to exceed
    std::uint16_t losses = 0;
    std::uint16_t crashes = 0;
    std::uint16_t expiries = 0;
    std::uint16_t unused = 0;
};
static_assert(std::is_trivially_copyable_v<state>);

/// Runs the real scripts on a node's state. What a script does depends on nothing else, so each
/// case is run once and remembered.
class servers {
  public:
    struct effect {
        node_state after{};
        std::uint8_t code = 0;
        std::uint16_t number = 0;
    };

    effect execute(std::size_t node, const node_state& before, const asked& what);

  private:
    struct question {
        std::uint8_t node;
        node_state before;
        operation what;
        std::uint8_t owner;
        std::uint16_t token;
    };

    static std::uint64_t key_of(const question& asked);
    effect run(const question& asked);
    [[nodiscard]] lua_runner::script_handle script_of(operation what) const;

    script_library scripts_;
    std::unordered_map<std::uint64_t, effect> known_;
};

/// What the clock of a node shows: the least that a counter which is lost there starts from.
std::uint16_t clock_of(std::size_t node, std::uint8_t life);

}  // namespace holdfast::sim::small
