#include "kinds/election.hpp"

#include <array>
#include <charconv>

#include "kinds/exclusive.hpp"
#include "kinds/owners.hpp"
#include "kinds/script_call.hpp"
#include "resp/encoder.hpp"
#include "scripts/election/embedded.hpp"

namespace holdfast::kinds {
namespace {

using resp::decimal;
using texts = std::span<const std::string_view>;

// Seldom enough for everything to go by text, so that connections need not load its scripts.
constexpr bool by_text = true;

class election_kind final : public kind {
  public:
    constexpr election_kind() = default;

    [[nodiscard]] std::string_view name() const override { return "election"; }
    [[nodiscard]] std::string_view owner_start() const override { return election_owner; }

    [[nodiscard]] std::span<const scripts::script* const> loads(topology) const override {
        return {};
    }

    [[nodiscard]] core::sharing sharing() const override { return core::alone; }
    [[nodiscard]] bool allowed_on(topology) const override { return true; }

    [[nodiscard]] std::string_view woken_by(std::string_view changed) const override {
        return exclusive().woken_by(changed);
    }

    void acquire(std::string& out, bool, const claim& what, const drawing& draws) const override {
        const decimal life{milliseconds(what.ttl)};
        const decimal kept{milliseconds(what.retention)};
        const decimal tokens{draws.tokens};
        const decimal floor{draws.floor};
        std::array<std::string_view, 8> said{what.owner, life.text(), kept.text(), tokens.text(),
                                             floor.text()};
        std::size_t count = 5;
        if (!what.entry.empty()) said[count++] = what.entry;
        if (what.in_line) said[count++] = "1";
        said[count++] = what.note;
        const auto counter = counter_key(what.of.lock);
        const auto note = leader_key(what.of.lock);
        if (what.of.queued) {
            const auto queue = queue_key(what.of.lock);
            const std::array<std::string_view, 4> all{what.of.lock, queue, counter, note};
            return append_call(out, scripts::election::queue_acquire, by_text, all,
                               texts(said).first(count));
        }
        const std::array<std::string_view, 3> all{what.of.lock, counter, note};
        append_call(out, scripts::election::acquire, by_text, all, texts(said).first(count));
    }

    [[nodiscard]] vote_answer read_acquire(resp::view reply) const override {
        return read_vote(reply);
    }

    [[nodiscard]] bool has_shortcut(const keys&) const override { return false; }
    void acquire_by_shortcut(std::string&, const claim&) const override {}
    [[nodiscard]] vote_answer read_shortcut(resp::view reply) const override {
        return refused(reply);
    }

    [[nodiscard]] ownership_answer read_ownership(resp::view reply) const override {
        return kinds::read_ownership(reply);
    }

    void commit(std::string& out, bool, const claim& what,
                core::fencing_token token) const override {
        const auto counter = counter_key(what.of.lock);
        const auto note = leader_key(what.of.lock);
        const std::array<std::string_view, 3> all{what.of.lock, counter, note};
        append_call(out, scripts::election::commit, by_text, all,
                    {what.owner, decimal{token.value}.text(),
                     decimal{milliseconds(what.retention)}.text(), what.note});
    }

    void extend(std::string& out, bool text, const claim& what) const override {
        exclusive().extend(out, text, what);
    }

    void release(std::string& out, bool, const claim& what) const override {
        const auto note = leader_key(what.of.lock);
        if (what.of.queued) {
            const auto queue = queue_key(what.of.lock);
            const std::array<std::string_view, 3> all{what.of.lock, queue, note};
            const std::array<std::string_view, 2> said{what.owner, what.entry};
            return append_call(out, scripts::election::queue_release, by_text, all,
                               texts(said).first(what.entry.empty() ? 1 : 2));
        }
        const std::array<std::string_view, 2> both{what.of.lock, note};
        append_call(out, scripts::election::release, by_text, both, {what.owner});
    }

    [[nodiscard]] release_answer read_release(resp::view reply) const override {
        return kinds::read_release(reply);
    }

    void verify(std::string& out, bool text, const claim& what) const override {
        exclusive().verify(out, text, what);
    }
    [[nodiscard]] ownership_answer read_verify(resp::view reply, const claim& what) const override {
        return exclusive().read_verify(reply, what);
    }

    void linger(std::string& out, const claim& what) const override {
        exclusive().linger(out, what);
    }
    void force(std::string& out, const claim& what, core::duration kept_for,
               const kinds::note& why) const override {
        exclusive().force(out, what, kept_for, why);
    }
};

}  // namespace

const kind& election() noexcept {
    static constexpr election_kind only;
    return only;
}

std::string leader_key(std::string_view lock) {
    std::string name;
    append_key_beside(name, lock, "leader");
    return name;
}

std::optional<leader_note> read_note(std::string_view text) {
    const auto first = text.find('\n');
    if (first == text.npos) return std::nullopt;
    const auto second = text.find('\n', first + 1);
    if (second == text.npos) return std::nullopt;
    leader_note found{.owner = text.substr(first + 1, second - first - 1),
                      .value = text.substr(second + 1)};
    const auto* const end = text.data() + first;
    const auto read = std::from_chars(text.data(), end, found.term);
    if (read.ec != std::errc{} || read.ptr != end || found.term == 0 || !is_owner(found.owner)) {
        return std::nullopt;
    }
    return found;
}

std::size_t most_note_bytes() {
    constexpr std::size_t most_digits = 20;
    constexpr std::size_t most_owner_bytes = 1024;
    return most_digits + 1 + most_owner_bytes + 1 + most_value_bytes;
}

void forget_leader(std::string& out, std::string_view lock, std::string_view owner) {
    const auto note = leader_key(lock);
    const std::array<std::string_view, 1> only{note};
    append_call(out, scripts::election::forget, by_text, only, {owner});
}

}  // namespace holdfast::kinds
