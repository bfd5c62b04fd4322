#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <boost/json/value.hpp>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "process_table.hpp"
#include "support/eventually.hpp"
#include "support/process.hpp"
#include "support/redis_server.hpp"
#include "support/scratch_directory.hpp"

namespace holdfast::test {

using namespace std::chrono_literals;
using words = std::vector<std::string>;

/// The command line of the real command with these arguments.
words holdfast_with(words arguments);

/// The one JSON object in `line`, as somebody else's parser reads it.
boost::json::object json_of(const std::string& line);

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::string contents_of(const std::filesystem::path& path);

/// The number in a file that a process under test writes its id to; waits for it.
pid_t process_in(const std::filesystem::path& path);

/// A server, and the command pointed at it through the environment.
class tool_test : public testing::Test {
  protected:
    tool_test();

    /// Runs the command to its end.
    command_result holdfast(words arguments, command_options how = {}) const;
    /// The same through /bin/sh, with $HOLDFAST and $URL set, for redirections.
    command_result shell(const std::string& script, command_options how = {}) const;
    /// Starts it and goes on; output and errors are captured.
    process start(words arguments, redirect input = redirect::null()) const;

    /// Waits until somebody holds the key.
    void wait_until_held(const std::string& key) const;

    environment_variables environment_;
    scratch_directory scratch_{"cli"};
    redis_server server_;
};

}  // namespace holdfast::test
