#include "terminal_loan.hpp"

#include <unistd.h>

#include <csignal>

namespace holdfast::tool {
namespace {

// A background process that sets the foreground group is stopped, unless it blocks SIGTTOU.
void set_foreground(pid_t group) {
    sigset_t stop;
    sigset_t before;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTTOU);
    ::pthread_sigmask(SIG_BLOCK, &stop, &before);
    ::tcsetpgrp(STDIN_FILENO, group);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

terminal_loan::terminal_loan() : own_group_(::getpgrp()) {}

bool terminal_loan::lend(pid_t group) {
    if (::isatty(STDIN_FILENO) == 0 || ::tcgetpgrp(STDIN_FILENO) != own_group_) return false;
    set_foreground(group);
    lent_ = true;
    return true;
}

void terminal_loan::take_back() {
    if (lent_) set_foreground(own_group_);
    lent_ = false;
}

}  // namespace holdfast::tool
