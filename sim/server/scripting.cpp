// What a server is asked about scripts.

#include <stdexcept>
#include <utility>

#include "sim/server/command_table.hpp"
#include "sim/server/refusals.hpp"
#include "sim/server/server.hpp"
#include "sim/server/session.hpp"
#include "sim/server/words.hpp"

namespace holdfast::sim {
namespace {

constexpr std::string_view not_a_number = "ERR value is not an integer or out of range";

}  // namespace

void server::cache(script_library::place which) {
    if (cached_.size() <= which) cached_.resize(which + 1);
    cached_[which] = true;
}

std::optional<script_library::place> server::find_cached(std::string_view sha1) const {
    const auto found = scripts_.find(sha1);
    const bool here = found && *found < cached_.size() && cached_[*found];
    return here ? found : std::nullopt;
}

// Nothing where it is no script: then the answer says so.
std::optional<script_library::place> server::compiled(call& c, std::string_view text) {
    try {
        const auto place = scripts_.find_or_add(text);
        cache(place);
        return place;
    } catch (const std::invalid_argument& why) {
        text_ = "ERR Error compiling script (new function): ";
        c.out.error(text_ += why.what());
        return std::nullopt;
    }
}

void server::script_load(call& c) {
    const auto place = compiled(c, c.words[2]);
    if (place) c.out.bulk(scripts_.at(*place).sha1);
}

void server::script_exists(call& c) {
    c.out.array(c.words.size() - 2);
    for (const auto sha1 : c.words.subspan(2)) c.out.integer(find_cached(sha1) ? 1 : 0);
}

void server::script_flush(call& c) {
    const auto how = c.words.size() > 2 ? letters(c.words[2]) : letters("SYNC");
    if (c.words.size() > 3 || (how != letters("SYNC") && how != letters("ASYNC"))) {
        return c.out.error("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
    }
    flush_scripts();
    c.out.ok();
}

// KEYS and ARGV of a script; false, and an answer, where they are not counted rightly.
bool server::split_keys(call& c) {
    const auto count = whole_number(c.words[2]);
    const auto given = static_cast<std::int64_t>(c.words.size()) - 3;
    std::string_view wrong;
    if (!count) {
        wrong = not_a_number;
    } else if (*count > given) {
        wrong = "ERR Number of keys can't be greater than number of args";
    } else if (*count < 0) {
        wrong = "ERR Number of keys can't be negative";
    }
    if (!wrong.empty()) {
        c.out.error(wrong);
        return false;
    }
    c.keys = c.words.subspan(3, static_cast<std::size_t>(*count));
    c.rest = c.words.subspan(3 + c.keys.size());
    note_before(c);
    return true;
}

void server::eval(call& c) {
    if (!split_keys(c)) return;
    if (const auto place = compiled(c, c.words[1])) run_script(c, *place);
}

void server::evalsha(call& c) {
    if (!split_keys(c)) return;
    const auto place = find_cached(c.words[1]);
    if (!place) return c.out.error(refusals::no_script);
    run_script(c, *place);
}

/// What a script calls goes to the data, but for what they know nothing of.
class server::script_caller final : public command_executor {
  public:
    script_caller(server& at, call& by) : at_(at), by_(by) { at_.data_.begin_script(); }
    ~script_caller() { at_.data_.end_script(); }
    script_caller(const script_caller&) = delete;
    script_caller& operator=(const script_caller&) = delete;

    value execute(arguments command, wall_time now) override {
        const auto name = letters(command.front());
        const bool publishes = name == letters("PUBLISH");
        const bool listens = name == letters("SUBSCRIBE") || name == letters("UNSUBSCRIBE");
        if (publishes || listens || at_.refusal_in_scripts_) {
            const command_row* row = nullptr;
            const auto known = command_table::find(command, row);
            if (known == lookup::wrong_count) return value::error(wrong_count);
            if (listens) return value::error(refusals::not_for_scripts);
            if (known == lookup::found) {
                if (const auto why = why_not(*row, command); !why.empty()) return value::error(why);
            }
        }
        if (publishes) return value::integer(at_.send_message(command[1], command[2]));
        return at_.data_.execute(command, now);
    }

  private:
    // As scripts hear it.
    static constexpr std::string_view wrong_count =
        "ERR Wrong number of args calling Redis command from script";

    std::string_view why_not(const command_row& what, arguments command) const {
        if (!at_.refusal_in_scripts_) return {};
        return at_.refusal_in_scripts_({by_.from.number, what.full_name, command, by_.from.commands,
                                        !by_.from.past_handshake, true});
    }

    server& at_;
    call& by_;
};

void server::run_script(call& c, script_library::place which) {
    const auto& script = scripts_.at(which);
    if (!script.name.empty()) c.name = script.name;
    c.in_script = true;
    auto& lua = scripts_.lua();
    script_caller caller(*this, c);
    const auto answer = lua.run(script.handle, c.keys, c.rest, caller, c.now);
    c.in_script = false;
    if (lua.fault_line() == 0) return c.out.write(answer);
    text_ = answer.text;
    text_ += " script: ";
    text_ += script.sha1;
    text_ += ", on @user_script:";
    text_ += std::to_string(lua.fault_line());
    c.out.error(text_ += '.');
}

}  // namespace holdfast::sim
