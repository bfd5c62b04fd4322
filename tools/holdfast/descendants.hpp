#pragma once

#include <sys/types.h>

#include <optional>
#include <utility>
#include <vector>

#include "control_group.hpp"

namespace holdfast::tool {

/// A command and everybody whom it has started, in whatever group or session: the children of this
/// process, and theirs. Nobody is lost from sight: orphans become children of this process.
///
/// Not safe against the numbers of processes that come around in the moment between a look and a
/// signal.
///
/// REQUIRES: adopt_orphans() before the command was started, /proc, and that nobody else waits for
/// the children of this process.
class descendants {
  public:
    /// `command` leads a process group of its own; none: whoever started it could not say its
    /// number any more. `status`: it has ended already. `group`: where they are, if they are in
    /// one. `others`: children of this process that are none of theirs, and are left alone.
    descendants(std::optional<pid_t> command, std::optional<int> status,
                const std::optional<control_group>& group, std::vector<pid_t> others = {})
        : command_(command), status_(status), group_(group), others_(std::move(others)) {}

    static void adopt_orphans();

    /// The children that this process has now: it may have some from before it was this program.
    static std::vector<pid_t> children_of_this_process();

    /// Takes note of who has stopped or ended.
    void collect();

    /// The wait status of the command, once it has ended.
    [[nodiscard]] const std::optional<int>& status() const { return status_; }
    /// The signal that has stopped the command since this was last asked, if any.
    std::optional<int> take_stop();
    [[nodiscard]] bool all_ended() const { return all_ended_; }

    /// To the group of the command; once the command has ended, or is not known, to all.
    void signal_group(int signal) const;

    /// To everybody; returns who could be reached outside of the group of the command. Parents come
    /// before their children, so that whoever is killed starts nobody anew. A control group is
    /// killed first, in one step.
    std::vector<pid_t> signal_all(int signal) const;

    /// Somebody in the group of the command is stopped.
    [[nodiscard]] bool any_stopped() const;

  private:
    /// The group that the command leads. Not once the command has been collected: its number may
    /// come to mean somebody else.
    [[nodiscard]] std::optional<pid_t> leader() const { return status_ ? std::nullopt : command_; }
    [[nodiscard]] bool in_group(pid_t process) const;
    /// Everybody, parents first.
    [[nodiscard]] std::vector<pid_t> tree() const;

    std::optional<pid_t> command_;
    std::optional<int> status_;
    const std::optional<control_group>& group_;
    std::vector<pid_t> others_;
    std::optional<int> stopped_by_;
    bool all_ended_ = false;
};

}  // namespace holdfast::tool
