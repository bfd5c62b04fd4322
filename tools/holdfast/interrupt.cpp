#include "interrupt.hpp"

#include <fcntl.h>

#include <csignal>

#include "descriptor.hpp"

namespace holdfast::tool {

void die_of_interrupt() {
    if (descriptor(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)).get() < 0) return;
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    ::sigaction(SIGINT, &usual, nullptr);
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    ::pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);
    ::raise(SIGINT);
}

}  // namespace holdfast::tool
