#pragma once

#include <deque>
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
/// What is published to a channel, as its subscribers hear it.
std::string published(const std::string& channel, const std::string& what);

/// A server that speaks RESP3 and knows what a client asks of it, and no more. Scripts are known by
/// their text or hash and done by hand: what the real ones do is tested with real servers.
class stub_server final : public peer {
  public:
    using words = std::vector<std::string>;

    stub_server(world& in, std::string name);

    /// Answers `command` with `reply` from now on, instead of carrying it out; once: only the next
    /// one. A command is called by its first word, CLIENT, SCRIPT, SENTINEL and CLUSTER by their
    /// second (`TRACKING`), a script by its name (`acquire`). An empty reply is none: that answer
    /// never comes.
    void answer(const std::string& command, std::string reply) { always_[command] = reply; }
    void answer_once(const std::string& command, std::string reply) { once_[command] = reply; }
    void answer_as_usual(const std::string& command) { always_.erase(command); }

    /// The server forgets its scripts, or everything, and tells who wants to know.
    void flush_scripts() { loaded_.clear(); }
    void flush_all();
    void kill_connections();
    void kill_connection(const memory_stream& which);
    /// Whoever is called or told of a change from now on is taken for there, and hears nothing.
    void lose_pushes(bool on) { loses_pushes_ = on; }
    void start() { world_.listen(name_, this); }
    void stop();

    /// Its replicas say nothing from now on: WAIT keeps its connection waiting, and all that is
    /// behind it there.
    void silence_replicas() { replicas_silent_ = true; }
    /// Every WAIT is answered with so many; from now on at once, or the next ones wait again.
    void acknowledge(int count, bool from_now_on = true);

    /// How often it was asked for this.
    [[nodiscard]] int count(const std::string& command) const;
    /// All that it was asked, by their names.
    [[nodiscard]] const std::vector<std::string>& asked() const { return asked_; }
    void forget_asked() { asked_.clear(); }
    /// The latest command of that name, word by word. REQUIRES: it was asked for it.
    [[nodiscard]] const words& latest(const std::string& command) const {
        return latest_.at(command);
    }
    [[nodiscard]] std::optional<std::string> owner_of(const std::string& key) const;
    void put(const std::string& key, const std::string& owner, core::duration ttl);
    void erase(const std::string& key) { remove(key, nullptr); }
    /// Tells who listens that the key changed.
    void touch(const std::string& key) { changed(key, nullptr); }
    /// The entries of those who wait for this lock, the first in line first.
    [[nodiscard]] words line_of(const std::string& key) const;
    void stand_in_line(const std::string& key, const std::string& entry);
    void erase_line(const std::string& key);
    /// How often somebody was called.
    [[nodiscard]] int calls() const { return calls_; }
    /// The connections that are there.
    [[nodiscard]] std::vector<std::shared_ptr<memory_stream>> connections() const;

    int replicas = 2;              // that answer WAIT
    std::string info;              // of a master that may vote, unlike any other
    std::uint64_t counter = 1000;  // of all fencing tokens
    std::string enlisted = "*5\r\n:0\r\n:0\r\n:1000\r\n:0\r\n:1700000000000000\r\n";

  private:
    struct stored {
        std::string owner;
        core::time_point until;
    };
    struct session {
        std::shared_ptr<memory_stream> stream;
        std::string unread;
        bool caching = false;  // CLIENT CACHING YES was the last command
        std::vector<std::string> tracked;
        std::vector<std::string> channels;
        std::string unsaid;  // behind what was read at once
        bool waits = false;  // for the replicas
    };
    struct line {
        std::deque<std::string> entries;
        core::time_point until;
    };

    void connected(const std::shared_ptr<memory_stream>& by) override;
    void received(memory_stream& from, std::string_view bytes) override;
    void process(session& by);
    std::string carry_out(session& by, const words& command);
    std::string reply_to(session& by, const std::string& name, const words& command);
    std::string run(session& by, const std::string& name, const words& command);
    std::string acquire(session& by, const words& command);
    std::string queue_acquire(session& by, const words& command);
    std::string queue_release(session& by, const words& command);
    std::optional<std::string> grant_next(session& by, const std::string& key,
                                          const std::string& queue);
    int publish(session& by, const std::string& channel, const std::string& what);
    [[nodiscard]] line* find_line(const std::string& queue);
    void remove(const std::string& key, const memory_stream* by);
    /// Tells who listens, but for who changed it.
    void changed(const std::string& key, const memory_stream* by);
    [[nodiscard]] const stored* find(const std::string& key) const;

    world& world_;
    std::string name_;
    std::vector<session> sessions_;
    std::map<std::string, stored> keys_;
    std::map<std::string, line> lines_;  // by the key of the queue
    int calls_ = 0;
    bool loses_pushes_ = false;
    bool replicas_silent_ = false;
    std::vector<std::string> loaded_;
    std::map<std::string, std::string> always_;
    std::map<std::string, std::string> once_;
    std::vector<std::string> asked_;
    std::map<std::string, words> latest_;
};

}  // namespace holdfast::testing
