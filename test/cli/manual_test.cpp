#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "tool.hpp"

namespace holdfast::test {
namespace {

const words every_command = {"run",    "lock",   "renew", "unlock", "status", "ls",
                             "doctor", "enlist", "local", "bench",  "lab",    "version"};

std::set<std::string> matches_in(const std::string& text, const std::string& pattern) {
    const std::regex expression(pattern);
    std::set<std::string> found;
    for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end;
         ++match) {
        found.insert((*match)[1]);
    }
    return found;
}

std::string help_of(const std::string& command) {
    return run_command(holdfast_with({command, "--help"})).out;
}

/// The options that a command declares: those at the left of a line of its help.
std::set<std::string> options_in_help(const std::string& command) {
    std::set<std::string> options;
    for (const std::string& line : matches_in(help_of(command), "\n {2,6}(-[^\n]*)")) {
        for (const auto& option : matches_in(line.substr(0, line.find("  ")), "(--?[a-zA-Z-]+)")) {
            options.insert(option);
        }
    }
    return options;
}

std::set<std::string> options_in_all_help() {
    std::set<std::string> all{"--version"};
    for (const std::string& command : every_command) all.merge(options_in_help(command));
    return all;
}

std::string source(const std::string& path) { return contents_of(HOLDFAST_SOURCE "/" + path); }

TEST(help, explains_every_command_with_its_options) {
    for (const std::string& command : every_command) {
        const auto result = run_command(holdfast_with({command, "--help"}));
        EXPECT_EQ(result.exit_code, 0) << command;
        EXPECT_TRUE(result.out.starts_with("Usage: holdfast " + command)) << result.out;
        EXPECT_EQ(result.err, "");
    }
    for (const char* command : {"run", "lock", "renew", "unlock", "status", "ls", "doctor"}) {
        EXPECT_NE(help_of(command).find("\nExamples:\n"), std::string::npos) << command;
    }
}

TEST(help, is_no_wider_than_a_terminal) {
    for (const std::string& command : every_command) {
        EXPECT_TRUE(matches_in(help_of(command), "\n([^\n]{101,})").empty()) << help_of(command);
    }
}

TEST(help, gives_an_overview_of_every_command) {
    const auto overview = run_command(holdfast_with({"--help"}));
    EXPECT_EQ(overview.exit_code, 0);
    const auto listed = matches_in(overview.out, "\n  ([a-z]+)  ");
    EXPECT_EQ(listed, std::set<std::string>(every_command.begin(), every_command.end()));
}

TEST(help, of_run_is_not_taken_from_the_command) {
    EXPECT_EQ(run_command(holdfast_with(
                              {"run", "--url", "redis://127.0.0.1:1", "-n", "key", "ls", "--help"}))
                  .exit_code,
              69);
}

TEST(version, is_printed_by_command_and_option) {
    const auto said = run_command(holdfast_with({"version"}));
    EXPECT_TRUE(std::regex_match(said.out, std::regex("holdfast [0-9]+\\.[0-9]+\\.[0-9]+\n")));
    EXPECT_EQ(run_command(holdfast_with({"--version"})).out, said.out);
}

TEST(manual, names_exactly_the_options_and_commands_that_exist) {
    const std::string text = source("doc/man/holdfast.1.scd");
    EXPECT_EQ(matches_in(text, "\\*(--?[a-zA-Z][a-zA-Z-]*)\\*"), options_in_all_help());
    const auto synopsis =
        text.substr(text.find("# SYNOPSIS"), text.find("# DESCRIPTION") - text.find("# SYNOPSIS"));
    EXPECT_EQ(matches_in(synopsis, "\n\\*holdfast ([a-z]+)\\*"),
              std::set<std::string>(every_command.begin(), every_command.end()));
}

TEST(manual, lists_every_exit_code) {
    const std::string text = source("doc/man/holdfast.1.scd");
    for (const char* code : {"75", "79", "69", "77", "76", "64", "78", "71", "126, 127", "128+N"}) {
        EXPECT_NE(text.find("\n" + std::string(code)), std::string::npos) << code;
    }
}

/// What bash offers for `holdfast COMMAND -`, asked of bash itself.
std::set<std::string> offered_by_bash(const std::string& command) {
    const auto result =
        run_command({"bash", "-c",
                     ". " HOLDFAST_SOURCE "/tools/holdfast/completions/holdfast.bash; "
                     "COMP_WORDS=(holdfast " +
                         command +
                         " -); COMP_CWORD=2; _holdfast; "
                         "printf '%s\\n' \"${COMPREPLY[@]}\""});
    return matches_in("\n" + result.out, "\n(-[^\n]+)");
}

TEST(completion, in_bash_offers_exactly_the_options_of_each_command) {
    for (const std::string& command : every_command) {
        EXPECT_EQ(offered_by_bash(command), options_in_help(command)) << command;
    }
}

TEST(completion, in_bash_completes_the_command_after_the_key) {
    const auto result =
        run_command({"bash", "-c",
                     ". " HOLDFAST_SOURCE "/tools/holdfast/completions/holdfast.bash; "
                     "COMP_WORDS=(holdfast run -w 5s key -- /bin/s); COMP_CWORD=6; _holdfast; "
                     "printf '%s\\n' \"${COMPREPLY[@]}\""});
    EXPECT_NE(result.out.find("/bin/sh\n"), std::string::npos) << result.out << result.err;
}

TEST(completion, in_zsh_offers_exactly_the_options_that_exist) {
    const std::string text = source("tools/holdfast/completions/_holdfast");
    auto found = matches_in(text, "(--[a-z][a-z-]*)[\\[},]");
    found.merge(matches_in(text, "\\{(-[a-zA-Z]),--"));
    EXPECT_EQ(found, options_in_all_help());
}

TEST(completion, in_fish_offers_exactly_the_options_of_each_command) {
    const std::string text = source("tools/holdfast/completions/holdfast.fish");
    const std::string talking = " run lock renew unlock status ls doctor enlist ";
    for (const std::string& command : every_command) {
        std::set<std::string> offered;
        for (const std::string& line :
             matches_in(text, "\n(complete [^\n]*__fish_seen_sub[^\n]*)")) {
            const auto start = line.find("_from ") + 5;
            std::string commands =
                line.substr(start, line.find_first_of("'\"", start) - start) + " ";
            if (commands == " $commands ") commands = " " + command + " ";
            if (commands == " $talking ") commands = talking;
            if (commands.find(" " + command + " ") == std::string::npos) continue;
            for (const auto& name : matches_in(line, " -l ([a-z-]+)")) offered.insert("--" + name);
            for (const auto& name : matches_in(line, " -s ([a-zA-Z])")) offered.insert("-" + name);
        }
        EXPECT_EQ(offered, options_in_help(command)) << command;
    }
}

}  // namespace
}  // namespace holdfast::test
