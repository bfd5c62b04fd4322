#pragma once

#include <chrono>
#include <string>

#include "support/process.hpp"

namespace holdfast::test {

/// Another process with a client of its own: see test/helper/lock_process.cpp for what it
/// understands.
///
/// Thread safety: one object from one thread at a time.
/// Errors: std::runtime_error when it does not answer in time.
class lock_process {
  public:
    explicit lock_process(const std::string& url);

    std::string ask(const std::string& command) {
        tell(command);
        return listen();
    }
    void tell(const std::string& command) { process_.write(command + "\n"); }
    std::string listen();

    /// Throws unless the answer begins with `wanted`.
    std::string expect(const std::string& command, const std::string& wanted);

    process& child() { return process_; }

  private:
    process process_;
};

}  // namespace holdfast::test
