#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lab/journal.hpp"

namespace holdfast::lab {

/// The network between one client and its servers. It writes every command that names the lock,
/// and its answer, into the story; and it stops, loses or leads astray what a hazard tells it to.
/// Schemes and library alike need no hooks for it.
///
/// The gate: after let_pass(n), n more commands about the lock get through, of all connections
/// together; the next one waits, and what follows it on its connection, until open(). A client
/// that is killed meanwhile has never sent them.
///
/// Thread safety: all members from any thread. Each returns when the change is in force.
class tap {
  public:
    struct route {
        std::string name;  // of the server, in the story
        std::uint16_t port;
    };

    tap(std::string client, std::string key, const std::vector<route>& servers, journal& story);
    ~tap();
    tap(const tap&) = delete;
    tap& operator=(const tap&) = delete;

    /// Where the client finds the server.
    [[nodiscard]] std::uint16_t port(std::size_t server) const;

    void let_pass(std::size_t commands);
    void open();
    [[nodiscard]] bool at_the_gate() const;

    /// Answers about the lock vanish on the way back, from all servers below `servers`.
    void lose_answers(std::size_t servers);
    /// Ends that; connections with a hole in them are reset.
    void heal();

    /// Connections to this server break, and no new one is made.
    void cut_off(std::size_t server);
    /// The server's name means another one from now on; connections to the old one break.
    void lead_to(std::size_t server, std::uint16_t port);

  private:
    class engine;
    std::unique_ptr<engine> engine_;
};

}  // namespace holdfast::lab
