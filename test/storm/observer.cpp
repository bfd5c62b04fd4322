#include "storm/observer.hpp"

#include <algorithm>
#include <stdexcept>

#include "storm/visitor.hpp"

namespace holdfast::storm {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds between_looks{10};
constexpr milliseconds patience{1000};                   // with a server that stands still
constexpr instant longest_unnoted = milliseconds(1000);  // the rest is lost with this process

// KEYS: each lock, followed by its queue. Returns for each: the owner or '', and for every entry of
// the queue what it says and how many listen to its channel.
constexpr auto script = R"(
local all = {}
for n = 1, #KEYS, 2 do
    local one = {redis.call('GET', KEYS[n]) or ''}
    for _, entry in ipairs(redis.call('LRANGE', KEYS[n + 1], 0, -1)) do
        one[#one + 1] = entry
        one[#one + 1] = redis.call('PUBSUB', 'NUMSUB', string.match(entry, '^%S+'))[2]
    end
    all[#all + 1] = one
end
return all
)";

std::vector<std::string> question() {
    std::vector<std::string> words{"EVAL", script, std::to_string(2 * keys.size())};
    for (const auto key : keys) {
        words.emplace_back(key);
        words.push_back(line_of(key));
    }
    return words;
}

bool equal(const claimant& a, const claimant& b) { return a.same(b) && a.callable == b.callable; }

bool equal(const sight& a, const sight& b) {
    return equal(a.owner, b.owner) &&
           std::equal(a.line.begin(), a.line.end(), b.line.begin(), b.line.end(),
                      [](const claimant& x, const claimant& y) { return equal(x, y); });
}

}  // namespace

std::string line_of(std::string_view key) { return "holdfast:{" + std::string(key) + "}:queue"; }

claimant claimant_of(const std::string& owner) {
    constexpr std::size_t nonce_at = 4;
    constexpr std::size_t nonce_length = 40;
    constexpr std::size_t nonce_shown = 12;
    const auto label = owner.rfind(':');
    const auto process = owner.rfind(':', label - 1);
    if (!owner.starts_with("hf1:") || process == std::string::npos ||
        process < nonce_at + nonce_length) {
        throw std::runtime_error("no owner of this storm: " + owner);
    }
    return {.worker = owner.substr(label + 1),
            .process = std::stoull(owner.substr(process + 1, label - process - 1)),
            .nonce = owner.substr(nonce_at, nonce_shown)};
}

claimant waiter_of(const std::string& entry) {
    const auto since = entry.find(' ');
    const auto owner = entry.find(' ', since + 1);
    if (owner == std::string::npos) throw std::runtime_error("no entry of a queue: " + entry);
    return claimant_of(entry.substr(owner + 1));
}

observer::observer(std::filesystem::path socket, const std::filesystem::path& history)
    : socket_(std::move(socket)),
      notes_(history),
      thread_([this](const std::stop_token& stop) { watch(stop); }) {}

/// A server that is down, or kills its clients, is asked again.
void observer::watch(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        try {
            auto server = test::raw_client::connect_unix(socket_, patience);
            while (!stop.stop_requested()) {
                look(server);
                std::this_thread::sleep_for(between_looks);
            }
        } catch (const std::runtime_error&) {
            std::this_thread::sleep_for(between_looks);
        }
    }
    for (const auto& [key, last] : last_) note(last);
}

void observer::look(test::raw_client& server) {
    static const auto words = question();
    const instant begin = now();
    const test::reply all = server.command(words);
    const instant end = now();
    if (all.is_error()) throw std::runtime_error(all.text);
    for (std::size_t n = 0; n < all.elements.size(); ++n) {
        const auto& one = all.elements[n].elements;
        sight next{.key = std::string(keys.at(n)), .begin = begin, .end = end};
        if (!one.at(0).text.empty()) next.owner = claimant_of(one[0].text);
        for (std::size_t place = 1; place + 1 < one.size(); place += 2) {
            next.line.push_back(waiter_of(one[place].text));
            next.line.back().callable = one[place + 1].integer > 0;
        }
        saw(std::move(next));
    }
}

void observer::saw(sight next) {
    const auto [place, first] = last_.emplace(next.key, next);
    if (first) return;
    sight& last = place->second;
    const bool goes_on = equal(last, next) && next.end - last.end <= longest_between_looks &&
                         next.end - last.begin <= longest_unnoted;
    if (goes_on) {
        last.end = next.end;
    } else {
        note(last);
        last = std::move(next);
    }
}

void observer::note(const sight& noted) {
    std::string text = to_word(noted.owner);
    for (const claimant& each : noted.line) text += ' ' + to_word(each);
    notes_.note({.at = noted.end,
                 .what = happening::seen,
                 .subject = noted.key,
                 .since = noted.begin,
                 .text = std::move(text)});
}

}  // namespace holdfast::storm
