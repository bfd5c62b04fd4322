// What a server is asked about channels. Patterns, and the channels of shards, it does not know.

#include "sim/server/command_table.hpp"
#include "sim/server/server.hpp"
#include "sim/server/session.hpp"

namespace holdfast::sim {

// To each channel there is an answer of its own: in RESP3, a push.
void server::confirm(call& c, std::string_view what, const std::string_view* channel) {
    c.out.push(3);
    c.out.bulk(what);
    channel ? c.out.bulk(*channel) : c.out.null();
    c.out.integer(c.from.channels);
}

void server::subscribe(call& c) {
    for (const auto channel : c.words.subspan(1)) {
        if (channels_.add(channel, c.from.number)) ++c.from.channels;
        confirm(c, "subscribe", &channel);
    }
}

// From all of them, where none is named. A real server has another order then.
void server::unsubscribe(call& c) {
    if (c.words.size() == 1 && c.from.channels == 0) return confirm(c, "unsubscribe", nullptr);
    const auto leave = [&](std::string_view channel) {
        if (channels_.remove(channel, c.from.number)) --c.from.channels;
        confirm(c, "unsubscribe", &channel);
    };
    for (const auto channel : c.words.subspan(1)) leave(channel);
    if (c.words.size() > 1) return;
    while (const auto* next = channels_.any_of(c.from.number)) leave(std::string(*next));
}

void server::publish(call& c) { c.out.integer(send_message(c.words[1], c.words[2])); }

// Returns how many it was sent to.
std::int64_t server::send_message(std::string_view channel, std::string_view payload) {
    const auto receivers = channels_.receivers_of(channel);
    for (const auto who : receivers) {
        auto& whom = *find(who);
        std::string message;
        reply_writer out(message, whom.protocol);
        out.push(3);
        out.bulk("message");
        out.bulk(channel);
        out.bulk(payload);
        const bool own = current_ && &current_->from == &whom;
        if (own && is_later_server()) {
            whom.messages.push_back(std::move(message));
        } else {
            wire_.push(who, message);
        }
    }
    return static_cast<std::int64_t>(receivers.size());
}

}  // namespace holdfast::sim
