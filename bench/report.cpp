#include "report.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <boost/json/src.hpp>
#include <cstdio>
#include <fstream>
#include <thread>
#include <utility>

namespace holdfast::bench {
namespace {

namespace json = boost::json;

json::value number(const std::optional<double>& value) {
    return value ? json::value(*value) : json::value(nullptr);
}

json::object to_json(const figure& what) {
    return {{"name", what.name},
            {"value", what.value},
            {"unit", what.unit},
            {"spread", number(what.spread)},
            {"to_floor", number(what.to_floor)},
            {"to_holdfast", number(what.to_holdfast)}};
}

std::string processor() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    }
    return "unknown";
}

json::object machine() {
    utsname system{};
    ::uname(&system);
    return {{"processor", processor()},
            {"cores", std::thread::hardware_concurrency()},
            {"kernel", system.release}};
}

/// The first line that is not somebody else's.
const result& ours(const std::vector<result>& results) {
    const auto found = std::find_if(results.begin(), results.end(), [](const result& each) {
        return each.name.starts_with("holdfast");
    });
    return found == results.end() ? results.front() : *found;
}

}  // namespace

report::report(std::string part, bool quick) : part_(std::move(part)), quick_(quick) {}

void report::contest(const std::string& title, const std::vector<result>& results) {
    const auto floor = results.front().median();
    const auto own = ours(results).median();
    std::vector<figure> figures;
    std::printf("\n%s\n%-52s %12s %10s %8s %8s\n", title.c_str(), "", "per second", "us each",
                "spread", "time x");
    for (const auto& each : results) {
        const auto value = each.median();
        std::printf("%-52s %12.0f %10.2f %7.0f%% %8.2f\n", each.name.c_str(), value, 1e6 / value,
                    100 * each.spread(), floor / value);
        figures.push_back(
            {each.name, value, "per second", each.spread(), value / floor, value / own});
    }
    keep(title, std::move(figures));
}

void report::keep(std::string title, std::vector<figure> figures) {
    tables_.push_back({std::move(title), std::move(figures)});
}

std::string report::json() const {
    json::array parts;
    for (const auto& [title, figures] : tables_) {
        json::array contestants;
        for (const auto& each : figures) contestants.push_back(to_json(each));
        parts.push_back({{"part", part_}, {"title", title}, {"contestants", contestants}});
    }
    return json::serialize(
               json::object{{"machine", machine()}, {"quick", quick_}, {"parts", parts}}) +
           "\n";
}

}  // namespace holdfast::bench
