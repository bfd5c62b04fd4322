#include "operate/waiters.hpp"

#include <algorithm>
#include <charconv>
#include <utility>
#include <variant>

#include "holdfast/error.hpp"
#include "kinds/keys.hpp"
#include "net/explain.hpp"
#include "operate/server_clock.hpp"
#include "resp/view.hpp"
#include "runtime/operations/query.hpp"

namespace holdfast::detail {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// In the year 2255: fits into a time_point of nanoseconds.
constexpr std::int64_t latest_micros = 9'000'000'000'000'000;

std::optional<std::int64_t> micros_in(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    if (!whole || value < 0 || value > latest_micros) return std::nullopt;
    return value;
}

/// The questions about one queue, to the one server that has it.
class reading {
  public:
    reading(runtime::engine& engine, core::node_index node, std::string queue)
        : engine_(engine), node_(node), queue_(std::move(queue)) {}

    void read(lock_status& status, queue_view how_much) {
        const bool everybody = how_much == queue_view::entries;
        if (everybody) read_entries(status);
        const bool all = status.waiters && status.waiters->size() < max_waiters_told;
        status.waiting = all ? std::optional(status.waiters->size()) : length();
        if (everybody && status.waiting == 0) status.waiters.emplace();
        if (status.waiting != 0) status.no_waiters = why_not_;
    }

  private:
    void read_entries(lock_status& status) {
        const auto reply = ask({"LRANGE", queue_, "0", std::to_string(max_waiters_told - 1)});
        if (!reply) return;
        status.waiters.emplace();
        const resp::view entries(*reply);
        for (const auto entry : entries) {
            status.waiters->push_back(read_entry(entry.text()));
            status.waiters->back().ours = is_ours(entry.text(), status.waiters->back().who);
        }
        if (!status.waiters->empty()) note_times(*status.waiters);
    }

    std::optional<std::size_t> length() {
        const auto reply = ask({"LLEN", queue_});
        if (!reply) return std::nullopt;
        return static_cast<std::size_t>(
            std::max(resp::view(*reply).integer().value_or(0), std::int64_t{0}));
    }

    // By one clock, that of the server. Whoever may not ask for the time knows since when alone.
    void note_times(std::vector<lock_status::waiter>& waiters) {
        const auto reply = answer_to({"TIME"});
        const auto* said = std::get_if<std::string>(&reply);
        if (said == nullptr || micros_of(*said) == 0) return;
        const std::chrono::system_clock::time_point now{microseconds(micros_of(*said))};
        for (auto& each : waiters) {
            if (!each.since) continue;
            each.waited =
                std::max(std::chrono::floor<milliseconds>(now - *each.since), milliseconds(0));
        }
    }

    /// The reply, or nullopt, and why_not_ says why.
    std::optional<std::string> ask(const std::vector<std::string>& command) {
        auto answer = answer_to(command);
        if (const auto* why = std::get_if<net::failure>(&answer)) return refused(why->message);
        auto reply = std::get<std::string>(std::move(answer));
        if (!resp::view(reply).is_error()) return reply;
        const auto why = net::explain(resp::view(reply));
        return refused(why.code == errc::wrong_type ? "what is at " + queue_ + " is no queue"
                                                    : why.message);
    }

    std::nullopt_t refused(std::string why) {
        if (why_not_.empty()) why_not_ = std::move(why);
        return std::nullopt;
    }

    runtime::query::answer answer_to(const std::vector<std::string>& command) {
        auto lock = engine_.lock();
        return runtime::query::run_on(engine_, lock, node_, command);
    }

    // By the channel; who has none is known by its name.
    [[nodiscard]] bool is_ours(std::string_view entry, const holder& who) const {
        if (!entry.starts_with("- ")) {
            const auto lock = engine_.lock();
            return entry.starts_with(engine_.channel_at(node_) + " ");
        }
        return ":" + who.user + "@" + who.host + ":" + std::to_string(who.pid) + ":" ==
               engine_.signature();
    }

    runtime::engine& engine_;
    core::node_index node_;
    std::string queue_;
    std::string why_not_;
};

}  // namespace

lock_status::waiter read_entry(std::string_view entry) {
    const auto channel = entry.substr(0, entry.find(' '));
    const auto rest = entry.substr(std::min(channel.size() + 1, entry.size()));
    const auto since = rest.substr(0, rest.find(' '));
    const auto owner = rest.substr(std::min(since.size() + 1, rest.size()));
    const auto micros = micros_in(since);
    auto who = parse_owner(std::string(owner.substr(0, max_owner_bytes)));
    if (channel.empty() || !micros || who.foreign()) return {};
    who.owner.clear();
    lock_status::waiter result{.who = std::move(who)};
    if (*micros != 0) result.since = std::chrono::system_clock::time_point(microseconds(*micros));
    return result;
}

void read_queue(lock_status& status, runtime::engine& engine, const runtime::electorate& whom,
                const std::string& name, queue_view how_much) {
    if (whom.size() != 1) return;  // there is no line, and nobody knows who waits
    reading(engine, whom.node_of({0}), kinds::queue_key(name)).read(status, how_much);
}

}  // namespace holdfast::detail
