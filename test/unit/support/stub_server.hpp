#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "unit/support/world.hpp"

namespace holdfast::testing {

/// `$5\r\nhello\r\n`
std::string bulk(std::string_view text);
/// An invalidation push: of these keys, or, without any, of all that there are.
std::string invalidation(const std::vector<std::string>& keys);

/// A server that speaks RESP3 and knows what a client asks of it, and no more. Scripts are known by
/// their text or hash and done by hand: what the real ones do is tested with real servers.
class stub_server final : public peer {
  public:
    using words = std::vector<std::string>;

    stub_server(world& in, std::string name);

    /// Answers `command` with `reply` from now on, instead of carrying it out; once: only the next
    /// one. A command is called by its first word, CLIENT and SCRIPT by their second (`TRACKING`),
    /// a script by its name (`acquire`). An empty reply is none: that answer never comes.
    void answer(const std::string& command, std::string reply) { always_[command] = reply; }
    void answer_once(const std::string& command, std::string reply) { once_[command] = reply; }
    void answer_as_usual(const std::string& command) { always_.erase(command); }

    /// The server forgets its scripts, or everything, and tells who wants to know.
    void flush_scripts() { loaded_.clear(); }
    void flush_all();
    void kill_connections();
    void start() { world_.listen(name_, this); }
    void stop();

    /// How often it was asked for this.
    [[nodiscard]] int count(const std::string& command) const;
    /// All that it was asked, by their names.
    [[nodiscard]] const std::vector<std::string>& asked() const { return asked_; }
    void forget_asked() { asked_.clear(); }
    [[nodiscard]] std::optional<std::string> owner_of(const std::string& key) const;
    void put(const std::string& key, const std::string& owner, core::duration ttl);
    void erase(const std::string& key) { remove(key, nullptr); }
    /// The connections that are there.
    [[nodiscard]] std::vector<std::shared_ptr<memory_stream>> connections() const;

    std::string info;              // of a master that may vote, unlike any other
    std::uint64_t counter = 1000;  // of all fencing tokens
    std::string enlisted = "*4\r\n:0\r\n:0\r\n:1000\r\n:0\r\n";

  private:
    struct entry {
        std::string owner;
        core::time_point until;
    };
    struct session {
        std::shared_ptr<memory_stream> stream;
        std::string unread;
        bool caching = false;  // CLIENT CACHING YES was the last command
        std::vector<std::string> tracked;
    };

    void connected(const std::shared_ptr<memory_stream>& by) override;
    void received(memory_stream& from, std::string_view bytes) override;
    std::string carry_out(session& by, const words& command);
    std::string reply_to(session& by, const std::string& name, const words& command);
    std::string run(session& by, const std::string& name, const words& command);
    std::string acquire(session& by, const words& command);
    void remove(const std::string& key, const memory_stream* by);
    [[nodiscard]] const entry* find(const std::string& key) const;

    world& world_;
    std::string name_;
    std::vector<session> sessions_;
    std::map<std::string, entry> keys_;
    std::vector<std::string> loaded_;
    std::map<std::string, std::string> always_;
    std::map<std::string, std::string> once_;
    std::vector<std::string> asked_;
};

}  // namespace holdfast::testing
