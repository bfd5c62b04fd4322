#pragma once

#include <sys/types.h>

namespace holdfast::tool {

/// Lends the terminal to the process group of the command, which is a background group otherwise
/// and would be stopped when it reads from it.
///
/// It is lent when the command is stopped for wanting it, not before: in `holdfast run KEY cmd |
/// less` the terminal belongs to less.
class terminal_loan {
  public:
    terminal_loan();
    ~terminal_loan() { take_back(); }
    terminal_loan(const terminal_loan&) = delete;
    terminal_loan& operator=(const terminal_loan&) = delete;

    /// False when standard input is no terminal, or it is not ours to lend.
    bool lend(pid_t group);
    void take_back();
    [[nodiscard]] bool lent() const { return lent_; }

  private:
    pid_t own_group_;
    bool lent_ = false;
};

}  // namespace holdfast::tool
