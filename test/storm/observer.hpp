#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "storm/account.hpp"
#include "storm/history.hpp"
#include "support/raw_client.hpp"

namespace holdfast::storm {

/// Looks at the only server every few milliseconds, past the faulty network: who owns each lock,
/// who stands in line for it, and whether somebody listens to that one's channel. One script, so
/// that all of a look is true at one time. Notes each state once, with the time for which it was
/// found.
///
/// It shares nothing with the library but the layout of the queue. That it reads keys makes those
/// expire that are due.
class observer {
  public:
    observer(std::filesystem::path socket, const std::filesystem::path& history);

  private:
    void watch(const std::stop_token& stop);
    void look(test::raw_client& server);
    void saw(sight next);
    void note(const sight& noted);

    std::filesystem::path socket_;
    recorder notes_;
    std::map<std::string, sight> last_;  // of each key: not noted yet
    std::jthread thread_;
};

/// The key of the wait queue of a lock.
std::string line_of(std::string_view key);

/// Reads an owner token, "hf1:<40 hex>:user@host:process:label".
claimant claimant_of(const std::string& owner);
/// Reads an entry of a queue, "<channel> <since> <owner>".
claimant waiter_of(const std::string& entry);

}  // namespace holdfast::storm
