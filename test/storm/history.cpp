#include "storm/history.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "holdfast/clock.hpp"
#include "support/errors.hpp"

namespace holdfast::storm {
namespace {

constexpr auto nothing = "-";  // for a subject that is not there: columns must not move

happening named(const std::string& name) {
    const auto* const found = std::find(happening_names.begin(), happening_names.end(), name);
    if (found == happening_names.end()) throw std::runtime_error("nothing is called " + name);
    return static_cast<happening>(found - happening_names.begin());
}

std::string one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

}  // namespace

std::string to_line(const event& noted) {
    std::ostringstream line;
    line << noted.at.count() << ' ' << happening_names.at(static_cast<std::size_t>(noted.what))
         << ' ' << noted.hold << ' ' << (noted.subject.empty() ? nothing : noted.subject) << ' '
         << noted.token << ' ' << noted.until.count() << ' ' << noted.since.count() << ' '
         << one_line(noted.text) << '\n';
    return line.str();
}

event from_line(const std::string& line) {
    std::istringstream words(line);
    event read;
    std::string name;
    instant::rep at = 0;
    instant::rep until = 0;
    instant::rep since = 0;
    words >> at >> name >> read.hold >> read.subject >> read.token >> until >> since;
    if (!words) throw std::runtime_error("not a line of a history: " + line);
    words.get();
    std::getline(words, read.text);
    read.what = named(name);
    if (read.subject == nothing) read.subject.clear();
    read.at = instant(at);
    read.until = instant(until);
    read.since = instant(since);
    return read;
}

history read_history(const std::filesystem::path& file) {
    std::ifstream input(file);
    if (!input) throw std::runtime_error("cannot read " + file.native());
    history all{file.stem().native(), {}};
    for (std::string line; std::getline(input, line);) {
        if (input.eof()) break;
        all.events.push_back(from_line(line));
    }
    return all;
}

instant now() { return clock::now().time_since_epoch(); }

recorder::recorder(const std::filesystem::path& file)
    : file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
    if (!file_) test::throw_errno("cannot write " + file.native());
}

void recorder::note(event noted) {
    if (noted.at == instant{}) noted.at = now();
    const std::string line = to_line(noted);
    const std::lock_guard guard(mutex_);
    const auto written = ::write(file_.get(), line.data(), line.size());
    if (written != static_cast<ssize_t>(line.size())) test::throw_errno("cannot write a history");
}

}  // namespace holdfast::storm
