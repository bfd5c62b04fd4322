#pragma once

#include <sys/types.h>

#include "descriptor.hpp"

namespace holdfast::tool {

/// Lends the controlling terminal, whatever the standard streams are, to the process group of the
/// command, which is a background group otherwise and would be stopped when it uses it.
///
/// It is lent when the command is stopped for wanting it, not before: in `holdfast run KEY cmd |
/// less` the terminal belongs to less.
class terminal_loan {
  public:
    terminal_loan();
    ~terminal_loan() { take_back(); }
    terminal_loan(const terminal_loan&) = delete;
    terminal_loan& operator=(const terminal_loan&) = delete;

    /// False when there is no terminal, or it is not ours to lend: we are in the background.
    bool lend(pid_t group);
    void take_back();
    [[nodiscard]] bool lent() const { return lent_; }

  private:
    pid_t own_group_;
    descriptor terminal_;
    bool lent_ = false;
};

/// Whether the process has a handler for what stops who uses the terminal without having it.
bool catches_terminal_stops(pid_t process);

}  // namespace holdfast::tool
