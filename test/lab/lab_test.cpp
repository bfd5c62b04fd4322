#include <csignal>
#include <regex>
#include <set>

#include "tool.hpp"

namespace holdfast::test {
namespace {

/// What is known of every scheme in every hazard. A cell that turns out otherwise has a bug, in
/// the scheme, in the hazard or in the library: find it before changing this.
constexpr std::string_view expected_table =
    "                    1   2   3   4   5   6   7   8   9  10  11  12  13  14  15  16\n"
    "exists-set        BAD BAD  ok   - BAD   -   -   - BAD BAD BAD   -  ok  ok   -  ok\n"
    "setnx-expire      BAD  ok  ok  ok BAD BAD BAD   - BAD BAD BAD BAD BAD BAD   - BAD\n"
    "getset             ok  ok BAD BAD BAD BAD BAD   - BAD BAD BAD BAD  ok  ok   - BAD\n"
    "lua-setnx          ok  ok  ok  ok BAD BAD BAD   - BAD BAD BAD BAD BAD BAD   - BAD\n"
    "set-nx             ok  ok  ok  ok BAD BAD BAD   - BAD BAD BAD BAD BAD BAD   - BAD\n"
    "get-del            ok  ok  ok  ok  ok BAD  ok BAD BAD BAD BAD BAD BAD BAD   - BAD\n"
    "lua-del            ok  ok  ok  ok  ok BAD  ok  ok BAD BAD BAD BAD BAD BAD   - BAD\n"
    "renewal            ok  ok  ok  ok  ok BAD  ok  ok BAD BAD BAD BAD BAD BAD   - BAD\n"
    "redlock            ok  ok  ok  ok  ok BAD  ok  ok  ok BAD  ok BAD BAD BAD  ok BAD\n"
    "holdfast           ok  ok  ok  ok  ok  ok  ok  ok BAD BAD  ok  ok BAD BAD   - BAD\n"
    "holdfast-guarded   ok  ok  ok  ok  ok  ok  ok  ok  ok  ok  ok  ok BAD  ok   - BAD\n"
    "holdfast-quorum    ok  ok  ok  ok  ok  ok  ok  ok  ok  ok  ok  ok BAD  ok  ok BAD\n"
    "holdfast-sentinel   -   -   -   -   -   -   -   -  ok   -   -   -   -   -   -  ok\n"
    "holdfast-unacked    -   -   -   -   -   -   -   -  ok   -   -   -   -   -   - BAD\n";

command_result lab_with(words arguments) {
    arguments.insert(arguments.begin(), "lab");
    return run_command(holdfast_with(arguments), {.timeout = 280s});
}

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

/// The processes that work below the path, as the servers do.
std::set<std::string> processes_below(const std::filesystem::path& path) {
    std::set<std::string> found;
    for (const auto& each : std::filesystem::directory_iterator("/proc")) {
        std::error_code gone;
        const auto directory = std::filesystem::read_symlink(each.path() / "cwd", gone);
        if (directory.native().starts_with(path.native())) found.insert(each.path().filename());
    }
    return found;
}

std::set<std::string> words_in(const std::string& text, const std::string& pattern) {
    const std::regex expression(pattern);
    return {std::sregex_token_iterator(text.begin(), text.end(), expression),
            std::sregex_token_iterator()};
}

TEST(lab, breaks_what_it_should_and_nothing_else) {
    const auto result = lab_with({});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out.substr(0, expected_table.size()), expected_table) << result.out;
}

TEST(lab, has_its_table_in_the_documents) {
    EXPECT_TRUE(contains(contents_of(HOLDFAST_SOURCE "/doc/lab.md"), expected_table));
}

TEST(lab, narrates_a_cell_with_what_went_over_the_wire) {
    const auto result = lab_with({"redlock-restart"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const std::regex story(
        "client 1 -> C  SET lottery [0-9a-f.]+ NX PX 10000\n[^]*"
        "client 1 holds the lock\n[^]*"
        "C is killed, and starts again without its data\n[^]*"
        "client 2 -> C  SET lottery [0-9a-f.]+ NX PX 10000\n[^\n]*client 2 <- C  \"OK\"\n[^]*"
        "client 2 holds the lock\n"
        "broken: client 1 holds since [0-9]+ ms, and client 2 too since [0-9]+ ms\n");
    EXPECT_TRUE(std::regex_search(result.out, story)) << result.out;
}

TEST(lab, shows_the_token_that_saves_the_resource_from_a_holder_that_slept) {
    const auto result = lab_with({"holdfast-late-write"});
    EXPECT_TRUE(std::regex_search(
        result.out, std::regex("client 2 writes with token [0-9]+: accepted\n[^]*"
                               "client 1 writes with token [0-9]+: refused[^]*\nsafe: ")))
        << result.out;
}

TEST(lab, prints_json_with_every_step_of_a_cell_that_was_named) {
    const auto cell = json_of(lab_with({"--json", "exists-set-race"}).out);
    EXPECT_EQ(cell.at("scheme").as_string(), "exists-set");
    EXPECT_EQ(cell.at("hazard").as_string(), "race");
    EXPECT_EQ(cell.at("verdict").as_string(), "broken");
    EXPECT_TRUE(contains(cell.at("evidence").as_string().c_str(), "client 2 too since"));
    EXPECT_GT(cell.at("took_ms").as_int64(), 0);
    std::vector<std::string> sent;
    for (const auto& step : cell.at("steps").as_array()) {
        const std::string text = step.at("text").as_string().c_str();
        if (step.at("kind").as_string() == "wire" && contains(text, "->")) {
            sent.push_back(text.substr(0, 19));
        }
    }
    EXPECT_EQ(sent, (std::vector<std::string>{"client 1 -> A  EXIS", "client 2 -> A  EXIS",
                                              "client 1 -> A  SET ", "client 2 -> A  SET "}));
}

TEST(lab, says_why_a_hazard_cannot_happen_to_a_scheme) {
    EXPECT_TRUE(contains(lab_with({"exists-set-overtime"}).out,
                         "\nnot applicable: the lock never expires\n"));
}

TEST(lab, knows_no_other_names) {
    const auto result = lab_with({"zookeeper"});
    EXPECT_EQ(result.exit_code, 64);
    EXPECT_TRUE(contains(result.err, "there is no 'zookeeper'")) << result.err;
}

TEST(lab, cleans_up_when_it_is_interrupted) {
    const scratch_directory scratch("interrupted");
    process playing({.arguments = holdfast_with({"lab", "holdfast-quorum"}),
                     .environment = {{"TMPDIR", scratch.path().native()}},
                     .output = redirect::capture(),
                     .error = redirect::capture()});
    ASSERT_TRUE(eventually(20s, [&] { return processes_below(scratch.path()).size() > 5; }));
    playing.kill(SIGINT);
    EXPECT_EQ(playing.wait(20s).code, 128 + SIGINT) << playing.error_output();
    EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
    EXPECT_EQ(processes_below(scratch.path()), std::set<std::string>{});
}

TEST(lab, has_its_names_completed) {
    const std::string help = lab_with({"--help"}).out;
    auto text = help.substr(help.find("Schemes:"), help.find("Needs") - help.find("Schemes:"));
    auto names = words_in(text, "[a-z][a-z-]+");
    names.erase("chemes");
    names.erase("azards");
    EXPECT_EQ(names.size(), 14U + 16U);
    const auto offered = run_command(
        {"bash", "-c",
         ". " HOLDFAST_SOURCE
         "/tools/holdfast/completions/holdfast.bash; COMP_WORDS=(holdfast lab ''); COMP_CWORD=2; "
         "_holdfast; printf '%s\\n' \"${COMPREPLY[@]}\""});
    EXPECT_EQ(words_in(offered.out, "[a-z-]+"), names);
    for (const char* shell : {"_holdfast", "holdfast.fish"}) {
        const std::string completion =
            contents_of(HOLDFAST_SOURCE "/tools/holdfast/completions/" + std::string(shell));
        for (const auto& name : names) EXPECT_TRUE(contains(completion, name)) << shell << name;
    }
}

}  // namespace
}  // namespace holdfast::test
