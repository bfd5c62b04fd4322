#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "exit_code.hpp"
#include "failure.hpp"
#include "holdfast/duration.hpp"
#include "message.hpp"
#include "suggestion.hpp"

namespace holdfast::tool {
namespace {

constexpr std::size_t help_column = 30;
constexpr std::size_t help_width = 96;

/// What messages call an option: by the last of its names.
std::string shown(const std::string& names) { return names.substr(names.rfind(',') + 1); }

int read_integer(const std::string& option, const std::string& text, int lowest, int highest) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    if (!whole || value < lowest || value > highest) {
        throw CLI::ValidationError(option + ": '" + text + "' is not a number from " +
                                   std::to_string(lowest) + " to " + std::to_string(highest));
    }
    return value;
}

std::chrono::milliseconds read_duration(const std::string& option, const std::string& text) {
    const auto value = parse_duration(text);
    if (!value) {
        throw CLI::ValidationError(option + ": '" + text +
                                   "' is not a duration; write 500ms, 10s, 5m, 1h30m or 2d");
    }
    return std::chrono::ceil<std::chrono::milliseconds>(*value);
}

/// Appends the words of `text`, breaking lines at the width, continuation lines indented.
void append_wrapped(std::string& out, std::string_view text, std::size_t indent) {
    std::size_t column = indent;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        if (column > indent && column + 1 + word.size() > help_width) {
            out.append("\n").append(indent, ' ');
            column = indent;
        } else if (column > indent) {
            out.append(" ");
            ++column;
        }
        out.append(word);
        column += word.size();
        text.remove_prefix(std::min(text.size(), word.size() + 1));
    }
    out.append("\n");
}

}  // namespace

class command_line::parser : public CLI::App {
  public:
    using CLI::App::App;
};

command_line::command_line(std::string name, std::string synopsis, std::string about)
    : name_(std::move(name)),
      synopsis_(std::move(synopsis)),
      about_(std::move(about)),
      parser_(std::make_unique<parser>()) {
    parser_->set_help_flag();
    parser_->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

command_line::~command_line() = default;

void command_line::heading(std::string title) { heading_ = std::move(title); }

void command_line::flag(const std::string& names, bool& into, std::string help) {
    parser_->add_flag(names, into);
    list(names, "", std::move(help));
}

void command_line::text(const std::string& names, const std::string& value, std::string& into,
                        std::string help) {
    parser_->add_option(names, into);
    list(names, value, std::move(help));
}

void command_line::limited_text(const std::string& names, const std::string& value,
                                std::size_t most_bytes, std::string& into, std::string help) {
    const std::string option = shown(names);
    parser_->add_option_function<std::string>(names, [=, &into](const std::string& text) {
        if (text.size() > most_bytes) {
            throw CLI::ValidationError(option + " takes " + std::to_string(most_bytes) +
                                       " bytes at most, not " + std::to_string(text.size()));
        }
        into = text;
    });
    list(names, value, std::move(help));
}

void command_line::texts(const std::string& names, const std::string& value,
                         std::vector<std::string>& into, std::string help) {
    parser_->add_option(names, into)->take_all()->allow_extra_args(false);
    list(names, value, std::move(help));
}

void command_line::integer(const std::string& names, const std::string& value,
                           std::optional<int>& into, int lowest, int highest, std::string help) {
    const std::string option = shown(names);
    parser_->add_option_function<std::string>(names, [=, &into](const std::string& text) {
        into = read_integer(option, text, lowest, highest);
    });
    list(names, value, std::move(help));
}

void command_line::duration(const std::string& names,
                            std::optional<std::chrono::milliseconds>& into, std::string help) {
    const std::string option = shown(names);
    parser_->add_option_function<std::string>(
        names, [&into, option](const std::string& text) { into = read_duration(option, text); });
    list(names, "DUR", std::move(help));
}

void command_line::excludes(const std::string& name, const std::string& other) {
    parser_->get_option(name)->excludes(parser_->get_option(other));
}

void command_line::positional(const std::string& value, std::string& into, bool required) {
    parser_->add_option(value, into)->required(required);
}

void command_line::example(std::string command, std::string meaning) {
    examples_.emplace_back(std::move(command), std::move(meaning));
}

void command_line::note(std::string paragraph) { notes_.push_back(std::move(paragraph)); }

void command_line::parse(std::span<const std::string> arguments) {
    const auto end_of_options = std::find(arguments.begin(), arguments.end(), "--");
    const auto asks = [](const std::string& word) { return word == "--help" || word == "-h"; };
    if (std::any_of(arguments.begin(), end_of_options, asks)) throw help_wanted(help());
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    try {
        parser_->parse(reversed);
    } catch (const CLI::Error& error) {
        const std::string unknown = unknown_option(arguments);
        std::string what =
            unknown.empty() ? error.what()
                            : "there is no option " + printable(unknown) + hint_for_option(unknown);
        const bool extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
        if (unknown.empty() && extras && !hint_for_extras_.empty()) what += "; " + hint_for_extras_;
        throw failure(exit_code::usage,
                      name_ + ": " + what + "\nTry 'holdfast " + name_ + " --help'.");
    }
}

// Words that are the value of an option, or come after `--`, are none.
std::string command_line::unknown_option(std::span<const std::string> arguments) const {
    for (std::size_t n = 0; n < arguments.size() && arguments[n] != "--"; ++n) {
        const std::string& word = arguments[n];
        if (word.size() < 2 || word.front() != '-') continue;
        const bool is_long = word.starts_with("--");
        std::string option = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
        if (parser_->get_option_no_throw(option) == nullptr) return option;
        if (value_follows(word)) ++n;
    }
    return {};
}

std::string command_line::hint_for_option(const std::string& option) const {
    const auto [ours, advice] = equivalent_of(option);
    const bool ours_is_there =
        ours.empty() || parser_->get_option_no_throw(std::string(ours)) != nullptr;
    if (!advice.empty() && ours_is_there) return "; " + std::string(advice);
    std::vector<std::string> names{"--help"};
    for (const entry& known : entries_) {
        names.push_back(known.names.substr(known.names.find(',') + 1));
    }
    const std::string meant = closest(option, names);
    return meant.empty() ? "" : "; did you mean " + meant + "?";
}

bool command_line::takes_value(const std::string& option) const {
    const auto* known = parser_->get_option_no_throw(option);
    return known != nullptr && known->get_expected_max() > 0;
}

// `-nw 5s`: the value of the last letter of a cluster is the next word, unless it is glued to it.
bool command_line::value_follows(const std::string& option) const {
    if (option.starts_with("--")) {
        return option.find('=') == std::string::npos && takes_value(option);
    }
    for (std::size_t n = 1; n < option.size(); ++n) {
        if (takes_value(std::string("-") + option[n])) return n + 1 == option.size();
    }
    return false;
}

std::size_t command_line::leading_options(std::span<const std::string> arguments) const {
    std::size_t n = 0;
    while (n < arguments.size()) {
        const std::string& word = arguments[n];
        if (word.size() < 2 || word.front() != '-') return n;
        ++n;
        if (word == "--") return n;
        if (value_follows(word)) ++n;
    }
    return arguments.size();
}

void command_line::list(const std::string& names, const std::string& value, std::string help) {
    entries_.push_back({heading_, names, value, std::move(help)});
}

std::string command_line::help() const {
    std::string out =
        "Usage: holdfast " + name_ + (synopsis_.empty() ? "" : " " + synopsis_) + "\n\n";
    append_wrapped(out, about_, 0);
    std::string heading;
    std::vector<entry> all = entries_;
    all.push_back({"Help", "-h,--help", "", "Show this text"});
    for (const entry& option : all) {
        if (option.heading != heading) out += "\n" + option.heading + ":\n";
        heading = option.heading;
        std::string left = option.names.starts_with("--") ? "      " : "  ";
        for (const char letter : option.names) {
            left += letter;
            if (letter == ',') left += ' ';
        }
        if (!option.value.empty()) left += " " + option.value;
        if (left.size() + 2 > help_column) {
            out += left + "\n";
            left.clear();
        }
        left.resize(help_column, ' ');
        append_wrapped(out += left, option.help, help_column);
    }
    for (const std::string& paragraph : notes_) append_wrapped(out += "\n", paragraph, 0);
    if (!examples_.empty()) out += "\nExamples:\n";
    for (const auto& [command, meaning] : examples_) {
        out.append("  ").append(command).append("\n      ").append(meaning).append("\n");
    }
    return out;
}

}  // namespace holdfast::tool
