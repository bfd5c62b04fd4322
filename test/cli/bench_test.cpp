#include <fstream>

#include "tool.hpp"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;

/// The command in a place of its own, where a benchmark lies only if a test puts one there.
class bench_front : public testing::Test {
  protected:
    bench_front() {
        fs::create_directories(command_.parent_path());
        fs::copy_file(HOLDFAST_COMMAND, command_);
    }

    /// A program that says how it was called, and where it lies.
    void put_benchmark(const fs::path& where) const {
        const auto program = scratch_.path() / where;
        fs::create_directories(program.parent_path());
        std::ofstream(program) << "#!/bin/sh\necho \"$0\"; printf '<%s>' \"$@\"; exit 3\n";
        fs::permissions(program, fs::perms::owner_all);
    }

    command_result bench(words arguments) const {
        arguments.insert(arguments.begin(), {command_.native(), "bench"});
        return run_command(arguments);
    }

    scratch_directory scratch_{"bench"};
    fs::path command_ = scratch_.path() / "bin" / "holdfast";
};

TEST_F(bench_front, passes_arguments_and_exit_code_on) {
    put_benchmark("libexec/holdfast/holdfast-bench");
    const auto result = bench({"--json", "a file", "held"});
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_NE(result.out.find("<--json><a file><held>"), std::string::npos) << result.out;
}

TEST_F(bench_front, takes_the_nearest_benchmark) {
    for (const char* where :
         {"libexec/holdfast/holdfast-bench", "bin/holdfast-bench", "bin/bench/holdfast-bench"}) {
        put_benchmark(where);
        const auto result = bench({});
        EXPECT_TRUE(result.out.starts_with((scratch_.path() / where).native())) << result.out;
    }
}

TEST_F(bench_front, says_what_to_do_where_none_is_installed) {
    const auto result = bench({"held"});
    EXPECT_EQ(result.exit_code, 69);
    EXPECT_NE(result.err.find("holdfast-bench is not installed"), std::string::npos) << result.err;
    EXPECT_EQ(result.out, "");
}

TEST_F(bench_front, explains_itself_without_a_benchmark) {
    const auto result = bench({"--help"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_TRUE(result.out.starts_with("Usage: holdfast bench")) << result.out;
}

}  // namespace
}  // namespace holdfast::test
