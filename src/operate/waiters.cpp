#include "operate/waiters.hpp"

#include <algorithm>
#include <charconv>
#include <utility>
#include <variant>

#include "kinds/keys.hpp"
#include "operate/asking.hpp"
#include "operate/server_clock.hpp"
#include "resp/view.hpp"

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
        : at_(engine, node, std::move(queue), "no queue") {}

    void read(lock_status& status, queue_view how_much) {
        const bool everybody = how_much == queue_view::entries;
        if (everybody) read_entries(status);
        const bool all = status.waiters && status.waiters->size() < max_waiters_told;
        status.waiting =
            all ? std::optional(status.waiters->size()) : at_.count({"LLEN", at_.key()});
        if (everybody && status.waiting == 0) status.waiters.emplace();
        if (status.waiting != 0) status.no_waiters = at_.why_not();
    }

  private:
    void read_entries(lock_status& status) {
        const auto reply =
            at_.ask({"LRANGE", at_.key(), "0", std::to_string(max_waiters_told - 1)});
        if (!reply) return;
        status.waiters.emplace();
        const resp::view entries(*reply);
        for (const auto entry : entries) {
            status.waiters->push_back(read_entry(entry.text()));
            status.waiters->back().ours = is_ours(entry.text(), status.waiters->back().who);
        }
        if (!status.waiters->empty()) note_times(*status.waiters);
    }

    // By one clock, that of the server. Whoever may not ask for the time knows since when alone.
    void note_times(std::vector<lock_status::waiter>& waiters) {
        const auto reply = at_.answer_to({"TIME"});
        const auto* said = std::get_if<std::string>(&reply);
        if (said == nullptr || micros_of(*said) == 0) return;
        const std::chrono::system_clock::time_point now{microseconds(micros_of(*said))};
        for (auto& each : waiters) {
            if (!each.since) continue;
            each.waited =
                std::max(std::chrono::floor<milliseconds>(now - *each.since), milliseconds(0));
        }
    }

    // By the channel; who has none is known by its name.
    [[nodiscard]] bool is_ours(std::string_view entry, const holder& who) const {
        if (!entry.starts_with("- ")) {
            const auto lock = at_.engine().lock();
            return entry.starts_with(at_.engine().channel_at(at_.whom()) + " ");
        }
        return ":" + who.user + "@" + who.host + ":" + std::to_string(who.pid) + ":" ==
               at_.engine().signature();
    }

    asking at_;
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
