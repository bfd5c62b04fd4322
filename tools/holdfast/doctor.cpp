#include "commands.hpp"
#include "connection.hpp"
#include "diagnosis.hpp"
#include "exit_code.hpp"
#include "holdfast/operate.hpp"
#include "json.hpp"
#include "message.hpp"
#include "table.hpp"

namespace holdfast::tool {
namespace {

std::string verdict_in_colour(verdict value, bool coloured) {
    switch (value) {
        case verdict::good: return styled("ok  ", style::good, coloured);
        case verdict::warning: return styled("warn", style::warning, coloured);
        case verdict::bad: return styled("FAIL", style::bad, coloured);
    }
    return "";
}

std::string for_people(const server_report& report, const std::vector<finding>& findings) {
    const bool coloured = colours_on(STDOUT_FILENO);
    std::vector<std::vector<std::string>> rows;
    for (const finding& each : findings) {
        std::string text = printable(each.found);
        if (!each.fix.empty()) text += "; fix: " + each.fix;
        rows.push_back({"  " + verdict_in_colour(each.value, coloured), each.check, text});
    }
    return styled(printable(report.node), style::heading, coloured) + "\n" + aligned(rows);
}

std::string as_json(const server_report& report, const std::vector<finding>& findings) {
    std::string lines;
    for (const finding& each : findings) {
        json_object object;
        object.add("node", report.node).add("check", each.check);
        object.add("verdict", name_of(each.value)).add("found", each.found).add("fix", each.fix);
        lines += object.line();
    }
    return lines;
}

}  // namespace

int doctor(arguments given) {
    connection server;
    bool json = false;
    command_line line(
        "doctor", "[OPTION...]",
        "Check whether the servers can be reached and are fit to keep locks, and take one on "
        "trial: one line per check, with a verdict and, where there is one, the fix. Nothing is "
        "left behind.");
    line.flag("--json", json, "Print one JSON object per check");
    server.declare(line);
    line.note(
        "Exit codes: 0 fit (warnings included), 78 a server or setting that can lose locks, 69 a "
        "server is unreachable or grants no lock now, 77 it refuses us, or its certificate is not "
        "trusted, 76 it is not a Redis. "
        "Redis 6.0.6 or later, or Valkey, is needed, alone, behind Sentinel or as a Cluster.");
    line.example("holdfast doctor --url redis://db1:6379", "Before the first lock on it");
    line.parse(given);

    client through(server.settings());
    int worst = exit_code::done;
    const std::vector<server_report> reports = examine(through);
    for (const server_report& report : reports) {
        const std::vector<finding> findings = diagnose(report, through.settings());
        print(json ? as_json(report, findings) : for_people(report, findings));
        if (worst == exit_code::done) worst = exit_code_of(findings);
    }
    return worst;
}

}  // namespace holdfast::tool
