#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::tool {

/// --help was asked for; what() is the text.
class help_wanted : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The options of one sub-command: declared once, for parsing and for --help alike.
///
/// The variables bound here must outlive parse(). An option that is given twice counts as given
/// the second time. Errors: parse() throws failure with exit code 64, or help_wanted.
class command_line {
  public:
    /// `synopsis` is what follows `holdfast NAME` in the usage line.
    command_line(std::string name, std::string synopsis, std::string about);
    ~command_line();

    /// Options declared from here on are listed under this heading.
    void heading(std::string title);

    void flag(const std::string& names, bool& into, std::string help);
    void text(const std::string& names, const std::string& value, std::string& into,
              std::string help);
    void limited_text(const std::string& names, const std::string& value, std::size_t most_bytes,
                      std::string& into, std::string help);
    /// One value each time it is given; all of them count.
    void texts(const std::string& names, const std::string& value, std::vector<std::string>& into,
               std::string help);
    void integer(const std::string& names, const std::string& value, std::optional<int>& into,
                 int lowest, int highest, std::string help);
    /// Rounded up to whole milliseconds, which is what servers count in.
    void duration(const std::string& names, std::optional<std::chrono::milliseconds>& into,
                  std::string help);
    void excludes(const std::string& name, const std::string& other);

    void positional(const std::string& value, std::string& into, bool required);

    /// Said where there are more positionals than that.
    void hint_for_extras(std::string hint) { hint_for_extras_ = std::move(hint); }

    void example(std::string command, std::string meaning);
    /// A paragraph after the options.
    void note(std::string paragraph);

    void parse(std::span<const std::string> arguments);

    /// How many of the arguments are options and their values: up to the first positional, or
    /// through the `--` that ends the options. For commands that are followed by a command.
    [[nodiscard]] std::size_t leading_options(std::span<const std::string> arguments) const;

    [[nodiscard]] std::string help() const;

  private:
    struct entry {
        std::string heading, names, value, help;
    };
    class parser;

    void list(const std::string& names, const std::string& value, std::string help);
    [[nodiscard]] bool takes_value(const std::string& option) const;
    [[nodiscard]] bool value_follows(const std::string& option) const;
    /// The first option among them that is not there; empty: all are.
    [[nodiscard]] std::string unknown_option(std::span<const std::string> arguments) const;
    /// What whoever gave it may have meant; empty: nobody knows.
    [[nodiscard]] std::string hint_for_option(const std::string& option) const;

    std::string name_, synopsis_, about_, hint_for_extras_, heading_ = "Options";
    std::vector<entry> entries_;
    std::vector<std::pair<std::string, std::string>> examples_;
    std::vector<std::string> notes_;
    std::unique_ptr<parser> parser_;
};

}  // namespace holdfast::tool
