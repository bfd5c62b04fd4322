#include "sim/server/server.hpp"

#include <algorithm>
#include <utility>

#include "scripts/embedded.hpp"
#include "sim/server/command_reader.hpp"
#include "sim/server/command_table.hpp"
#include "sim/server/refusals.hpp"
#include "sim/server/session.hpp"

namespace holdfast::sim {
namespace {

constexpr std::string_view emptied_push = ">2\r\n$10\r\ninvalidate\r\n_\r\n";

void append_invalidation(std::string& out, std::string_view key) {
    out += ">2\r\n$10\r\ninvalidate\r\n*1\r\n";
    reply_writer(out, 3).bulk(key);
}

// Of scripts, a handshake runs that which enlists, by its text.
bool belongs_to_handshake(const command_row& what, keyspace::arguments words) {
    if ((what.flags & of_handshakes) == 0) return false;
    return what.full_name != "eval" || words[1] == scripts::enlist.text;
}

// Of its unknown words a server repeats so many bytes, and not many more of all of them.
constexpr std::size_t repeated = 128;

}  // namespace

server::server(server_wire& out, script_library& scripts, server_settings how, std::uint64_t seed)
    : wire_(out), scripts_(scripts), settings_(std::move(how)), life_(seed) {
    data_.listen(this);
}

server::~server() = default;

server::connection server::open() {
    auto& made = sessions_.emplace_back(std::make_unique<server_session>());
    made->number = ++last_;
    made->authenticated = !needs_password();
    return last_;
}

void server::close(connection whom) { drop(whom); }

void server::kill(connection whom) {
    if (!find(whom)) return;
    drop(whom);
    wire_.hang_up(whom);
}

void server::drop(connection whom) {
    tracked_.forget(whom);
    channels_.forget(whom);
    std::erase_if(sessions_, [&](const auto& s) { return s->number == whom; });
}

server_session* server::find(connection whom) {
    for (auto& each : sessions_) {
        if (each->number == whom) return each.get();
    }
    return nullptr;
}

void server::receive(connection from, std::string_view bytes, wall_time now) {
    auto* session = find(from);
    if (!session) return;
    if (session->waits) {
        session->unread += bytes;
        return;
    }
    if (session->unread.empty()) {
        const auto read = run_all(*session, bytes, now);
        session->unread = bytes.substr(read);
    } else {
        session->unread += bytes;
        const auto read = run_all(*session, session->unread, now);
        session->unread.erase(0, read);
    }
    if (!session->closing) return;
    drop(from);
    wire_.hang_up(from);
}

// Returns how many of the bytes were commands.
std::size_t server::run_all(server_session& from, std::string_view bytes, wall_time now) {
    std::size_t done = 0;
    while (!from.closing && !from.waits) {
        const auto found = read_command(bytes.substr(done), !from.authenticated, words_);
        if (found.what == reading::kind::incomplete) break;
        if (found.what == reading::kind::malformed) {
            text_ = found.error;
            if (found.unexpected != 0) ((text_ += '\'') += found.unexpected) += '\'';
            break_off(from, text_);
            break;
        }
        done += found.size;
        if (!words_.empty()) run(from, now);
    }
    return done;
}

void server::break_off(server_session& from, std::string_view error) {
    answer_ = "-ERR Protocol error: ";
    (answer_ += error) += "\r\n";
    wire_.reply(from.number, answer_);
    from.closing = true;
}

void server::run(server_session& from, wall_time now) {
    answer_.clear();
    reply_writer out(answer_, from.protocol);
    const command_row* row = nullptr;
    switch (command_table::find(words_, row)) {
        case lookup::unknown: answer_unknown(out); break;
        case lookup::unknown_second:
            text_ = "ERR unknown subcommand '";
            text_ += words_[1].substr(0, repeated);
            text_ += "'. Try ";
            for (const char c : row->full_name) text_ += static_cast<char>(c - 'a' + 'A');
            out.error(text_ += " HELP.");
            break;
        case lookup::wrong_count:
            text_ = "ERR wrong number of arguments for '";
            out.error((text_ += row->full_name) += "' command");
            break;
        case lookup::found: {
            call c{from, *row, words_, out, now, row->full_name};
            execute(c);
            break;
        }
    }
    ++from.commands;
    // CLIENT CACHING concerns the next command that is no CLIENT: of these, one that there is.
    const bool is_client = row && row->second != 0 && row->full_name.starts_with("client");
    if (!is_client) from.caching = false;
    if (feed_) {
        const bool wrote = log_.has_changes();
        propagate();
        if (wrote || !is_later_server()) from.written_up_to = log_.offset();
    }
    if (!from.waits) finish(from);
}

void server::execute(call& c) {
    if (!belongs_to_handshake(c.what, c.words)) c.from.past_handshake = true;
    const auto why = why_not(c.from, c.what);
    if (!why.empty()) return c.out.error(why);
    if (c.what.has_key) {
        c.keys = c.words.subspan(1, 1);
        c.rest = c.words.subspan(2);
    } else {
        c.rest = c.words.subspan(1);
    }
    note_before(c);
    current_ = &c;
    (this->*c.what.run)(c);
    current_ = nullptr;
    if (listener_) report(c);
}

// What it has to say to the connection itself follows the answer.
void server::finish(server_session& from) {
    wire_.reply(from.number, answer_);
    for (auto* const kept : {&from.messages, &from.pushes}) {
        for (const auto& each : *kept) wire_.push(from.number, each);
        kept->clear();
    }
}

void server::answer_unknown(reply_writer& out) const {
    std::string text = "ERR unknown command '";
    text += words_.front().substr(0, repeated);
    text += "', with args beginning with: ";
    const auto behind = text.size();
    for (std::size_t i = 1; i < words_.size() && text.size() - behind < repeated; ++i) {
        const auto room = repeated - (text.size() - behind);
        ((text += '\'') += words_[i].substr(0, room)) += "' ";
    }
    out.error(text);
}

// In the order in which a server looks at these.
std::string_view server::why_not(const server_session& from, const command_row& what) {
    const bool accepted = from.authenticated || (what.flags & for_strangers) != 0;
    if (!accepted) return refusals::stranger;
    if (refusal_) {
        const auto why =
            refusal_({from.number, what.full_name, words_, from.commands, !from.past_handshake});
        if (!why.empty()) return why;
    }
    if (const auto why = why_not_written(what); !why.empty()) return why;
    if (from.only_listens() && (what.flags & for_subscribers) == 0) {
        text_ = "ERR Can't execute '";
        text_ += what.full_name;
        return text_ +=
               "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in "
               "this context";
    }
    return why_not_now(what);
}

std::string_view server::why_not_written(const command_row& what) const {
    const bool is_write = (what.flags & writes) != 0;
    if (condition_ == condition::out_of_memory && (what.flags & grows) != 0) {
        return refusals::out_of_memory;
    }
    if (condition_ == condition::cannot_persist && (is_write || what.full_name == "ping")) {
        return refusals::cannot_persist;
    }
    return life_.is_replica() && is_write ? refusals::read_only : std::string_view{};
}

std::string_view server::why_not_now(const command_row& what) const {
    if (condition_ == condition::loading && (what.flags & while_loading) == 0) {
        return refusals::loading;
    }
    if (condition_ == condition::busy && (what.flags & for_strangers) == 0) return refusals::busy;
    return {};
}

// For the commands of scripts.
void server::apply_denials() {
    using enum keyspace::denial;
    if (condition_ == condition::out_of_memory && !life_.is_replica()) {
        return data_.deny(growing, refusals::out_of_memory);
    }
    if (condition_ == condition::cannot_persist && !life_.is_replica()) {
        return data_.deny(writing, refusals::cannot_persist);
    }
    data_.deny(life_.is_replica() ? writing : none, refusals::read_only);
}

const std::string* server::text_at_first_key(const call& c) const {
    if (c.keys.empty()) return nullptr;
    const auto* found = data_.peek(c.keys.front(), c.now);
    return found && found->is_string() ? &found->text : nullptr;
}

void server::note_before(const call& c) {
    if (!listener_) return;
    const auto* text = text_at_first_key(c);
    had_text_ = text != nullptr;
    if (text) before_ = *text;
}

void server::report(const call& c) {
    listener_->executed({c.from.number, c.name, c.keys, c.rest, answer_,
                         had_text_ ? &before_ : nullptr, text_at_first_key(c), c.now});
}

void server::expire(wall_time now) {
    if (feed_ && life_.is_replica()) return;  // its master tells it
    data_.expire(now);
    if (feed_) propagate();
}

void server::on_read(std::string_view key) {
    if (!current_ || !current_->from.listens()) return;
    const auto who = current_->from.number;
    if (!current_->in_script || is_later_server()) {
        return tracked_.remember(key, who);
    }
    for (const auto declared : current_->keys) tracked_.remember(declared, who);
}

void server::on_change(std::string_view key) {
    if (feed_) note_change(key);
    tracked_.take(key, [&](connection who) {
        auto* whom = find(who);
        const bool own = current_ && &current_->from == whom;
        if (!whom || !whom->tracking || (own && whom->not_of_its_own)) return;
        std::string push;
        append_invalidation(push, key);
        tell(*whom, push);
    });
}

void server::on_flush() {
    if (feed_) note_change({});
    tell_emptied();
}

void server::tell_emptied() {
    tracked_.clear();
    for (auto& each : sessions_) {
        if (each->tracking) tell(*each, emptied_push);
    }
}

void server::tell(server_session& whom, std::string_view push) {
    if (whom.protocol != 3) return;
    const bool own = current_ && &current_->from == &whom;
    if (own) {
        whom.pushes.emplace_back(push);
    } else {
        wire_.push(whom.number, push);
    }
}

}  // namespace holdfast::sim
