#include "kinds/exclusive.hpp"

#include <array>

#include "kinds/owners.hpp"
#include "kinds/script_call.hpp"
#include "resp/encoder.hpp"
#include "scripts/exclusive/embedded.hpp"

namespace holdfast::kinds {
namespace {

using resp::decimal;
using texts = std::span<const std::string_view>;

// Made anew for every request: a lease that is held for hours would otherwise keep it for nothing.
// Valid until the next call by this thread.
std::string_view counter_of(const keys& of) {
    thread_local std::string name;
    name.clear();
    append_key_beside(name, of.lock, "fence");
    return name;
}
std::string_view queue_of(const keys& of) {
    thread_local std::string name;
    name.clear();
    append_key_beside(name, of.lock, "queue");
    return name;
}

void prolong(std::string& out, const scripts::script& how, bool by_text, const claim& what) {
    const bool fenced = what.of.fenced;
    const std::array<std::string_view, 2> both{what.of.lock, fenced ? counter_of(what.of) : ""};
    append_call(out, how, by_text, texts(both).first(fenced ? 2 : 1),
                {what.owner, decimal{milliseconds(what.ttl)}.text(),
                 decimal{milliseconds(what.retention)}.text()});
}

class exclusive_kind final : public kind {
  public:
    constexpr exclusive_kind() = default;

    [[nodiscard]] std::string_view name() const override { return "exclusive"; }
    [[nodiscard]] std::string_view owner_start() const override { return exclusive_owner; }

    [[nodiscard]] std::span<const scripts::script* const> loads(topology where) const override {
        static constexpr std::array one_voter{&scripts::exclusive::queue_acquire,
                                              &scripts::exclusive::extend,
                                              &scripts::exclusive::queue_release};
        static constexpr std::array quorum{&scripts::exclusive::acquire,
                                           &scripts::exclusive::commit, &scripts::exclusive::extend,
                                           &scripts::exclusive::release};
        return where == topology::one_voter ? std::span<const scripts::script* const>(one_voter)
                                            : std::span<const scripts::script* const>(quorum);
    }

    [[nodiscard]] core::sharing sharing() const override { return core::alone; }
    [[nodiscard]] bool allowed_on(topology) const override { return true; }

    [[nodiscard]] std::string_view woken_by(std::string_view changed) const override {
        return changed.starts_with(own_keys) ? std::string_view{} : changed;
    }

    void acquire(std::string& out, bool by_text, const claim& what,
                 const drawing& draws) const override {
        if (what.of.queued) return acquire_in_line(out, by_text, what, draws);
        const decimal life{milliseconds(what.ttl)};
        if (!what.of.fenced) {
            const std::array<std::string_view, 1> only{what.of.lock};
            return append_call(out, scripts::exclusive::acquire, by_text, only,
                               {what.owner, life.text()});
        }
        const std::array<std::string_view, 2> both{what.of.lock, counter_of(what.of)};
        append_call(out, scripts::exclusive::acquire, by_text, both,
                    {what.owner, life.text(), decimal{milliseconds(what.retention)}.text(),
                     decimal{draws.tokens}.text(), decimal{draws.floor}.text()});
    }

    [[nodiscard]] bool has_shortcut(const keys& of) const override { return !of.fenced; }

    void acquire_by_shortcut(std::string& out, const claim& what) const override {
        const decimal life{milliseconds(what.ttl)};
        resp::append_command(out, {"SET", what.of.lock, what.owner, "NX", "PX", life.text()});
    }

    [[nodiscard]] vote_answer read_shortcut(resp::view reply) const override {
        if (reply.is_null()) return denied{{}, core::duration{-1}};
        if (reply.is_text() && reply.text() == "OK") return granted{};
        return refused(reply);
    }

    void commit(std::string& out, bool by_text, const claim& what,
                core::fencing_token token) const override {
        const std::array<std::string_view, 2> both{what.of.lock, counter_of(what.of)};
        append_call(out, scripts::exclusive::commit, by_text, both,
                    {what.owner, decimal{token.value}.text(),
                     decimal{milliseconds(what.retention)}.text()});
    }

    void extend(std::string& out, bool by_text, const claim& what) const override {
        prolong(out, scripts::exclusive::extend, by_text, what);
    }

    void release(std::string& out, bool by_text, const claim& what) const override {
        if (what.of.queued) {
            const std::array<std::string_view, 2> both{what.of.lock, queue_of(what.of)};
            const std::array<std::string_view, 2> said{what.owner, what.entry};
            return append_call(out, scripts::exclusive::queue_release, by_text, both,
                               texts(said).first(what.entry.empty() ? 1 : 2));
        }
        const std::array<std::string_view, 1> only{what.of.lock};
        append_call(out, scripts::exclusive::release, by_text, only, {what.owner});
    }

    void verify(std::string& out, bool, const claim& what) const override {
        resp::append_command(out, {"GET", what.of.lock});
    }

    [[nodiscard]] ownership_answer read_verify(resp::view reply, const claim& what) const override {
        if (reply.is_error()) return kinds::read_ownership(reply);
        return reply.text() == what.owner ? ownership::ours : ownership::not_ours;
    }

    void linger(std::string& out, const claim& what) const override {
        prolong(out, scripts::exclusive::linger, true, what);
    }

    void force(std::string& out, const claim& what, core::duration kept_for,
               const note& why) const override {
        const auto beside = forced_key(what.of.lock);
        const std::array<std::string_view, 3> all{what.of.lock, beside, queue_of(what.of)};
        append_call(
            out, scripts::exclusive::force, true, texts(all).first(what.of.queued ? 3 : 2),
            {what.owner, decimal{milliseconds(kept_for)}.text(), why.by, why.held_by, why.reason});
    }

  private:
    // What says nothing is left out at the end: an argument costs the server more than a command.
    static void acquire_in_line(std::string& out, bool by_text, const claim& what,
                                const drawing& draws) {
        const decimal life{milliseconds(what.ttl)};
        const decimal retention{milliseconds(what.retention)};
        const decimal tokens{draws.tokens};
        const decimal floor{draws.floor};
        const bool fenced = what.of.fenced;
        const std::array<std::string_view, 3> all{what.of.lock, queue_of(what.of),
                                                  fenced ? counter_of(what.of) : ""};
        std::array<std::string_view, 7> said{what.owner, life.text(), retention.text(),
                                             tokens.text(), floor.text()};
        std::size_t count = fenced ? 5 : 2;
        if (!what.entry.empty()) said[count++] = what.entry;
        if (what.in_line) said[count++] = "1";
        append_call(out, scripts::exclusive::queue_acquire, by_text,
                    texts(all).first(fenced ? 3 : 2), texts(said).first(count));
    }
};

}  // namespace

const kind& exclusive() noexcept {
    static constexpr exclusive_kind only;
    return only;
}

}  // namespace holdfast::kinds
