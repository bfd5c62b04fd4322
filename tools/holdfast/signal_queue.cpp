#include "signal_queue.hpp"

#include <sys/signalfd.h>

#include <algorithm>

namespace holdfast::tool {
namespace {

bool ignored(int signal) {
    struct sigaction present {};
    return ::sigaction(signal, nullptr, &present) == 0 && present.sa_handler == SIG_IGN;
}

void replace(int signal, void (*handler)(int), struct sigaction& previous) {
    struct sigaction wanted {};
    wanted.sa_handler = handler;
    ::sigaction(signal, &wanted, &previous);
}

}  // namespace

bool is_ending(int signal) {
    return std::find(ending_signals.begin(), ending_signals.end(), signal) != ending_signals.end();
}

signal_queue::signal_queue() {
    sigset_t queued;
    sigemptyset(&queued);
    for (const int signal : ending_signals) {
        if (!ignored(signal)) sigaddset(&queued, signal);
    }
    if (!ignored(SIGTSTP)) sigaddset(&queued, SIGTSTP);
    sigaddset(&queued, SIGCHLD);
    replace(SIGCHLD, SIG_DFL, previous_child_);
    replace(SIGPIPE, SIG_IGN, previous_pipe_);
    ::pthread_sigmask(SIG_BLOCK, &queued, &previous_mask_);
    descriptor_ = checked(::signalfd(-1, &queued, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");
}

signal_queue::~signal_queue() {
    while (next()) continue;
    restore();
}

std::optional<int> signal_queue::next() {
    signalfd_siginfo arrived{};
    if (::read(descriptor_.get(), &arrived, sizeof arrived) != sizeof arrived) return std::nullopt;
    return static_cast<int>(arrived.ssi_signo);
}

void signal_queue::suspend() const noexcept {
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    ::raise(SIGTSTP);
    ::pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
    ::pthread_sigmask(SIG_BLOCK, &stop, nullptr);
}

void signal_queue::restore() const noexcept {
    ::sigaction(SIGPIPE, &previous_pipe_, nullptr);
    ::sigaction(SIGCHLD, &previous_child_, nullptr);
    ::pthread_sigmask(SIG_SETMASK, &previous_mask_, nullptr);
}

}  // namespace holdfast::tool
