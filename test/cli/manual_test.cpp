#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "tool.hpp"

namespace holdfast::test {
namespace {

const words every_command = {"run", "lock",   "renew",  "unlock", "limit", "elect", "status",
                             "ls",  "doctor", "enlist", "local",  "bench", "lab",   "version"};

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
    std::set<std::string> all{"--version", "-V"};
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
    for (const char* command :
         {"run", "lock", "renew", "unlock", "elect", "status", "ls", "doctor"}) {
        EXPECT_NE(help_of(command).find("\nExamples:\n"), std::string::npos) << command;
    }
}

TEST(help, names_every_kind_of_url) {
    for (const char* kind :
         {"redis://", "rediss://", "valkey://", "valkeys://", "unix://", "local:"}) {
        EXPECT_TRUE(contains(help_of("run"), kind)) << kind;
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
    EXPECT_EQ(run_command(holdfast_with({"-V"})).out, said.out);
}

TEST(manual, names_exactly_the_options_and_commands_that_exist) {
    const std::string text = source("doc/man/holdfast.1.scd");
    EXPECT_EQ(matches_in(text, "\\*(--?[a-zA-Z][a-zA-Z-]*)\\*"), options_in_all_help());
    const auto synopsis =
        text.substr(text.find("# SYNOPSIS"), text.find("# DESCRIPTION") - text.find("# SYNOPSIS"));
    EXPECT_EQ(matches_in(synopsis, "\n\\*holdfast ([a-z]+)\\*"),
              std::set<std::string>(every_command.begin(), every_command.end()));
}

/// The page as people read it, in words with one space between them.
std::string manual_as_shown() {
    const auto page = run_command({"sh", "-c",
                                   "scdoc <" HOLDFAST_SOURCE
                                   "/doc/man/holdfast.1.scd | groff -man -Tutf8 -P-c -rHY=0"});
    std::string text;
    for (const char letter : page.out) {
        const bool space = letter == ' ' || letter == '\n';
        if (!space || !text.ends_with(' ')) text += space ? ' ' : letter;
    }
    return std::regex_replace(text, std::regex(".\b"), "");
}

// A line that begins with a dot is a request to the formatter.
TEST(manual, shows_every_line_of_its_examples) {
    const std::string text = source("doc/man/holdfast.1.scd");
    const std::string examples = text.substr(text.find("# EXAMPLES"));
    const std::string shown = manual_as_shown();
    const auto begin = shown.rfind("EXAMPLES");
    ASSERT_NE(begin, std::string::npos) << shown;
    for (std::string line : matches_in(examples, "\n\t?([^\t\n#][^\n]*[^:\n])(?=\n)")) {
        if (line.ends_with("++")) line.resize(line.size() - 2);
        if (contains(line, "_") || line.starts_with("*")) continue;  // of SEE ALSO
        line = std::regex_replace(line, std::regex(R"(\\\*)"), "*");
        EXPECT_NE(shown.find(line, begin), std::string::npos) << line << "\n" << shown;
    }
}

TEST(manual, explains_every_setting_that_a_url_may_have) {
    const auto refused =
        run_command(holdfast_with({"status", "--url", "redis://127.0.0.1?no_such_thing=1", "key"}));
    const auto begin = refused.err.find("known are ") + 9;
    const auto known = refused.err.substr(begin, refused.err.find(" (at") - begin) + ",";
    const std::string text = source("doc/man/holdfast.1.scd");
    const std::string reference = source("doc/urls.md");
    const auto names = matches_in(known, " ([a-z_]+),");
    EXPECT_GT(names.size(), 5U) << refused.err;
    for (const std::string& name : names) {
        EXPECT_TRUE(contains(text, name == "db" ? "*?db=*" : "*" + name + "*")) << name;
        EXPECT_TRUE(contains(reference, "| `" + name + "` |")) << name;
    }
}

class unknown_token : public tool_test {};

TEST_F(unknown_token, is_0_in_json_and_in_the_manual) {
    EXPECT_EQ(json_of(holdfast({"status", "--json", "key"}).out).at("token"), 0);
    server_.command({"SET", "key", "somebody-else"});
    const auto refused = shell("\"$HOLDFAST\" run -n --status-fd 5 key true 5>\"$DIR/report\"");
    EXPECT_EQ(refused.exit_code, 75);
    EXPECT_EQ(json_of(contents_of(scratch_ / "report")).at("token"), 0);
    const std::string text = source("doc/man/holdfast.1.scd");
    EXPECT_TRUE(contains(text, "a *token* that is not known is 0")) << text;
    EXPECT_TRUE(contains(text, "*token* (0 if there was no lock)")) << text;
}

TEST(manual, lists_every_exit_code) {
    const std::string text = source("doc/man/holdfast.1.scd");
    for (const char* code :
         {"1\n", "75", "79", "69", "77", "76", "64", "78", "71", "126, 127", "128+N"}) {
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
    for (const std::string options : {"-w 5s", "--ttl 5s", "-x", "--wait-all", "-n -v"}) {
        const auto result = run_command(
            {"bash", "-c",
             ". " HOLDFAST_SOURCE "/tools/holdfast/completions/holdfast.bash; COMP_WORDS=(holdfast "
             "run " +
                 options +
                 " key -- /bin/s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
                 "_holdfast; printf '%s\\n' \"${COMPREPLY[@]}\""});
        EXPECT_TRUE(contains(result.out, "/bin/sh\n")) << options << result.out << result.err;
    }
}

/// A zsh on a terminal of its own, with the completion, and a function in the place of the command
/// that notes what it was called with. A program that nobody else has can be completed.
class zsh : public testing::Test {
  protected:
    zsh() {
        std::filesystem::create_directory(scratch_ / "bin");
        std::filesystem::create_symlink("/bin/true", scratch_ / "bin/hf-probe-alone");
        std::ofstream(scratch_ / ".zshrc") << "fpath=(" HOLDFAST_SOURCE
                                              "/tools/holdfast/completions $fpath)\n"
                                              "autoload -U compinit; compinit -u -D\n"
                                              "path=($ZDOTDIR/bin $path)\n"
                                              "holdfast() { print -r -- $* >$ZDOTDIR/ran }\n"
                                              "PROMPT='rea''dy> '\n";
        process_options options;
        options.arguments = {"script", "-qec", "zsh -d -i", "/dev/null"};
        options.environment = {{"ZDOTDIR", scratch_.path().native()}, {"TERM", "xterm"}};
        options.input = redirect::pipe();
        options.output = redirect::capture();
        terminal_.emplace(options);
    }

    /// The arguments of holdfast after the tabulator and the end of the line were typed.
    std::string after_tab(const std::string& line) {
        std::filesystem::remove(scratch_ / "ran");
        EXPECT_TRUE(eventually(20s, [&] { return contains(unread(), "ready> "); })) << unread();
        read_ = terminal_->output().size();
        terminal_->write(line + "\t\n");
        EXPECT_TRUE(eventually(20s, [&] { return contents_of(scratch_ / "ran").ends_with('\n'); }))
            << unread();
        return contents_of(scratch_ / "ran");
    }

    std::string unread() const { return terminal_->output().substr(read_); }

    scratch_directory scratch_{"zsh"};
    std::optional<process> terminal_;
    std::size_t read_ = 0;
};

// It looks names up in $commands, which no local of the completion may hide.
TEST_F(zsh, completes_the_command_after_the_key) {
    for (const std::string words : {"run key -- ", "run key ", "run -w 5s key -- ",
                                    "run -n --ttl 5s key -- ", "run key -- env "}) {
        EXPECT_EQ(after_tab("holdfast " + words + "hf-pro"), words + "hf-probe-alone\n");
    }
}

TEST_F(zsh, completes_commands_and_options) {
    EXPECT_EQ(after_tab("holdfast doct"), "doctor\n");
    EXPECT_EQ(after_tab("holdfast bench --pic"), "bench --picture\n");
}

TEST(completion, in_fish_completes_the_command_after_the_key) {
    for (const char* line : {"holdfast run key -- /bin/s", "holdfast run -w 5s key /bin/s",
                             "holdfast run -n --ttl=5s key -- env /bin/s"}) {
        const auto result = run_command(
            {"fish", "-c",
             std::string("source " HOLDFAST_SOURCE "/tools/holdfast/completions/holdfast.fish; ") +
                 "complete -C '" + line + "'"});
        EXPECT_TRUE(contains(result.out, "/bin/sh\t")) << line << "\n" << result.err;
    }
}

TEST(completion, in_zsh_offers_exactly_the_options_that_exist) {
    const std::string text = source("tools/holdfast/completions/_holdfast");
    auto found = matches_in(text, "(--[a-z][a-z-]*)[\\[},]");
    found.merge(matches_in(text, "\\{(-[a-zA-Z]),--"));
    found.merge(matches_in(text, "'\\*(-[a-zA-Z])\\["));  // has no longer name
    EXPECT_EQ(found, options_in_all_help());
}

TEST(completion, in_fish_offers_exactly_the_options_of_each_command) {
    const std::string text = source("tools/holdfast/completions/holdfast.fish");
    const std::string talking = " run lock renew unlock elect status ls limit doctor enlist ";
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
