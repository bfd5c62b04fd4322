#include "terminal_loan.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <fstream>
#include <string>

namespace holdfast::tool {
namespace {

// A background process that sets the foreground group is stopped, unless it blocks SIGTTOU.
void set_foreground(int terminal, pid_t group) {
    sigset_t stop;
    sigset_t before;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTTOU);
    ::pthread_sigmask(SIG_BLOCK, &stop, &before);
    ::tcsetpgrp(terminal, group);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

terminal_loan::terminal_loan() : own_group_(::getpgrp()) {}

bool terminal_loan::lend(pid_t group) {
    if (!terminal_) terminal_ = descriptor(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!terminal_) return false;
    const pid_t foreground = ::tcgetpgrp(terminal_.get());
    if (foreground == group) return lent_;
    if (foreground != own_group_) return false;
    set_foreground(terminal_.get(), group);
    lent_ = true;
    return true;
}

void terminal_loan::take_back() {
    if (lent_) set_foreground(terminal_.get(), own_group_);
    lent_ = false;
}

bool catches_terminal_stops(pid_t process) {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    for (std::string name; status >> name;) {
        if (name != "SigCgt:") continue;
        std::uint64_t caught = 0;
        status >> std::hex >> caught;
        const auto bit = [](int signal) { return std::uint64_t{1} << (signal - 1); };
        return (caught & (bit(SIGTTIN) | bit(SIGTTOU))) != 0;
    }
    return false;
}

}  // namespace holdfast::tool
