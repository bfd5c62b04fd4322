#include <fstream>

#include "tool.hpp"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;

/// The command in a place of its own, where a harness lies only if a test puts one there.
class bench_front : public testing::Test {
  protected:
    bench_front() {
        fs::create_directories(command_.parent_path());
        fs::copy_file(HOLDFAST_COMMAND, command_);
    }

    /// A harness that says how it was called.
    void put_harness(const fs::path& programs) const {
        const auto harness = scratch_.path() / programs / "harness";
        fs::create_directories(harness);
        std::ofstream(harness / "__main__.py")
            << "import sys; print(''.join(f'<{word}>' for word in sys.argv)); sys.exit(3)\n";
    }

    /// How a harness of these programs is called.
    std::string called_from(const fs::path& programs) const {
        const auto place = (scratch_.path() / programs).native();
        return "<" + place + "/harness><--programs><" + place + "><--command><" +
               command_.native() + ">";
    }

    command_result bench(words arguments, const environment_variables& environment = {}) const {
        arguments.insert(arguments.begin(), {command_.native(), "bench"});
        return run_command(arguments, {.environment = environment});
    }

    scratch_directory scratch_{"bench"};
    fs::path command_ = scratch_.path() / "bin" / "holdfast";
};

TEST_F(bench_front, passes_arguments_and_exit_code_on) {
    put_harness("libexec/holdfast");
    const auto result = bench({"--json", "a file", "--match", "x", "--match", "y", "held"});
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_EQ(result.out,
              called_from("libexec/holdfast") + "<--json><a file><--match><x><--match><y><held>\n");
}

TEST_F(bench_front, prefers_the_build_tree_to_an_installation) {
    put_harness("libexec/holdfast");
    put_harness("bin/bench");
    EXPECT_EQ(bench({}).out, called_from("bin/bench") + "\n");
}

TEST_F(bench_front, leaves_no_compiled_modules) {
    put_harness("libexec/holdfast");
    const auto harness = scratch_.path() / "libexec/holdfast/harness";
    std::ofstream(harness / "other.py") << "";
    std::ofstream(harness / "__main__.py") << "import other\n";
    EXPECT_EQ(bench({}).exit_code, 0);
    EXPECT_FALSE(fs::exists(harness / "__pycache__"));
}

TEST_F(bench_front, says_what_to_do_where_no_harness_is_installed) {
    const auto result = bench({"held"});
    EXPECT_EQ(result.exit_code, 69);
    EXPECT_NE(result.err.find("the benchmarks are not installed"), std::string::npos) << result.err;
    EXPECT_EQ(result.out, "");
}

TEST_F(bench_front, says_so_where_there_is_no_python) {
    put_harness("libexec/holdfast");
    const auto result = bench({"held"}, {{"PATH", scratch_.path()}});
    EXPECT_EQ(result.exit_code, 69);
    EXPECT_NE(result.err.find("python3"), std::string::npos) << result.err;
}

TEST_F(bench_front, refuses_options_that_do_not_exist) {
    put_harness("libexec/holdfast");
    for (const words& wrong :
         {words{"--slow"}, {"--rounds", "0"}, {"--command", "x"}, {"a", "b"}}) {
        const auto result = bench(wrong);
        EXPECT_EQ(result.exit_code, 64) << wrong.front();
        EXPECT_EQ(result.out, "");
    }
}

TEST_F(bench_front, explains_itself_without_a_harness) {
    const auto result = bench({"--help"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_TRUE(result.out.starts_with("Usage: holdfast bench")) << result.out;
}

/// The real harness, where nothing that it would measure has been built.
class bench_harness : public bench_front {
  protected:
    bench_harness() {
        const auto programs = scratch_.path() / "libexec/holdfast";
        fs::create_directories(programs);
        fs::create_directory_symlink(HOLDFAST_SOURCE "/bench/harness", programs / "harness");
    }
};

TEST_F(bench_harness, says_which_number_it_wants) {
    const auto result = bench({"--seconds", "0.5s"});
    EXPECT_EQ(result.exit_code, 64);
    EXPECT_NE(result.err.find("'0.5s' is not a number above 0"), std::string::npos) << result.err;
}

TEST_F(bench_harness, refuses_what_it_cannot_measure) {
    const std::vector<words> all{{"helt"},
                                 {"--part", "ax"},
                                 {"--seconds", "long"},
                                 {"--seconds", "0"},
                                 {"--json", ""},
                                 {"--json", "both.svg"},
                                 {"--match", "no such title"},
                                 {"--only", "nobody"},
                                 {"--beside", "0.1"},
                                 {"--beside", "0.1=nowhere"},
                                 {"--before", "nowhere"}};
    for (const words& wrong : all) {
        const auto result = bench(wrong);
        EXPECT_EQ(result.exit_code, 64) << wrong.back() << "\n" << result.err;
        EXPECT_TRUE(result.err.starts_with("holdfast: bench: ")) << result.err;
        EXPECT_NE(result.err.find("Try 'holdfast bench --help'"), std::string::npos) << result.err;
    }
}

TEST_F(bench_harness, understands_every_option_and_names_the_program_that_is_missing) {
    const auto result = bench({"--quick", "--no-peers", "--only", "Holdfast", "--match", "server",
                               "--rounds", "2", "--seconds", "0.1", "--output", "x", "--json", "y",
                               "--picture", "z", "--part", "a"});
    EXPECT_EQ(result.exit_code, 69) << result.err;
    EXPECT_NE(result.err.find("libexec/holdfast/holdfast-bench is not there"), std::string::npos)
        << result.err;
}

TEST_F(bench_harness, takes_another_build_by_its_directory_or_by_its_driver) {
    const auto driver = scratch_.path() / "old/bench/holdfast-bench-driver";
    fs::create_directories(driver.parent_path());
    fs::copy_file(HOLDFAST_COMMAND, driver);
    for (const auto& build : {driver, driver.parent_path(), scratch_.path() / "old"}) {
        for (const words& option : {words{"--beside", "0.1=" + build.native()},
                                    words{"--before", build.native(), "--match", "64 threads"}}) {
            const auto result = bench(option);
            EXPECT_EQ(result.exit_code, 69) << option.back() << "\n" << result.err;
        }
    }
}

TEST_F(bench_harness, compares_two_builds_in_a_measurement_of_its_own) {
    const auto driver = scratch_.path() / "holdfast-bench-driver";
    fs::copy_file(HOLDFAST_COMMAND, driver);
    const auto result = bench({"--before", driver.native(), "d"});
    EXPECT_EQ(result.exit_code, 64);
    EXPECT_NE(result.err.find("without PART"), std::string::npos) << result.err;
}

TEST_F(bench_harness, names_the_server_that_is_missing) {
    const auto result = bench({"held"}, {{"HOLDFAST_TEST_SERVER", "no-such-server"}});
    EXPECT_EQ(result.exit_code, 69);
    EXPECT_NE(result.err.find("no-such-server is not there"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace holdfast::test
