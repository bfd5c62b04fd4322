#include "sim/program/options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <thread>

namespace holdfast::sim {

const char* const usage =
    R"(holdfast-sim: runs the shipped client against simulated servers, networks and clocks

  holdfast-sim --seeds A..B [--jobs N] [--faults LIST]   runs the seeds from A to B-1
  holdfast-sim --seed S [--trace] [--faults LIST]        runs one, and tells its story
               [--topology servers|group|kinds]          of either: a replication group instead,
                                                         or other kinds of locks
  holdfast-sim --explore [--attempts N] [--losses N] [--crashes N] [--expiries N] [--jobs N]
               [--reduction plain|leaps|full]            every schedule of a small case
  holdfast-sim --explore --queue [--losses N] [--crashes N]
                                                         the same of one server and its queue
  holdfast-sim --mutants [--most SEEDS] [--jobs N]       breaks each rule, and must notice
  holdfast-sim --hunt NAME [--most SEEDS] [--jobs N]     the same with one of them
  holdfast-sim --mutant NAME ...                         seeds or a search with a rule broken
  holdfast-sim --help                                    says this

LIST: fault names separated by commas, or none. A seed chooses among those.
What breaks rules is the sibling program holdfast-sim-mutants, which is started by itself.
Exit code: 0 all is well, 1 a rule was broken or a mutant not caught, 2 usage, 130 interrupted.
)";

namespace {

using task = program_options::task;

std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t parsed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole ? std::optional(parsed) : std::nullopt;
}

bool parse_range(std::string_view text, range& into) {
    const auto dots = text.find("..");
    if (dots == std::string_view::npos) return false;
    const auto first = number(text.substr(0, dots));
    const auto last = number(text.substr(dots + 2));
    if (!first || !last || *first >= *last) return false;
    into = {*first, *last};
    return true;
}

bool parse_reduction(std::string_view text, reduction& into) {
    constexpr std::array<std::string_view, 3> names{"plain", "leaps", "full"};
    const auto* found = std::ranges::find(names, text);
    if (found != names.end()) into = static_cast<reduction>(found - names.begin());
    return found != names.end();
}

bool parse_faults(std::string_view text, fault_set& into) {
    const auto list = fault_set::parse(text);
    if (list) into = *list;
    return list.has_value();
}

bool parse_topology(std::string_view text, topology& into) {
    for (const auto each : {topology::servers, topology::group, topology::kinds}) {
        if (text != name_of(each)) continue;
        into = each;
        return true;
    }
    return false;
}

bool set_number(program_options& o, std::string_view name, std::uint64_t value) {
    const auto count = static_cast<unsigned>(value);
    if (name == "--seed") return o.what = task::seed, o.seed = value, true;
    if (name == "--most") return o.most = value, true;
    if (name == "--jobs") return o.jobs = std::max(1U, count), true;
    if (name == "--losses") return o.size.losses = count, true;
    if (name == "--crashes") return o.size.crashes = count, true;
    if (name == "--expiries") return o.size.expiries = count, true;
    if (name == "--attempts") return o.size.attempts = count, true;
    return false;
}

bool set_mutant(program_options& o, std::string_view name) {
    o.broken = mutant_named(name);
    return o.broken != nullptr;
}

// Returns false where the value is wrong.
bool set(program_options& o, std::string_view name, std::string_view value) {
    if (name == "--seeds") return parse_range(value, o.seeds);
    if (name == "--faults") return parse_faults(value, o.faults);
    if (name == "--topology") return parse_topology(value, o.shape);
    if (name == "--reduction") return parse_reduction(value, o.size.by);
    if (name == "--mutant") return set_mutant(o, value);
    if (name == "--hunt") return o.what = task::hunt, set_mutant(o, value);
    const auto as_number = number(value);
    return as_number && set_number(o, name, *as_number);
}

bool set(program_options& o, std::string_view name) {
    if (name == "--trace") return o.trace = true;
    if (name == "--explore") return o.what = task::explore, true;
    if (name == "--queue") return o.queue = true;
    if (name == "--mutants") return o.what = task::mutants, true;
    if (name == "--help" || name == "-h") return o.what = task::help, true;
    return false;
}

}  // namespace

std::optional<program_options> parse(const std::vector<std::string_view>& words) {
    program_options o;
    if (words.empty()) return std::nullopt;
    o.jobs = std::max(1U, std::thread::hardware_concurrency());
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (set(o, words[i])) continue;
        if (i + 1 == words.size() || !set(o, words[i], words[i + 1])) return std::nullopt;
        ++i;
    }
    // Leaps are argued for with one loss alone.
    const bool too_much = o.size.losses > 1 && o.size.by != reduction::plain;
    return o.what == task::explore && too_much ? std::nullopt : std::optional(o);
}

}  // namespace holdfast::sim
