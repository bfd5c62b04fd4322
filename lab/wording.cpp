#include "lab/wording.hpp"

#include <algorithm>
#include <array>

#include "resp/view.hpp"
#include "scripts/embedded.hpp"

namespace holdfast::lab {
namespace {

constexpr std::size_t long_argument = 20;
constexpr std::size_t long_script = 42;

std::string shortened(std::string_view text, std::size_t limit) {
    if (text.size() <= limit) return std::string(text);
    return std::string(text.substr(0, limit - 3)) + "...";
}

/// The file that a digest or a text is of, or how it begins.
std::string script_in_words(std::string_view script) {
    const std::array known{scripts::exclusive::acquire,
                           scripts::exclusive::commit,
                           scripts::exclusive::extend,
                           scripts::exclusive::release,
                           scripts::exclusive::queue_acquire,
                           scripts::exclusive::queue_release,
                           scripts::enlist};
    const auto found = std::find_if(known.begin(), known.end(), [&](const auto& each) {
        return each.sha1 == script || each.text == script;
    });
    if (found != known.end()) return std::string(found->name) + ".lua";
    return "\"" + shortened(script, long_script) + "\"";
}

std::string argument_in_words(std::string_view verb, std::size_t place, std::string_view text) {
    if (place == 1 && verb.starts_with("EVAL")) return script_in_words(text);
    return shortened(text, long_argument);
}

}  // namespace

std::string command_in_words(std::string_view frame) {
    std::string words;
    std::string verb;
    std::size_t place = 0;
    for (const resp::view argument : resp::view(frame)) {
        if (place == 0) verb = argument.text();
        if (place > 0) words += ' ';
        words += argument_in_words(verb, place++, argument.text());
    }
    return words;
}

std::string answer_in_words(std::string_view frame) {
    return resp::to_string(resp::view(frame), 60);
}

bool mentions(std::string_view command, std::string_view key) {
    const resp::view arguments(command);
    return std::any_of(arguments.begin(), arguments.end(), [&](const resp::view& argument) {
        return argument.text().find(key) != std::string_view::npos;
    });
}

bool writes(std::string_view command) {
    const auto verb = resp::view(command).at(0);
    return verb && verb->text() != "EXISTS" && verb->text() != "GET";
}

}  // namespace holdfast::lab
