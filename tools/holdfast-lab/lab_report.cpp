#include "lab_report.hpp"

#include <algorithm>

#include "json.hpp"
#include "message.hpp"
#include "table.hpp"

namespace holdfast::tool {
namespace {

using lab::judgement;

std::string name_of(judgement value) {
    switch (value) {
        case judgement::safe: return "safe";
        case judgement::broken: return "broken";
        case judgement::not_applicable: return "not_applicable";
    }
    return "";
}

std::string in_words(judgement value) {
    return value == judgement::not_applicable ? "not applicable" : name_of(value);
}

std::string mark_of(judgement value) {
    switch (value) {
        case judgement::safe: return "ok";
        case judgement::broken: return "BAD";
        case judgement::not_applicable: return "-";
    }
    return "";
}

style look_of(judgement value) {
    switch (value) {
        case judgement::safe: return style::good;
        case judgement::broken: return style::bad;
        case judgement::not_applicable: return style::faint;
    }
    return style::faint;
}

std::string right_aligned(const std::string& text, std::size_t width) {
    return std::string(width - std::min(width, text.size()), ' ') + text;
}

constexpr std::size_t column_width = 4;

/// A row of the table, with "?" where nothing was played.
std::string row_of(std::size_t row, const std::vector<lab::result>& results, bool coloured) {
    std::string line;
    for (std::size_t column = 0; column < lab::columns().size(); ++column) {
        const auto played = std::find_if(results.begin(), results.end(), [&](const auto& each) {
            return each.where.row == row && each.where.column == column;
        });
        if (played == results.end()) {
            line += right_aligned("?", column_width);
            continue;
        }
        const std::string mark = right_aligned(mark_of(played->found.value), column_width);
        line += styled(mark, look_of(played->found.value), coloured);
    }
    return line;
}

std::string heading(std::size_t indent) {
    std::string line(indent, ' ');
    for (std::size_t column = 1; column <= lab::columns().size(); ++column) {
        line += right_aligned(std::to_string(column), column_width);
    }
    return line + "\n";
}

std::string legend() {
    std::vector<std::vector<std::string>> lines;
    std::size_t number = 0;
    for (const lab::named& each : lab::columns()) {
        lines.push_back({right_aligned(std::to_string(++number), column_width),
                         std::string(each.name), std::string(each.summary)});
    }
    return aligned(lines);
}

std::string title_of(const lab::result& played) {
    return std::string(lab::rows()[played.where.row].name) + "-" +
           std::string(lab::columns()[played.where.column].name);
}

}  // namespace

std::string table_of(const std::vector<lab::result>& results, bool coloured) {
    std::size_t widest = 0;
    for (const lab::named& each : lab::rows()) widest = std::max(widest, each.name.size());
    std::string text = heading(widest);
    for (std::size_t row = 0; row < lab::rows().size(); ++row) {
        std::string name(lab::rows()[row].name);
        name.resize(widest, ' ');
        text += name + row_of(row, results, coloured) + "\n";
    }
    text += "\nok: safe   BAD: broken   -: not applicable\n" + legend() + "\nWhat broke:\n";
    std::vector<std::vector<std::string>> lines;
    for (const lab::result& each : results) {
        if (each.found.value != judgement::broken) continue;
        lines.push_back({title_of(each), each.found.evidence});
    }
    return text + aligned(lines);
}

std::string story_of(const lab::result& played, bool coloured) {
    const lab::named row = lab::rows()[played.where.row];
    const lab::named column = lab::columns()[played.where.column];
    std::string text = styled(title_of(played), style::heading, coloured) + ": " +
                       std::string(row.summary) + "; " + std::string(column.summary) + "\n";
    for (const lab::step& each : played.story) {
        const std::string time = right_aligned(std::to_string(each.at.count()), 7) + " ms  ";
        text += time +
                (each.on_the_wire ? styled("  " + printable(each.text), style::faint, coloured)
                                  : printable(each.text)) +
                "\n";
    }
    return text + styled(in_words(played.found.value), look_of(played.found.value), coloured) +
           ": " + printable(played.found.evidence) + "\n\n";
}

std::string json_of(const lab::result& played, bool with_story) {
    json_object object;
    object.add("scheme", lab::rows()[played.where.row].name);
    object.add("hazard", lab::columns()[played.where.column].name);
    object.add("verdict", name_of(played.found.value)).add("evidence", played.found.evidence);
    object.add("took_ms", std::int64_t{played.took.count()});
    if (with_story) {
        std::vector<json_object> steps;
        for (const lab::step& each : played.story) {
            steps.emplace_back();
            steps.back().add("at_ms", std::int64_t{each.at.count()});
            steps.back().add("kind", each.on_the_wire ? "wire" : "step").add("text", each.text);
        }
        object.add("steps", steps);
    }
    return object.line();
}

std::string names_in_words(const std::vector<lab::named>& names) {
    std::string text;
    for (const lab::named& each : names) {
        text += (text.empty() ? "" : ", ") + std::string(each.name);
    }
    return text;
}

}  // namespace holdfast::tool
