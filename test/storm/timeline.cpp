#include "storm/timeline.hpp"

#include <algorithm>
#include <array>
#include <iomanip>
#include <ostream>
#include <set>
#include <sstream>

namespace holdfast::storm {
namespace {

constexpr double pixels_per_second = 30;
constexpr double left_margin = 90;
constexpr double row_height = 14;
constexpr double gap = 16;     // between the rows of two keys
constexpr int fault_rows = 6;  // labels of faults, so that neighbours can be read
constexpr double label_height = 13;
constexpr double top = 46 + fault_rows * label_height;

constexpr std::array<std::string_view, 8> colours{"#1f77b4", "#2ca02c", "#9467bd", "#8c564b",
                                                  "#e377c2", "#17becf", "#bcbd22", "#7f7f7f"};

std::string escaped(std::string_view text) {
    std::string safe;
    for (const char c : text) {
        if (c == '<')
            safe += "&lt;";
        else if (c == '&')
            safe += "&amp;";
        else
            safe += c;
    }
    return safe;
}

class drawing {
  public:
    drawing(std::ostream& out, const account& all, const verdict& found, instant begin, instant end)
        : out_(out), all_(all), found_(found), begin_(begin), end_(end) {
        std::set<std::string> workers;
        std::set<std::string> keys;
        for (const hold& each : all.holds) {
            workers.insert(each.who.worker);
            keys.insert(each.key);
        }
        workers_.assign(workers.begin(), workers.end());
        keys_.assign(keys.begin(), keys.end());
        out_ << std::fixed << std::setprecision(1);
    }

    void draw() {
        const double width = x(end_) + 20;
        out_ << "<svg xmlns='http://www.w3.org/2000/svg' width='" << width << "' height='"
             << bottom() + 40 << "' font-family='sans-serif' font-size='11'>\n"
             << "<rect width='100%' height='100%' fill='white'/>\n";
        draw_phases();
        draw_faults();
        draw_rows();
        draw_holds();
        draw_violations();
        draw_axis();
        out_ << "</svg>\n";
    }

  private:
    [[nodiscard]] double x(instant at) const {
        const instant inside = std::clamp(at, begin_, end_);
        return left_margin +
               std::chrono::duration<double>(inside - begin_).count() * pixels_per_second;
    }
    [[nodiscard]] double y(std::size_t key, std::size_t worker) const {
        const double rows = static_cast<double>(workers_.size()) * row_height;
        return top + static_cast<double>(key) * (rows + gap) +
               static_cast<double>(worker) * row_height;
    }
    [[nodiscard]] double bottom() const { return y(keys_.size(), 0) - gap; }
    [[nodiscard]] bool visible(instant from, instant to) const {
        return to >= begin_ && from <= end_;
    }
    [[nodiscard]] double seconds(instant at) const {
        return std::chrono::duration<double>(at - all_.begin).count();
    }

    template <typename Name>
    static std::size_t place(const std::vector<Name>& all, const Name& one) {
        return static_cast<std::size_t>(std::find(all.begin(), all.end(), one) - all.begin());
    }

    void rectangle(instant from, instant to, double y, double height, std::string_view style,
                   const std::string& title) {
        out_ << "<rect x='" << x(from) << "' y='" << y << "' width='"
             << std::max(1.0, x(to) - x(from)) << "' height='" << height << "' " << style
             << "><title>" << escaped(title) << "</title></rect>\n";
    }
    void text(double x, double y, std::string_view words, std::string_view style = "") {
        out_ << "<text x='" << x << "' y='" << y << "' " << style << '>' << escaped(words)
             << "</text>\n";
    }

    void draw_phases() {
        for (const phase& each : all_.phases) {
            if (each.kind == "over" || !visible(each.begin, each.end)) continue;
            const bool calm = each.kind == "calm";
            rectangle(each.begin, each.end, 4, 18, calm ? "fill='#d9f2d9'" : "fill='#eeeeee'",
                      each.kind);
            text(x(each.begin) + 4, 17,
                 calm                      ? "calm: healed"
                 : each.kind == "minority" ? "a minority is struck"
                 : each.kind == "waiters"  ? "who waits is struck"
                 : each.kind == "rush"     ? "all after one lock"
                                           : "anything is struck");
        }
    }

    void draw_faults() {
        int row = 0;
        for (const fault& each : all_.faults) {
            if (!visible(each.begin, each.end)) continue;
            std::ostringstream title;
            title << name_of(each.kind) << ' ' << each.targets;
            const std::string name = title.str();
            title << std::fixed << std::setprecision(3) << ", " << seconds(each.begin) << "s to "
                  << seconds(each.end) << 's';
            if (each.amount != instant{}) {
                title << ", by " << std::chrono::duration<double>(each.amount).count() << 's';
            }
            const double label = 38 + row * label_height;
            row = (row + 1) % fault_rows;
            rectangle(each.begin, each.end, label, bottom() - label,
                      strikes_workers(each.kind) ? "fill='#4040c0' fill-opacity='0.12'"
                                                 : "fill='#e08000' fill-opacity='0.16'",
                      title.str());
            text(x(each.begin) + 1, label + 1, name, "font-size='9' fill='#804000'");
        }
    }

    void draw_rows() {
        for (std::size_t key = 0; key < keys_.size(); ++key) {
            text(4, y(key, 0) + row_height - 3, keys_[key], "font-weight='bold'");
            for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
                text(left_margin - 26, y(key, worker) + row_height - 3, workers_[worker]);
                out_ << "<line x1='" << left_margin << "' x2='" << x(end_) << "' y1='"
                     << y(key, worker) + row_height << "' y2='" << y(key, worker) + row_height
                     << "' stroke='#dddddd'/>\n";
            }
        }
    }

    void draw_holds() {
        for (const hold& each : all_.holds) {
            if (!visible(each.acquired, each.valid_to())) continue;
            const std::size_t worker = place(workers_, each.who.worker);
            std::ostringstream title;
            title << std::fixed << std::setprecision(3) << to_string(each.who) << ' ' << each.key
                  << ", " << seconds(each.acquired) << "s to " << seconds(each.valid_to())
                  << "s, token " << each.token << ", "
                  << (each.outcome.empty() ? "not released" : each.outcome);
            std::string style = "fill='" + std::string(colours.at(worker % colours.size())) + "'";
            if (each.outcome != "released") style += " stroke='black'";
            rectangle(each.acquired, each.valid_to(), y(place(keys_, each.key), worker) + 1,
                      row_height - 2, style, title.str());
        }
    }

    void draw_violations() {
        for (const violation& each : found_.violations) {
            if (!visible(each.at, each.at)) continue;
            rectangle(each.at - std::chrono::milliseconds(30),
                      each.at + std::chrono::milliseconds(30), 24, bottom() - 24, "fill='red'",
                      std::string(name_of(each.broken)) + ": " + each.story);
            text(x(each.at) + 4, 34, name_of(each.broken), "fill='red' font-weight='bold'");
        }
    }

    void draw_axis() {
        using std::chrono::seconds;
        const auto first = std::chrono::ceil<seconds>(begin_ - all_.begin);
        for (seconds at = first; all_.begin + at <= end_; at += seconds(1)) {
            const double place = x(all_.begin + at);
            const bool labelled = at.count() % 5 == 0;
            out_ << "<line x1='" << place << "' x2='" << place << "' y1='" << bottom() << "' y2='"
                 << bottom() + (labelled ? 8 : 4) << "' stroke='black'/>\n";
            if (labelled) text(place - 8, bottom() + 20, std::to_string(at.count()) + " s");
        }
        text(left_margin, bottom() + 36,
             "A bar is a validity interval, from acquired to released or to the deadline; framed: "
             "it did not end with a confirmed release. Bands: faults at servers (orange) and "
             "workers (blue).");
    }

    std::ostream& out_;
    const account& all_;
    const verdict& found_;
    instant begin_;
    instant end_;
    std::vector<std::string> workers_;
    std::vector<std::string> keys_;
};

}  // namespace

void draw_timeline(std::ostream& out, const account& all, const verdict& found, instant begin,
                   instant end) {
    drawing(out, all, found, begin, end).draw();
}

}  // namespace holdfast::storm
