#include <algorithm>
#include <utility>

#include "kinds/keys.hpp"
#include "unit/support/stub_server.hpp"

/// The wait queue of a stub server: as queue_acquire.lua, queue_release.lua and grant_next.lua say.
namespace holdfast::testing {
namespace {

using namespace std::chrono_literals;

constexpr auto grant_lasts = 2s;
constexpr auto line_lasts = 10s;

std::string integer(std::int64_t value) { return ":" + std::to_string(value) + "\r\n"; }

core::duration milliseconds(const std::string& text) {
    return std::chrono::milliseconds(std::stoll(text));
}

}  // namespace

stub_server::words stub_server::line_of(const std::string& key) const {
    const auto found = lines_.find(kinds::queue_key(key));
    if (found == lines_.end() || found->second.until <= world_.now()) return {};
    return {found->second.entries.begin(), found->second.entries.end()};
}

void stub_server::stand_in_line(const std::string& key, const std::string& entry) {
    const auto queue = kinds::queue_key(key);
    if (find_line(queue) == nullptr) lines_.erase(queue);
    auto& here = lines_[queue];
    here.entries.push_back(entry);
    here.until = world_.now() + line_lasts;
}

void stub_server::erase_line(const std::string& key) { lines_.erase(kinds::queue_key(key)); }

stub_server::line* stub_server::find_line(const std::string& queue) {
    const auto found = lines_.find(queue);
    if (found == lines_.end() || found->second.until <= world_.now()) return nullptr;
    return found->second.entries.empty() ? nullptr : &found->second;
}

int stub_server::publish(session& by, const std::string& channel, const std::string& what) {
    int heard = 0;
    for (auto& each : sessions_) {
        const bool subscribed =
            std::find(each.channels.begin(), each.channels.end(), channel) != each.channels.end();
        if (!subscribed || each.stream->closed()) continue;
        ++heard;
        if (loses_pushes_) continue;
        if (&each == &by) {
            by.unsaid += published(channel, what);
        } else {
            each.stream->say(published(channel, what));
        }
    }
    if (heard > 0) ++calls_;
    return heard;
}

std::optional<std::string> stub_server::grant_next(session& by, const std::string& key,
                                                   const std::string& queue) {
    while (auto* const here = find_line(queue)) {
        const auto entry = here->entries.front();
        here->entries.pop_front();
        const auto first = entry.find(' ');
        const auto second = entry.find(' ', first + 1);
        const auto channel = entry.substr(0, first);
        auto owner = entry.substr(second + 1);
        if (channel != "-" && publish(by, channel, owner + "\n" + key) == 0) continue;
        put(key, owner, grant_lasts);
        changed(key, by.stream.get());
        return owner;
    }
    return std::nullopt;
}

std::string stub_server::queue_acquire(session& by, const words& command) {
    const auto& key = command[3];
    const auto& queue = command[4];
    const bool fenced = command[2] == "3";
    const auto argument = [&](std::size_t n) {
        const auto at = 2 + std::stoul(command[2]) + n;
        return at < command.size() ? command[at] : std::string();
    };
    const auto begins = argument(fenced ? 6 : 3);
    const bool in_line = !argument(fenced ? 7 : 4).empty();
    const auto owner = argument(1);
    auto holder = owner_of(key);
    if (!holder) holder = grant_next(by, key, queue);
    if (holder && holder != owner) {
        std::int64_t place = 0;
        if (const auto entry = begins + owner; !begins.empty()) {
            const auto all = line_of(key);
            const auto known = in_line ? std::find(all.begin(), all.end(), entry) : all.end();
            place = known - all.begin() + 1;
            if (known == all.end()) stand_in_line(key, entry);
            lines_[queue].until = world_.now() + line_lasts;
        }
        const bool looks = place < 2 || in_line;
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(find(key)->until - world_.now());
        return "*4\r\n:0\r\n" + bulk(holder->substr(0, 1024)) + integer(looks ? left.count() : -2) +
               integer(place);
    }
    put(key, owner, milliseconds(argument(2)));
    changed(key, by.stream.get());
    if (fenced) counter += std::stoull(argument(4));
    return "*2\r\n:1\r\n" + integer(fenced ? static_cast<std::int64_t>(counter) : 0);
}

std::string stub_server::queue_release(session& by, const words& command) {
    const auto& key = command[3];
    const auto& queue = command[4];
    const auto& owner = command[5];
    const auto entry = command.size() > 6 ? command[6] : std::string();
    if (owner_of(key) != owner) {
        auto* const here = entry.empty() ? nullptr : find_line(queue);
        if (here != nullptr) std::erase(here->entries, entry + owner);
        return integer(0);
    }
    if (grant_next(by, key, queue)) return integer(2);
    remove(key, by.stream.get());
    return integer(1);
}

}  // namespace holdfast::testing
