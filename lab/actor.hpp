#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "lab/scheme.hpp"
#include "lab/tap.hpp"
#include "support/process.hpp"

namespace holdfast::lab {

/// The user wants the lab to end.
struct interrupted {};

enum class standing : std::uint8_t { held, denied, failed };

struct outcome {
    standing value = standing::failed;
    std::optional<std::uint64_t> token{};
    std::string why{};
    milliseconds at{};  // since the cell began

    [[nodiscard]] bool held() const { return value == standing::held; }
};

/// One client in a story: a real process behind a network of its own, told what to do line by line.
///
///   idle ---- begin_...() ---> busy ---- finish() ---> idle
///
/// Errors: std::runtime_error when the process does not answer in time; `interrupted`.
class actor {
  public:
    struct cast {
        std::string name;
        const scheme_entry& scheme;
        std::vector<tap::route> servers;
        test::environment_variables environment;
    };

    actor(const cast& role, const std::string& key, journal& story, std::stop_token stop);

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] tap& network() { return network_; }

    /// One attempt.
    outcome acquire(const std::string& key, milliseconds ttl);
    void release(const std::string& key);
    [[nodiscard]] bool believes();

    void begin_acquire(const std::string& key, milliseconds ttl);
    void begin_release(const std::string& key);
    /// Waits until the client has answered, or one of its commands waits at the gate.
    /// True when it has answered.
    bool settle();
    /// The answer to what was begun.
    outcome finish();
    void finish_release() { answer(); }

    void crash();   // kill -9
    void pause();   // SIGSTOP
    void resume();  // SIGCONT

  private:
    void order(const std::string& line);
    std::string answer();
    [[nodiscard]] bool answered(milliseconds bound);

    std::string name_;
    journal& story_;
    std::stop_token stop_;
    tap network_;
    test::process process_;
    std::optional<std::string> answer_;
};

}  // namespace holdfast::lab
