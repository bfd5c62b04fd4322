#pragma once

#include <stdexcept>
#include <string>

namespace holdfast::tool {

/// Ends the tool with a message for people and an exit code for scripts.
class failure : public std::runtime_error {
  public:
    failure(int exit_code, const std::string& message)
        : std::runtime_error(message), exit_code_(exit_code) {}

    [[nodiscard]] int exit_code() const { return exit_code_; }

  private:
    int exit_code_;
};

}  // namespace holdfast::tool
