#include "run_report.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "json.hpp"
#include "message.hpp"

namespace holdfast::tool {
namespace {

std::int64_t milliseconds_of(std::chrono::nanoseconds duration) {
    return std::chrono::floor<std::chrono::milliseconds>(duration).count();
}

}  // namespace

run_report::run_report(std::optional<int> descriptor) : descriptor_(descriptor) {
    // The command has no business with it; but its standard streams stay its own.
    if (descriptor_ && *descriptor_ > 2) ::fcntl(*descriptor_, F_SETFD, FD_CLOEXEC);
}

run_report::~run_report() {
    if (!descriptor_) return;
    json_object object;
    object.add("outcome", outcome);
    object.add("wait_ms", milliseconds_of(waited)).add("held_ms", milliseconds_of(held));
    object.add("token", token).add("child_exit", child_exit);
    const std::string line = object.line();
    if (::write(*descriptor_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        say("cannot write to the status descriptor");
    }
}

}  // namespace holdfast::tool
