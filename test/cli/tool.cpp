#include "tool.hpp"

#include <signal.h>

#include <boost/json/src.hpp>
#include <fstream>
#include <sstream>

namespace holdfast::test {

words holdfast_with(words arguments) {
    arguments.insert(arguments.begin(), HOLDFAST_COMMAND);
    return arguments;
}

boost::json::object json_of(const std::string& line) {
    EXPECT_TRUE(line.ends_with('\n')) << line;
    EXPECT_EQ(line.find('\n') + 1, line.size()) << line;
    return boost::json::parse(line).as_object();
}

std::string contents_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

pid_t process_in(const std::filesystem::path& path) {
    const bool written = eventually(10s, [&] { return contents_of(path).ends_with('\n'); });
    if (!written) throw std::runtime_error("nobody wrote " + path.string());
    return std::stoi(contents_of(path));
}

tool_test::tool_test() {
    environment_ = {{"HOLDFAST", HOLDFAST_COMMAND}, {"HOLDFAST_URL", server_.url()},
                    {"URL", server_.url()},         {"REDIS_URL", ""},
                    {"REDISCLI_AUTH", ""},          {"DIR", scratch_.path().native()}};
}

command_result tool_test::holdfast(words arguments, command_options how) const {
    how.environment.insert(environment_.begin(), environment_.end());
    return run_command(holdfast_with(std::move(arguments)), how);
}

command_result tool_test::shell(const std::string& script, command_options how) const {
    how.environment.insert(environment_.begin(), environment_.end());
    return run_command({"/bin/sh", "-c", script}, how);
}

process tool_test::start(words arguments, redirect input) const {
    process_options options;
    options.arguments = holdfast_with(std::move(arguments));
    options.environment = environment_;
    options.input = std::move(input);
    options.output = redirect::capture();
    options.error = redirect::capture();
    options.own_process_group = false;
    return process(options);
}

void tool_test::wait_until_held(const std::string& key) const {
    ASSERT_TRUE(eventually(10s, [&] { return server_.exists(key); }));
}

}  // namespace holdfast::test
