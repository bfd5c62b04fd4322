#include "support/lock_process.hpp"

#include <stdexcept>

namespace holdfast::test {

lock_process::lock_process(const std::string& url)
    : process_({.arguments = {HOLDFAST_LOCK_PROCESS, url},
                .input = redirect::pipe(),
                .output = redirect::pipe()}) {}

std::string lock_process::listen() {
    auto line = process_.read_line(std::chrono::seconds{20});
    if (!line) throw std::runtime_error("the lock process did not answer");
    return *std::move(line);
}

std::string lock_process::expect(const std::string& command, const std::string& wanted) {
    auto answer = ask(command);
    if (!answer.starts_with(wanted)) {
        throw std::runtime_error(command + ": wanted " + wanted + ", got " + answer);
    }
    return answer;
}

}  // namespace holdfast::test
