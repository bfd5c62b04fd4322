#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::sim {

/// What a server knows of one connection.
struct server_session {
    std::uint32_t number = 0;
    int protocol = 2;
    bool authenticated = false;
    bool tracking = false;
    bool only_when_asked = false;  // OPTIN
    bool not_of_its_own = false;   // NOLOOP
    bool caching = false;          // CLIENT CACHING YES: the next command is to be remembered
    bool past_handshake = false;
    bool closing = false;            // behind the answer to the present command
    std::uint32_t commands = 0;      // so far
    std::uint32_t channels = 0;      // that it is subscribed to
    std::int64_t written_up_to = 0;  // in the stream to the replicas, by its last command
    struct waiting {
        std::int64_t needed = 0;
        std::int64_t offset = 0;
        std::chrono::microseconds until{};
    };
    std::optional<waiting> waits{};  // for acknowledgements: what comes meanwhile lies unread
    std::string name{};
    std::string unread{};                 // the beginning of a command
    std::vector<std::string> messages{};  // to follow the answer to the present command
    std::vector<std::string> pushes{};    // to follow these

    /// In the older protocol a connection that is subscribed serves for nothing else.
    [[nodiscard]] bool only_listens() const { return protocol == 2 && channels != 0; }

    /// Whether what the present command reads is to be remembered.
    [[nodiscard]] bool listens() const { return tracking && (caching || !only_when_asked); }
};

}  // namespace holdfast::sim
